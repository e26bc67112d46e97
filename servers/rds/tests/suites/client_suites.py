#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the test suites of Redis's clients against redis-server and against rds: what passes with the one must pass with
the other.

    cargo build --release --bin rds
    python3 servers/rds/tests/suites/client_suites.py --oracle target/sid/bin/redis-server
    python3 servers/rds/tests/suites/client_suites.py --list
    python3 servers/rds/tests/suites/client_suites.py --only node-redis,rueidis

Everything comes from package registries, into target/suites. Suites whose packages have no tests come with the sources
of Debian's packages. What a suite needs of Debian is told where it is missing; with --installed such suites are left out.

Fails if a test passes with redis-server and not with rds, or if fewer pass with redis-server than are known to.
"""

import argparse, json, os, pathlib, re, subprocess, sys, tempfile, time

# Leaves no compiled files in the source tree.
sys.dont_write_bytecode = True
import private_network
from client_suite import chosen
from client_suites_list import SUITES, numbered
from servers import CONFIG, DEFAULT, FLAGS, named

SECONDS_MAX = 300
SLOT_MAX = 16383


def base(binary, folder):
    """The command line of a server, without its port."""
    path = named(pathlib.Path(binary))
    config = folder / "server.toml"
    config.write_text(CONFIG)
    configured = [] if path.name == "redis-server" else [config]
    return [str(word) for word in (path, *configured, "--bind", "127.0.0.1", "::1")]


def servers(suite, binary, folder):
    """The command lines of the servers that a suite wants in its own network."""
    for port in suite.ports:
        yield [*base(binary, folder), *FLAGS, "--port", str(port)]
    for port in suite.clusters:
        nodes = folder / f"nodes-{port}.conf"
        # As redis-server writes it.
        line = f"{str(port) * 10} 127.0.0.1:{port}@{port + 10000} myself,master - 0 0 1 connected 0-{SLOT_MAX}\n"
        nodes.write_text(f"{line}vars currentEpoch 1 lastVoteEpoch 0\n")
        cluster = ["--cluster-enabled", "yes", "--cluster-config-file", str(nodes)]
        yield [*base(binary, folder), *FLAGS, *cluster, "--port", str(port)]


def play(suite, binary):
    """The names of the tests that pass with a server, and all that was printed."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        account = folder / "account"
        more = suite.environment()
        if "PATH" in more:
            more["PATH"] += f":{os.environ['PATH']}"
        more |= {"SERVER": json.dumps(base(binary, folder)), "SERVER_FOLDER": name}
        command = private_network.wrapped(list(servers(suite, binary, folder)), suite.command(account))
        result = subprocess.run(
            ["timeout", str(SECONDS_MAX), *command],
            cwd=suite.folder(),
            env={**os.environ, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        said = result.stdout.decode(errors="replace")
        try:
            return set(numbered(suite.passed(account, said))), said
        except FileNotFoundError:
            return set(), f"{said}\n{suite.name}: did not get to the end"


def judge(suite, binary, oracle):
    """Says how a suite went. Returns whether it went well."""
    started = time.monotonic()
    expected, said_by_oracle = play(suite, oracle)
    passed, said = play(suite, binary)
    differing = {name for name in expected - passed if re.fullmatch(suite.differs, name)}
    missing = sorted(expected - passed - differing)
    few = len(expected) < suite.passed_min
    if missing or few:
        print(said_by_oracle if few else said)
    for name in missing:
        print(f"FAILED {suite.name}: {name}")
    if few:
        print(f"{suite.name}: with redis-server {len(expected)} pass, {suite.passed_min} are known to")
    print(
        f"{suite.name} {suite.version}: {len(expected)} pass with redis-server, {len(expected & passed)} of them here, "
        f"{len(differing)} differ on purpose; {len(passed - expected)} pass here alone; "
        f"in {time.monotonic() - started:.0f} s",
        flush=True,
    )
    return not missing and not few


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=DEFAULT, help="the binary to test")
    parser.add_argument("--oracle", default="redis-server", help="the redis-server to compare with")
    parser.add_argument("--only", help="names of suites, with commas")
    parser.add_argument("--installed", action="store_true", help="leave out what needs more than is installed")
    parser.add_argument("--list", action="store_true", help="print the suites and end")
    arguments = parser.parse_args()
    if arguments.list:
        for suite in SUITES:
            print(f"{suite.name:16} {suite.version:10} {suite.about}")
        return
    suites = list(chosen(SUITES, arguments.only, arguments.installed))
    verdicts = [judge(suite, arguments.server, arguments.oracle) for suite in suites]
    good = sum(verdicts)
    print(f"{good} passed, {len(verdicts) - good} failed")
    sys.exit(0 if verdicts and all(verdicts) else 1)


if __name__ == "__main__":
    main()
