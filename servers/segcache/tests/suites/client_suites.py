#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the test suites of memcached's clients against memcached and against segcache: what passes with the one must pass
with the other.

    cargo build --release --bin segcache
    python3 servers/segcache/tests/suites/client_suites.py
    python3 servers/segcache/tests/suites/client_suites.py --list
    python3 servers/segcache/tests/suites/client_suites.py --only gomemcache,memjs --storage hashmap

Clients without a suite of their own that could be had run a driver of ours, drivers/*, which calls all they can do and
prints what they are told; each line counts as a test. Everything comes from package registries, into target/suites. What
a suite needs of Debian is told where it is missing; with --installed such suites are left out.

Fails if a test passes with memcached and not with segcache, or if fewer pass with memcached than are known to.
"""

import argparse, concurrent.futures, json, pathlib, sys, time

# Leaves no compiled files in the source tree.
sys.dont_write_bytecode = True
# What suites have in common is there.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "rds/tests/suites"))
import os, re, subprocess, tempfile

import client_suites_list
import private_network
from client_suite import chosen
from servers import CONFIG, DEFAULT_MEMCACHE, named

# As many as there are cores; each suite runs twice.
AT_A_TIME = 2
SECONDS_MAX = 120


def server(binary, storage, folder, port):
    """The command line of a server at a port of a suite's own network."""
    path = named(pathlib.Path(binary))
    if path.name == "memcached":
        user = ["-u", "root"] if os.geteuid() == 0 else []
        return [str(path), *user, "-l", "127.0.0.1", "-p", str(port)]
    config = folder / f"{storage}.toml"
    config.write_text(f'{CONFIG}[cache]\nstorage = "{storage}"\n')
    return [str(path), str(config), "-p", str(port)]


def play(suite, binary, storage, folder):
    """The names of the tests that pass with a server, and all that was printed."""
    servers = [server(binary, storage, folder, port) for port in suite.ports]
    result = subprocess.run(
        ["timeout", str(SECONDS_MAX), *private_network.wrapped(servers, suite.command())],
        cwd=suite.folder(),
        env={**os.environ, **suite.environment, "SERVER": json.dumps(server(binary, storage, folder, 0)[:-1])},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    said = result.stdout.decode(errors="replace")
    return set(suite.passed.findall(said)), said


def judge(suite, binary, oracle, storage, folder):
    """Says how a suite went. Returns whether it went well."""
    started = time.monotonic()
    expected, said_by_oracle = play(suite, oracle, "seg", folder)
    passed, said = play(suite, binary, storage, folder)
    differing = {name for name in expected if re.fullmatch(suite.differs, name)}
    missing = sorted(expected - passed - differing)
    few = len(expected) < suite.passed_min
    lines = [f"FAILED {suite.name}: {name}" for name in missing]
    if missing or few:
        lines = [said_by_oracle if few else said, *lines]
    if few:
        lines.append(f"{suite.name}: with memcached {len(expected)} pass, {suite.passed_min} are known to")
    counts = f"{len(expected)} pass with memcached, {len(expected & passed)} of them here"
    if differing:
        counts += f", {len(differing)} that differ left out"
    lines.append(f"{suite.name}: {counts}, in {time.monotonic() - started:.0f} s")
    print("\n".join(lines), flush=True)
    return not missing and not few


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=DEFAULT_MEMCACHE, help="the binary to test")
    parser.add_argument("--storage", default="seg", help="what keeps segcache's items")
    oracle = os.environ.get("SHOEBILL_MEMCACHED", "memcached")
    parser.add_argument("--oracle", default=oracle, help="the memcached to compare with")
    parser.add_argument("--only", help="names of suites, with commas")
    parser.add_argument("--installed", action="store_true", help="leave out what needs more than is installed")
    parser.add_argument("--list", action="store_true", help="print the suites and end")
    arguments = parser.parse_args()
    if arguments.list:
        for suite in client_suites_list.SUITES:
            print(f"{suite.name:24} {suite.about}")
        return

    started = time.monotonic()
    suites = list(chosen(client_suites_list.SUITES, arguments.only, arguments.installed))
    print(f"ready after {time.monotonic() - started:.0f} s", flush=True)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        options = (arguments.server, arguments.oracle, arguments.storage, pathlib.Path(folder))
        verdicts = list(pool.map(lambda suite: judge(suite, *options), suites))
    good = sum(verdicts)
    print(f"{good} passed, {len(verdicts) - good} failed")
    sys.exit(0 if verdicts and all(verdicts) else 1)


if __name__ == "__main__":
    main()
