# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# The deep tier: costs counted, dependencies, sanitizers, models of concurrent code, fuzzing.

fuzz_seconds=${SECONDS_PER_FUZZ_TARGET:-8}

step guard deep 'debian released' 'cost of a request: instructions, system calls, allocations'
guard.step() {
    (cd benches/scripts && python3 -m doctest callgrind.py guard_cases.py guard_verdict.py)
    python3 benches/scripts/guard.py --binaries "$released"
}

step dependencies deep 'deny' 'dependencies'
dependencies.step() {
    # The advisory database is a repository of its own and is not reached from here.
    cargo deny --locked check bans licenses sources
}

step packages deep 'outside' 'packages, and a server outside of the workspace without C'
packages.step() {
    cat "$tools/outside"
    python3 .ci/packages.py packages "$target"
    # Of this package alone, or another one's features would be on.
    cargo test --locked -p shoebill-session --test without_tls
}

# Of the programs that other steps have built: those of the profile `dist` are put together in the same way.
step installed deep 'debian released clean' 'packages for users: the same when made again; in a clean Debian, and without one'
installed.step() {
    local first=$target/packages second=$target/packages.again root=$tools/clean.copy
    together \
        "cargo xtask dist --profile release --out $first" \
        "cargo xtask dist --profile release --out $second"
    (cd "$first" && sha256sum -- *.deb *.tar*) >"$tools/packages.sums"
    (cd "$second" && sha256sum --quiet --check "$tools/packages.sums")
    as_root rm -rf "$root"
    as_root cp -a "$clean_root" "$root"
    as_root python3 .ci/installed.py "$first" "$root"
    as_root rm -rf "$root"
}

step kubernetes deep 'debian released kubernetes' 'manifests for Kubernetes'
kubernetes.step() {
    "$tools/kubernetes/bin/python" .ci/kubernetes.py "$released"
}

step site deep 'mdbook' 'the site, and its links'
site.step() {
    python3 -m doctest packaging/site/build.py
    python3 packaging/site/build.py --out "$target/site"
}

step readme deep 'debian clients released' 'the commands of the README and of the tutorials'
readme.step() {
    python3 .ci/readme.py "$tools/venv/bin/python"
}

step asan deep 'asan' 'unsafe code, and sessions of hostile clients, under AddressSanitizer'
asan.step() {
    # Hostile clients of memcache are cut in two parts at every place by the tests without the sanitizer.
    asan "${asan_tests[@]}" -- --skip in_two_parts
}

step asan-stress deep 'asan' 'threads in a tiny full store, under AddressSanitizer'
asan-stress.step() {
    SHOEBILL_STRESS_SECONDS=10 asan --test stress
}

# The standard library is not instrumented: what that hides from the sanitizer is in the suppressions.
step tsan deep 'tsan' 'threads in a tiny full store, at shards and at slabs, under ThreadSanitizer'
tsan.step() {
    tsan -p shoebill-storage-seg --test stress
    tsan -p shoebill-storage-typed --lib guards -- --test-threads=1
    tsan -p shoebill-allocator --test blocks
}

# A process for each model: loom maps and unmaps stacks all the time, and threads of one process wait for
# each other there.
step loom deep 'loom' 'concurrent code under loom'
loom.step() {
    models -- --list --format terse | sed -n 's/: test$//p' | grep models | sort -r >"$tools/loom.models"
    [ -s "$tools/loom.models" ] # nothing to run would be no failure
    xargs -a "$tools/loom.models" -P "$(nproc)" -I '{}' bash -c 'models -- --exact {}'
}

step fuzz deep 'fuzzers' "fuzzing: corpus, then $fuzz_seconds s per target"
fuzz.step() {
    JOBS=2 bash fuzz/run.sh 0
    JOBS=2 bash fuzz/run.sh "$fuzz_seconds"
}
