# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# The oracle tier: servers beside memcached and redis-server, with clients of theirs, and with hostile ones.

history_seconds=${SECONDS_OF_HISTORIES:-30}
hostile_seconds=${SECONDS_OF_HOSTILITY:-60}

step servers oracles 'debian memcached clients' 'tests of servers and of programs: stories, clients, tools'
servers.step() {
    local targets
    targets=$(test_targets servers)
    [ -n "$targets" ]
    # shellcheck disable=SC2086 # words, not one word
    cargo test --workspace --locked $targets
}

# All of the workspace: what was built for its tests is built for these.
step differential oracles 'debian memcached released' \
    'differential tests with memcached and redis-server, 100,000 commands of each protocol'
differential.step() {
    SHOEBILL_RDS=$released/rds SHOEBILL_COMMANDS=100000 \
        cargo test --locked --workspace --test differential -- --nocapture
}

step redis-py oracles 'debian released' "redis-py's own tests, in RESP2 and RESP3"
redis-py.step() {
    python3 servers/rds/tests/suites/redis_py.py --server "$released/rds"
}

step hiredis oracles 'debian released' "hiredis' own test"
hiredis.step() {
    python3 servers/rds/tests/suites/hiredis_c.py --server "$released/rds"
}

step django oracles 'debian released' "Django's tests of its caches"
django.step() {
    python3 servers/rds/tests/suites/django_cache.py --server "$released/rds"
    python3 servers/segcache/tests/suites/django_cache.py --server "$released/segcache"
}

# Those that are fetched soon; docs/dev/testing.md says how to run all.
clients_of_ci=pymemcache,python-memcached,python_binary_memcached,aiomcache,gomemcache,memjs,memjs-calls
step clients oracles 'debian memcached released' "memcached's clients' own tests: $clients_of_ci"
clients.step() {
    python3 servers/segcache/tests/suites/client_suites.py --server "$released/segcache" \
        --only "$clients_of_ci" --installed
}

step metrics oracles 'promtool released' 'metrics as Prometheus expects them; dashboards and rules find theirs'
metrics.step() {
    python3 packaging/monitoring/check.py --binaries "$released" --promtool "$promtool"
    python3 packaging/monitoring/live.py --binaries "$released" --prometheus "${promtool%/*}/prometheus"
}

step syscalls oracles 'debian released' 'system calls of a 1,000-request pipeline'
syscalls.step() {
    python3 benches/scripts/syscalls.py --server "$released/segcache"
}

step histories oracles 'released' "histories of concurrent clients, $history_seconds s"
histories.step() {
    "$released/histories" --seconds "$history_seconds"
}

# Nothing of what they hold servers to is a time on the clock, and they sleep more than they work.
step hostile oracles 'debian released' "hostile clients, and hostile commands for $hostile_seconds s"
hostile.step() {
    local adversity=benches/scripts/adversity.py
    together \
        "python3 $adversity --server $released/segcache --seconds 10 --probe 1" \
        "python3 $adversity --server $released/rds --protocol resp --seconds 10 --probe 1" \
        "$released/hostile --seconds $hostile_seconds"
}

step memory oracles 'debian released' 'memory within its limit, and bytes per item'
memory.step() {
    python3 benches/scripts/memory.py --server "$released/segcache" \
        --memory 32m --key 20 --value 32 --overhead-max 20
    python3 benches/scripts/memory.py --server "$released/segcache" --flag=--engine=epoll \
        --memory 64m --key 20 --value 32 --limit-excess 9m
    # On io_uring, where the kernel permits it.
    python3 benches/scripts/memory.py --server "$released/segcache" --flag=--engine=auto \
        --memory 64m --key 20 --value 32 --limit-excess 10m
    python3 benches/scripts/resident.py "$released/rds" --maxmemory 256
}

step idle oracles 'debian released' 'memory of idle connections'
idle.step() {
    local engine
    for engine in epoll io_uring; do
        # Where the kernel refuses io_uring the tests say so.
        [ "$engine" = io_uring ] && [ -z "${SHOEBILL_REQUIRE_IO_URING:-}" ] && continue
        python3 benches/scripts/connections.py --server "$released/segcache" --engine $engine --rounds 0
        python3 benches/scripts/connections.py --server "$released/rds" --protocol resp --engine $engine --rounds 0
    done
}
