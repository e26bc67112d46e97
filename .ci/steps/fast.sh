# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The fast tier: what a change is checked with while it is written.

step fmt fast '' 'formatting'
fmt.step() {
    cargo fmt --all --check
    cargo fmt --manifest-path fuzz/Cargo.toml --check
    cargo fmt --manifest-path benches/embed/Cargo.toml --check
}

step shell fast 'debian' 'shell scripts'
shell.step() {
    shellcheck --external-sources --check-sourced .ci/run
    git ls-files '*.sh' ':!.ci/steps' | xargs shellcheck
}

step clippy fast '' 'clippy'
clippy.step() {
    cargo clippy --workspace --all-targets --locked -- -D warnings
    # They are built last, and are what a change of a contract breaks first.
    cargo check --manifest-path fuzz/Cargo.toml --locked --target-dir "$target"
}

step docs fast '' 'documentation'
docs.step() {
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
}

step tidy fast '' 'house rules'
tidy.step() {
    cargo xtask tidy
}

step layers fast '' 'pingserver knows no storage, memcache or RESP'
layers.step() {
    if cargo tree --locked -p shoebill-pingserver -e normal | grep -E 'storage|memcache|resp'; then
        echo "pingserver depends on the above"
        return 1
    fi
}

# The tests are divided by the names of their targets, never by packages: of some packages alone, dependencies would
# have other features, and be compiled again. What `test_targets` does not print is run by the step `servers`.
test_targets() {
    cargo metadata --no-deps --locked --format-version 1 | python3 -c '
import json, os, sys
targets = {True: set(), False: set()}
metadata = json.load(sys.stdin)
for package in metadata["packages"]:
    folder = os.path.relpath(package["manifest_path"], metadata["workspace_root"])
    kept = targets[folder.split("/")[0] not in ("servers", "benches")]
    kept.update(target["name"] for target in package["targets"] if target["kind"] == ["test"])
of_crates = targets[True] - targets[False]
chosen = of_crates if sys.argv[1] == "crates" else (targets[True] | targets[False]) - of_crates
print(*(f"--test={name}" for name in sorted(chosen)))
' "$1"
}

step unit fast 'debian' 'tests in the code, of examples in its documentation, and of crates'
unit.step() {
    local targets
    targets=$(test_targets crates)
    [ -n "$targets" ]
    # shellcheck disable=SC2086 # words, not one word
    cargo test --workspace --locked --lib --bins --examples $targets
    cargo test --workspace --locked --doc
}
