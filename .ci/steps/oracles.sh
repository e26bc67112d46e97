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
step differential oracles 'debian memcached tested' \
    'differential tests with memcached and redis-server, 100,000 commands of each protocol'
differential.step() {
    SHOEBILL_RDS=$under_test/rds SHOEBILL_COMMANDS=100000 \
        cargo test --locked --workspace --test differential -- --nocapture
}

step redis-py oracles 'debian tested' "redis-py's own tests, in RESP2 and RESP3"
redis-py.step() {
    python3 servers/rds/tests/suites/redis_py.py --server "$under_test/rds"
}

step hiredis oracles 'debian tested' "hiredis' own test"
hiredis.step() {
    python3 servers/rds/tests/suites/hiredis_c.py --server "$under_test/rds"
}

step django oracles 'debian tested' "Django's tests of its caches"
django.step() {
    python3 servers/rds/tests/suites/django_cache.py --server "$under_test/rds"
    python3 servers/segcache/tests/suites/django_cache.py --server "$under_test/segcache"
}

# Those that are fetched soon; docs/dev/testing.md says how to run all.
clients_of_ci=pymemcache,python-memcached,python_binary_memcached,aiomcache,gomemcache,memjs,memjs-calls
step clients oracles 'debian memcached tested' "memcached's clients' own tests: $clients_of_ci"
clients.step() {
    python3 servers/segcache/tests/suites/client_suites.py --server "$under_test/segcache" \
        --only "$clients_of_ci" --installed
}

step metrics oracles 'promtool tested' 'metrics as Prometheus expects them; dashboards and rules find theirs'
metrics.step() {
    python3 packaging/monitoring/check.py --binaries "$under_test" --promtool "$promtool"
    python3 packaging/monitoring/live.py --binaries "$under_test" --prometheus "${promtool%/*}/prometheus"
}

step syscalls oracles 'debian tested' 'system calls of a 1,000-request pipeline'
syscalls.step() {
    python3 benches/scripts/syscalls.py --server "$under_test/segcache"
}

step histories oracles 'tested' "histories of concurrent clients, $history_seconds s"
histories.step() {
    "$under_test/histories" --seconds "$history_seconds"
}

# Nothing of what they hold servers to is a time on the clock, and they sleep more than they work.
step hostile oracles 'debian tested' "hostile clients, and hostile commands for $hostile_seconds s"
hostile.step() {
    local adversity=benches/scripts/adversity.py
    together \
        "python3 $adversity --server $under_test/segcache --seconds 10 --probe 1" \
        "python3 $adversity --server $under_test/rds --protocol resp --seconds 10 --probe 1" \
        "$under_test/hostile --seconds $hostile_seconds"
}

# Of the program as it is released: what is not linked as one is larger.
step memory oracles 'debian released' 'memory within its limit, and bytes per item'
memory.step() {
    python3 benches/scripts/memory.py --server "$target/release/segcache" \
        --memory 32m --key 20 --value 32 --overhead-max 20
    python3 benches/scripts/memory.py --server "$target/release/segcache" \
        --memory 64m --key 20 --value 32 --limit-excess 8m
}

step idle oracles 'debian released' 'memory of idle connections'
idle.step() {
    local engine
    for engine in epoll io_uring; do
        # Where the kernel refuses io_uring the tests say so.
        [ "$engine" = io_uring ] && [ -z "${SHOEBILL_REQUIRE_IO_URING:-}" ] && continue
        python3 benches/scripts/connections.py --server "$target/release/segcache" --engine $engine --rounds 0
        python3 benches/scripts/connections.py --server "$target/release/rds" --protocol resp --engine $engine --rounds 0
    done
}
