# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# What steps need: programs, clients and builds. Each `NEED.need` runs once, before the first step that names it.
declare -A title_of_need=(
    [debian]='Debian packages'
    [memcached]='memcached of a newer Debian'
    [promtool]='promtool of the Debian package prometheus'
    [clients]='Python clients'
    [deny]='cargo-deny'
    [released]='the servers and programs as users build them'
    [asan]='tests with AddressSanitizer'
    [tsan]='tests with ThreadSanitizer'
    [loom]='models for loom'
    [fuzzers]='fuzz targets'
    [outside]='a server outside of the workspace'
    [clean]='a clean Debian'
    [kubernetes]='schemas of Kubernetes'
    [mdbook]='mdBook'
)

# The name of this machine's Debian.
debian_release() { sed -n 's/^VERSION_CODENAME=//p' /etc/os-release; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

debian.need() {
    local missing=()
    [ -e /usr/lib/ccache ] || missing+=(ccache)
    command -v memcached >/dev/null || missing+=(memcached)
    command -v memccapable >/dev/null || missing+=(libmemcached-tools)
    compgen -G '/usr/lib/*/sasl2/libplain.so' >/dev/null || missing+=(libsasl2-modules)
    command -v saslpasswd2 >/dev/null || missing+=(sasl2-bin)
    command -v redis-server >/dev/null || missing+=(redis-server)
    command -v strace >/dev/null || missing+=(strace)
    command -v valgrind >/dev/null || missing+=(valgrind)
    command -v openssl >/dev/null || missing+=(openssl)
    command -v shellcheck >/dev/null || missing+=(shellcheck)
    [ -e /usr/include/openssl/ssl.h ] || missing+=(libssl-dev)
    command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
    command -v curl >/dev/null || missing+=(curl)
    command -v nc >/dev/null || missing+=(netcat-openbsd)
    command -v python3 >/dev/null || missing+=(python3)
    python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
    [ ${#missing[@]} -eq 0 ] && return
    as_root apt-get update -qq
    # Only the programs are wanted; the tests start their own servers.
    as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null
}

# The memcached of this machine's release is too old to be compared with; newer ones are unpacked, not installed.
memcached.need() {
    bash .ci/oracles.sh "$tools/trixie" trixie
    export SHOEBILL_MEMCACHED=$tools/trixie/bin/memcached
}

# Unpacked, not installed: nothing else of the package is wanted.
promtool.need() {
    promtool=$(command -v promtool || true)
    [ -z "$promtool" ] || return 0
    bash .ci/oracles.sh "$tools/prometheus" "$(debian_release)" prometheus
    promtool=$tools/prometheus/root/usr/bin/promtool
}

clients.need() {
    python3 -m venv "$tools/venv"
    "$tools/venv/bin/pip" install --quiet -r servers/segcache/tests/clients/requirements.txt
    export SHOEBILL_PYTHON=$tools/venv/bin/python
}

kubernetes.need() {
    python3 -m venv "$tools/kubernetes"
    "$tools/kubernetes/bin/pip" install --quiet kubernetes-validate==1.37.0
}

clean.need() { built clean; }
deny.need() { built deny; }
mdbook.need() { built mdbook; }
released.need() { built released; }
asan.need() { built asan; }
tsan.need() { built tsan; }
loom.need() { built loom; }
fuzzers.need() { built fuzzers; }
outside.need() { built outside; }

# Always all of them: of some alone, dependencies would have other features, and be compiled again.
asan_crates=()
for name in allocator prefetch storage-seg storage-typed values script protocol-memcache reactor; do
    asan_crates+=(-p "shoebill-$name")
done
# Frames are larger with the sanitizer, and the deepest values of scripts take all of a usual stack then. Lua is compiled
# with it, too; the library of TLS is not: it is not what is tested, and would take a quarter of the time of this build.
asan() {
    RUSTFLAGS="-Zsanitizer=address" CARGO_TARGET_DIR=$target/asan RUST_MIN_STACK=$((64 << 20)) \
        AWS_LC_SYS_CC=$PWD/.ci/cc-without-asan.sh \
        CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="bash $PWD/.ci/asan.sh" \
        cargo +nightly test --locked --quiet --target x86_64-unknown-linux-gnu "${asan_crates[@]}" "$@"
}
# What has `unsafe` code, hostile scripts, and sessions of hostile clients.
asan_tests=(--lib --test hostile --test sessions)
# Where a race is must be told with its line: it may not happen again.
tsan() {
    CARGO_PROFILE_DEV_DEBUG=line-tables-only CARGO_TARGET_DIR=$target/tsan \
        RUSTFLAGS="--cfg thread_sanitizer -Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer" \
        TSAN_OPTIONS="suppressions=$PWD/crates/storage-seg/tests/tsan.supp" \
        cargo +nightly test --locked --quiet --target x86_64-unknown-linux-gnu "$@"
}
models() {
    RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=$target/loom LOOM_MAX_PREEMPTIONS=2 CARGO_PROFILE_RELEASE_LTO=off \
        CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="env LD_PRELOAD=$tools/stacks.so" \
        cargo test --release --locked --quiet -p shoebill-storage-seg -p shoebill-cache --lib "$@"
}
export -f models
export target tools

cargo_tool() {
    # Built without optimisation: it runs once.
    local name=$1 version=$2
    shift 2
    command -v "$name" >/dev/null ||
        cargo install --quiet --locked --debug --root "$tools" "$name" --version "$version" "$@"
}

# One build for all steps, of the whole workspace, so that programs have the features that they are released with.
released.build() {
    cargo build --release --locked --workspace --bin segcache --bin rds --bin pingserver --bin cacheperf \
        --bin histories --bin hostile
}
released=$target/release

# The Debian that packages are installed in: of this machine's release and from its mirrors, without systemd, with what
# shows man pages and completes. It is made once; the step takes a copy.
clean_root=$target/ci/clean
clean.build() {
    [ ! -e "$clean_root.made" ] || return 0
    as_root rm -rf "$clean_root"
    local sources=/etc/apt/sources.list
    [ ! -e /etc/apt/sources.list.d/debian.sources ] || sources=/etc/apt/sources.list.d/debian.sources
    as_root mmdebstrap --quiet --variant=essential --dpkgopt=force-unsafe-io \
        --include=apt,adduser,man-db,bash-completion,zsh,fish "$(debian_release)" "$clean_root" "$sources"
    touch "$clean_root.made"
}
asan.build() { asan --no-run "${asan_tests[@]}" --test stress; }
tsan.build() {
    tsan --no-run -p shoebill-storage-seg --test stress
    tsan --no-run -p shoebill-storage-typed --lib
    tsan --no-run -p shoebill-allocator --test blocks
}
loom.build() {
    cc -O2 -Wall -Wextra -Werror -shared -fPIC -o "$tools/stacks.so" .ci/stacks.c
    models --no-run
}
deny.build() { cargo_tool cargo-deny 0.20.2; }
# Neither its server nor what watches files: half of its dependencies.
mdbook.build() { cargo_tool mdbook 0.5.4 --no-default-features --features search; }
# The library that drives fuzz targets takes half a minute to compile; Debian has it compiled.
fuzzers.build() {
    local library=$tools/libfuzzer/root/usr/lib/llvm-19/lib/libFuzzer.a
    if [ -e "$library" ] || bash .ci/oracles.sh "$tools/libfuzzer" "$(debian_release)" libfuzzer-19-dev; then
        export CUSTOM_LIBFUZZER_PATH=$library
    fi
    cargo_tool cargo-fuzz 0.13.2
    (cd fuzz && cargo +nightly fuzz build)
}

# From nothing, so not a second time when it has been built beside.
rm -f "$tools/outside"
outside.build() {
    [ -e "$tools/outside" ] && return
    # It takes 37 to 45 s where it was measured; twice a minute is a change for the worse on slower machines, too.
    python3 .ci/packages.py outside "$target" --seconds 120 >"$tools/outside.part"
    mv "$tools/outside.part" "$tools/outside"
}

# Later steps need builds of their own, for which they would wait. Steps before them leave a core idle now and then: they
# link, or play requests one at a time. So these builds go on beside from the first step on, on what is left: an idle
# thread runs when no other wants to.
start_builds() {
    local name need
    declare -A wanted=()
    for name in "${chosen[@]}"; do
        for need in ${needs_of[$name]}; do wanted[$need]=1; done
    done
    beside=()
    for need in released clean outside asan tsan loom deny mdbook fuzzers; do
        if [ -n "${wanted[$need]:-}" ]; then beside+=("$need"); fi
    done
    if [ ${#beside[@]} -eq 0 ]; then return; fi
    debian.need
    rm -f "$tools"/built.* "$tools/builds.cpu"
    start_group builds build_beside
    builds=$group builds_group=$group
}

# The seconds of CPU of these builds, once they are over and count as those of this shell's commands.
cpu_of_builds() {
    if [ -n "${builds_group:-}" ] && [ -e "$tools/builds.cpu" ] && ! kill -0 "$builds_group" 2>/dev/null; then
        cat "$tools/builds.cpu"
    else
        echo 0
    fi
}

build_beside() {
    local need begun begun_cpu cpu
    chrt --idle --pid 0 $BASHPID
    for need in "${beside[@]}"; do
        cpu_seconds
        begun=$SECONDS begun_cpu=$cpu
        "$need.build"
        cpu_seconds
        printf '%5d s  %5d s of CPU  built beside: %s\n' $((SECONDS - begun)) $((cpu - begun_cpu)) \
            "${title_of_need[$need]}" >"$tools/built.$need"
    done
    echo "$cpu" >"$tools/builds.cpu"
}

# What the builds that went on beside have taken, for the table of times.
show_builds() {
    local need
    for need in ${beside[@]+"${beside[@]}"}; do
        if [ -e "$tools/built.$need" ]; then cat "$tools/built.$need"; fi
    done
}

# Waits until $1 has been built beside. Its command then finds nothing to do, but a failure of it ends the step.
built() {
    until [ -z "${builds:-}" ] || [ -e "$tools/built.$1" ]; do
        if ! kill -0 "$builds" 2>/dev/null; then
            local group=$builds
            builds=
            await_group "$group" || { cat "$tools/builds.log" && return 1; }
        else
            sleep 0.5
        fi
    done
    "$1.build"
}

# Process groups, so that nothing of them is left behind. What they print is in $tools/NAME.log.
declare -A groups=()
start_group() {
    local name=$1
    shift
    set -m
    (
        set -e
        "$@"
    ) >"$tools/$name.log" 2>&1 </dev/null &
    group=$!
    set +m
    groups[$group]=1
}
await_group() {
    local code=0
    wait "$1" || code=$?
    unset "groups[$1]"
    return $code
}
stop_groups() {
    local group
    for group in "${!groups[@]}"; do
        kill -- "-$group" 2>/dev/null || true
    done
}

# Runs commands, one of each argument, at the same time, and prints what they say one after the other.
together() {
    local number=0 command code=0 started_here=()
    for command in "$@"; do
        # shellcheck disable=SC2086 # words, not one word
        start_group "together.$number" $command
        started_here+=("$group")
        number=$((number + 1))
    done
    for number in "${!started_here[@]}"; do
        await_group "${started_here[number]}" || code=$?
        cat "$tools/together.$number.log"
    done
    return $code
}
