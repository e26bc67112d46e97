# SPDX-License-Identifier: Apache-2.0
# Jobs of Sidekiq. Prints "passed NAME" for what came out as it should.
#
#     ruby sidekiq_calls.rb PORT
#
# Starts a process of Sidekiq, which reads this file, too.

require "sidekiq"
require "sidekiq/api"

PORT = ENV["REDIS_PORT"] || ARGV[0]
SECONDS_MAX = 60
address = {url: "redis://127.0.0.1:#{PORT}/2"}
Sidekiq.configure_client { |config| config.redis = address }
Sidekiq.configure_server do |config|
  config.redis = address
  # Looks twice a second for what is due, from the start.
  config.options[:poll_interval_average] = 0.5
end

class Count
  include Sidekiq::Worker

  def perform(name, by)
    Sidekiq.redis { |redis| redis.incrby(name, by) }
  end
end

class ThirdTime
  include Sidekiq::Worker
  sidekiq_options retry: 5
  sidekiq_retry_in { 1 }

  def perform(name)
    tries = Sidekiq.redis { |redis| redis.incr(name) }
    raise "not yet" if tries < 3
  end
end

class Hopeless
  include Sidekiq::Worker
  sidekiq_options retry: 0, dead: true

  def perform
    raise "no use"
  end
end

def read(name)
  Sidekiq.redis { |redis| redis.get(name) }.to_i
end

def wait(what)
  deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + SECONDS_MAX
  until yield
    raise "never: #{what}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
    sleep 0.02
  end
end

SCENARIOS = {
  "five hundred jobs" => lambda {
    500.times { Count.perform_async("plain", 2) }
    wait("all are done") { read("plain") == 1000 }
  },
  "jobs in bulk" => lambda {
    Sidekiq::Client.push_bulk("class" => Count, "args" => Array.new(300) { ["bulk", 1] })
    wait("all are done") { read("bulk") == 300 }
  },
  "a job in a moment" => lambda {
    Count.perform_in(0.2, "soon", 1)
    wait("it is done") { read("soon") == 1 }
  },
  "a job of tomorrow is found and deleted" => lambda {
    id = Count.perform_in(86_400, "late", 1)
    scheduled = Sidekiq::ScheduledSet.new
    raise "it is not there" unless scheduled.find_job(id)&.args == ["late", 1]
    scheduled.find_job(id).delete
    raise "it is still there" if scheduled.find_job(id)
  },
  "a job that fails is tried again" => lambda {
    ThirdTime.perform_async("tries")
    wait("three tries") { read("tries") == 3 }
    wait("nothing is left") { Sidekiq::RetrySet.new.size.zero? }
  },
  "a job is given up" => lambda {
    Hopeless.perform_async
    wait("it is dead") { Sidekiq::DeadSet.new.size == 1 }
    Sidekiq::DeadSet.new.clear
    raise "it is still there" unless Sidekiq::DeadSet.new.size.zero?
  },
  "counts of what was done" => lambda {
    wait("they are written") { Sidekiq::Stats.new.processed >= 804 }
    stats = Sidekiq::Stats.new
    raise "failures: #{stats.failed}" unless stats.failed >= 3
    raise "queues: #{stats.queues}" unless Sidekiq::Queue.new.size.zero?
  },
  "processes are known" => lambda {
    wait("a process") { Sidekiq::ProcessSet.new.size == 1 }
    raise "no name" unless Sidekiq::ProcessSet.new.first["identity"]
  }
}

if __FILE__ == $PROGRAM_NAME
  environment = {"REDIS_PORT" => PORT.to_s}
  sidekiq = spawn(environment, "sidekiq", "-r", File.expand_path(__FILE__), "-c", "4", "-t", "2", %i[out err] => "/dev/null")
  failures = 0
  begin
    SCENARIOS.each do |name, play|
      play.call
      puts "passed #{name}"
    rescue => error
      failures += 1
      puts "failed #{name}: #{error.message}"
    ensure
      $stdout.flush
    end
  ensure
    Process.kill("TERM", sidekiq)
    Process.wait(sidekiq)
  end
  exit(failures.zero? ? 0 : 1)
end
