# SPDX-License-Identifier: Apache-2.0
# Everything dalli can do with one server: version 3 in the binary protocol, version 5 in the meta protocol. Prints a
# line for each call.

require 'logger'
require 'dalli'
Dalli.logger = Logger.new(File::NULL)
$stdout.sync = true

# Ruby has it from 3.2 on, which dalli 5 wants.
unless String.method_defined?(:byteindex)
  class String
    def byteindex(text, from = 0)
      found = byteslice(from..).b.index(text.b)
      found && found + from
    end
  end
end

def tell(name)
  result = yield
  text = result.inspect
  puts "#{name}: #{text.size > 200 ? "#{text.size} #{text[0, 60]}" : text}"
  result
rescue StandardError => e
  puts "#{name}: raised #{e.class}: #{e.message[0, 200]}"
end

# Numbers of versions differ from server to server.
def known(name)
  result = yield
  puts "#{name}: #{result.is_a?(Integer) && result.positive? ? 'a number' : result.inspect}"
  result
end

client = Dalli::Client.new('127.0.0.1:11211')
tell('flush') { client.flush.all? }
['text', '', 7, nil, [1, { a: 2 }], "\r\n\0END\r\n", "\u00fc"].each do |value|
  known('set') { client.set('a', value) }
  tell('get') { client.get('a') }
end
tell('get absent') { client.get('none') }
known('set later') { client.set('later', 'x', 1000) }
known('raw') { client.set('raw', '12', 0, raw: true) }
tell('get raw') { client.get('raw') }
known('large') { client.set('large', 'x' * 900_000) }
tell('get large') { client.get('large') }
known('compressed') { client.set('zip', 'x' * 100_000, 0, compress: true) }
tell('get compressed') { client.get('zip').size }
known('add present') { client.add('a', 'x') }
known('add absent') { client.add('b', 'x', 0, raw: true) }
known('replace present') { client.replace('b', 'y', 0, raw: true) }
known('replace absent') { client.replace('none', 'y') }
tell('append') { client.append('b', 'z') }
tell('append absent') { client.append('none', 'z') }
tell('prepend') { client.prepend('b', 'x') }
tell('get b') { client.get('b') }
tell('fetch') { client.fetch('made') { 'block' } }
tell('fetch again') { client.fetch('made') { 'other' } }
known('cas') { client.cas('made') { |value| "#{value}!" } }
known('cas absent') { client.cas('none') { |value| "#{value}!" } }
tell('get made') { client.get('made') }
tell('get_cas') { client.get_cas('made').then { |value, cas| [value, cas.positive?] } }
known('set_cas') { client.set_cas('made', 'third', client.get_cas('made').last) }
known('set_cas too late') { client.set_cas('made', 'fourth', 1) }
known('replace_cas') { client.replace_cas('made', 'fifth', client.get_cas('made').last) }
tell('delete_cas') { client.delete_cas('made', client.get_cas('made').last) }
tell('incr makes') { client.incr('n', 5, 0, 10) }
tell('incr') { client.incr('n', 5) }
tell('decr') { client.decr('n', 7) }
tell('decr below') { client.decr('n', 100) }
tell('incr absent') { client.incr('none', 1) }
tell('incr text') { client.incr('b', 1) }
tell('touch') { client.touch('a', 100) }
tell('touch absent') { client.touch('none', 100) }
tell('gat') { client.gat('a', 100) }
tell('gat absent') { client.gat('none', 100) }
client.multi { 100.times { |n| client.set("m#{n}", n) } }
tell('get_multi') { client.get_multi((0..120).map { |n| "m#{n}" }).sort.to_a.flatten }
tell('get_multi_cas') { client.get_multi_cas('m1', 'none', 'm2').map { |key, (value, cas)| [key, value, cas.positive?] } }
tell('quiet') { client.quiet { 10.times { |n| client.delete("m#{n}") } } } if client.respond_to?(:quiet)
tell('get quiet') { client.get('m3') }
tell('set_multi') { client.set_multi({ 'x1' => 1, 'x2' => 2 }, 100) } if client.respond_to?(:set_multi)
tell('delete_multi') { client.delete_multi(%w[x1 none]) } if client.respond_to?(:delete_multi)
tell('get_multi again') { client.get_multi('x1', 'x2').to_a }
if client.respond_to?(:get_with_metadata)
  tell('metadata') { client.get_with_metadata('a', return_hit_status: true, return_last_access: true).except(:cas) }
  tell('lock') { client.fetch_with_lock('locked', ttl: 60, lock_ttl: 10) { 'block' } }
  tell('lock again') { client.fetch_with_lock('locked', ttl: 60, lock_ttl: 10) { 'other' } }
end
tell('delete') { client.delete('a') }
tell('delete absent') { client.delete('a') }
known('too large') { client.set('large', 'x' * 2_000_000) } rescue puts 'too large: raised'
tell('get too large') { client.get('large') }
known('longest key') { client.set('k' * 250, 'x') }
tell('get it') { client.get('k' * 250) }
known('bytes in a key') { client.set("\u00fc\u00e4 with spaces", 'x') } rescue puts 'bytes in a key: raised'
tell('get it') { client.get("\u00fc\u00e4 with spaces") }
tell('version') { client.version.values.all? { |version| version.start_with?('1.6') } }
tell('stats') { client.stats.values.all? { |stats| stats.key?('curr_items') } }
tell('reset_stats') { client.reset_stats.all? }
tell('alive') { !client.alive!.nil? }
tell('flush') { client.flush.all? }
tell('get flushed') { client.get('n') }
client.close
