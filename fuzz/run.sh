#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the fuzz targets one after the other and stops at the first finding.
#
#   [JOBS=N] fuzz/run.sh SECONDS [TARGET...]
#
# Each target (all without arguments) runs for SECONDS; with 0 it only replays its committed seeds.
# What a run finds worth keeping goes to target/corpus, from where the next run goes on; an input
# that fails goes to artifacts/. With JOBS so many run at a time, and a finding does not stop the others.
# Needs a nightly toolchain and cargo-fuzz.
set -eu

usage() {
    echo "usage: $0 SECONDS [TARGET...]" >&2
    exit 2
}

[ $# -ge 1 ] || usage
seconds=$1
shift
case $seconds in
'' | *[!0-9]*) usage ;;
esac

cd "$(dirname "$0")"
[ $# -ge 1 ] || set -- ping_parse memcache_parse memcache_binary resp_parse resp_reply turn_chunks datagrams \
    config_parse nodes_file hashmap_model seg_model keyspace_model serial_values \
    script_values script_patterns resp_commands

if [ "${JOBS:-1}" -gt 1 ] && [ $# -gt 1 ]; then
    printf '%s\n' "$@" | xargs -n 1 -P "$JOBS" env JOBS=1 ./run.sh "$seconds"
    exit
fi

for target in "$@"; do
    if [ ! -d "corpus/$target" ]; then
        echo "run.sh: no such target: $target" >&2
        exit 2
    fi
    found=${CARGO_TARGET_DIR:-target}/corpus/$target
    mkdir -p "$found"
    # Bytes of an input at most, and seconds for one at most: none needs a tenth of that.
    case $target in
    memcache_parse | memcache_binary | turn_chunks | datagrams) set -- -max_len=4096 -dict=dictionaries/memcache.dict ;;
    resp_parse | resp_reply) set -- -max_len=4096 -dict=dictionaries/resp.dict ;;
    nodes_file) set -- -max_len=4096 -dict=dictionaries/nodes.dict ;;
    config_parse) set -- -max_len=4096 -dict=dictionaries/config.dict ;;
    # All of the store is checked after each operation, so long inputs are slow ones.
    hashmap_model | seg_model) set -- -max_len=1024 ;;
    keyspace_model) set -- -max_len=2048 ;;
    resp_commands) set -- -max_len=2048 -dict=dictionaries/commands.dict ;;
    script_patterns) set -- -max_len=512 ;;
    *) set -- -max_len=4096 ;;
    esac
    set -- "$@" -timeout=20
    if [ "$seconds" -eq 0 ]; then
        echo "run.sh: $target: replaying the seeds"
        set -- "corpus/$target" -- -timeout=20 -runs=0
    else
        echo "run.sh: $target: $seconds s"
        set -- "$found" "corpus/$target" -- "$@" -max_total_time="$seconds" -print_final_stats=1
    fi
    log=${CARGO_TARGET_DIR:-target}/$target.log
    if cargo +nightly fuzz run "$target" "$@" >"$log" 2>&1; then
        grep -E 'DONE|Done|stat::(number_of_executed_units|peak_rss_mb)' "$log" || true
    else
        cat "$log" >&2
        echo "run.sh: $target: FAILED; the input is in the report above and in fuzz/artifacts/$target" >&2
        exit 1
    fi
done
echo "run.sh: no finding"
