#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The crates as others take them: a server outside of this workspace, and the packages as they would be published.

usage: packages.py outside TARGET [--seconds N]
       packages.py packages TARGET

outside: the server of docs/library.md, with the protocol of docs/dev/add-a-protocol.md, is written below TARGET as
these pages have it, built from nothing and run. It may take N seconds of CPU time (default 60) and no C compiler.

packages: each package is made with `cargo package`, unpacked, and checked in one workspace of them all, where each
finds the others, with the dependencies that the target directory has already. `cargo package` builds each by itself,
and dependencies again for each set of features; that is for a release.
"""

import argparse
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import tarfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(command, **options):
    """Runs a command, returns the seconds of CPU time that it took."""

    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    subprocess.run([str(word) for word in command], check=True, **options)
    return spent() - before


def blocks(page, language):
    """The blocks of code on a page, as pairs of what follows the language and the text."""
    text = (ROOT / page).read_text()
    return re.findall(rf"^```{language}(?: (\S+))?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def talk_to(server):
    """Starts the server, and has it shout."""
    with subprocess.Popen([server], stdout=subprocess.PIPE, text=True) as process:
        try:
            told = process.stdout.readline()
            port = re.search(r"127\.0\.0\.1:(\d+)", told)
            if not port:
                sys.exit(f"the server of docs/library.md does not say where it listens: {told!r}")
            with socket.create_connection(("127.0.0.1", int(port.group(1))), timeout=60) as client:
                client.sendall(b"hello\n")
                reply = client.makefile("rb").readline()
        finally:
            process.kill()
    if reply != b"HELLO\n":
        sys.exit(f"the server of docs/library.md answers {reply}")


def outside(folder, target, seconds):
    """Builds and runs the server of docs/library.md."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(target, ignore_errors=True)
    (folder / "src").mkdir(parents=True)
    [(_, manifest)] = blocks("docs/library.md", "toml")
    manifest = manifest.replace('"../shoebill/', f'"{ROOT}/')
    # A workspace of its own: it lies below this one's folder.
    (folder / "Cargo.toml").write_text(manifest + "\n[workspace]\n")
    [(_, main)] = blocks("docs/library.md", "rust")
    files = {"src/main.rs": main}
    for name, text in blocks("docs/dev/add-a-protocol.md", "rust"):
        if name.startswith("src/"):
            files[name] = files.get(name, "") + text
    for name, text in files.items():
        (folder / name).write_text(text)
    # The versions of this workspace, or the time would change with every release of a dependency.
    shutil.copy(ROOT / "Cargo.lock", folder)
    tree = subprocess.run(
        ["cargo", "tree", "--edges", "normal,build", "--prefix", "none"],
        cwd=folder, check=True, capture_output=True, text=True,
    ).stdout
    compiled = sorted({line.split()[0] for line in tree.splitlines()} & {"cc", "cmake"})
    if compiled:
        sys.exit(f"a server without TLS compiles C: it depends on {compiled}")
    took = run(["cargo", "build"], cwd=folder, env={**os.environ, "CARGO_TARGET_DIR": str(target)})
    talk_to(target / "debug/shout")
    print(f"the server of docs/library.md was built in {took:.0f} s of CPU time, {seconds} s allowed")
    if took > seconds:
        sys.exit("it takes too long: see `cargo build --timings` for what does")


def packages(folder, target):
    """Makes all packages and builds them in a workspace of their own."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    metadata = json.loads(subprocess.run(
        ["cargo", "metadata", "--no-deps", "--locked", "--format-version", "1"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout)
    published = [package for package in metadata["packages"] if package["publish"] != []]
    chosen = [word for package in published for word in ("--package", package["name"])]
    made = folder / "made"
    # What is not committed yet is checked, too.
    run(["cargo", "package", "--locked", "--no-verify", "--allow-dirty", "--quiet", *chosen, "--target-dir", made],
        cwd=ROOT)
    now = int(time.time())
    # From Python 3.12 on, and in later releases of those before.
    careful = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    members, patches = [], []
    for package in published:
        name = f"{package['name']}-{package['version']}"
        with tarfile.open(made / "package" / f"{name}.crate") as archive:
            for member in archive:
                # All have the same time, by which cargo would take them for those of an earlier run.
                member.mtime = now
                archive.extract(member, folder, **careful)
        members.append(f'"{name}"')
        patches.append(f'{package["name"]} = {{ path = "{name}" }}')
    # Profiles are a workspace's and part of no package; those of this one make what is built here fit.
    manifest = (ROOT / "Cargo.toml").read_text()
    profiles = manifest[manifest.index("# Line numbers are enough"):]
    lines = ["[workspace]", 'resolver = "3"', f"members = [{', '.join(members)}]", "[patch.crates-io]", *patches]
    (folder / "Cargo.toml").write_text("\n".join(lines) + "\n\n" + profiles)
    shutil.copy(ROOT / "Cargo.lock", folder)
    took = run(["cargo", "check", "--workspace", "--quiet"], cwd=folder,
               env={**os.environ, "CARGO_TARGET_DIR": str(target)})
    print(f"{len(published)} packages were made, unpacked and checked in {took:.0f} s of CPU time")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["outside", "packages"])
    parser.add_argument("target", type=Path, help="the workspace's target directory")
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    target = arguments.target.resolve()
    if arguments.what == "outside":
        outside(target / "outside/shout", target / "outside/target", arguments.seconds)
    else:
        packages(target / "packages", target)


if __name__ == "__main__":
    main()
