#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of go-redis against a server. They speak RESP3, and RESP2 where they say so.

    cargo build --release --bin rds
    python3 servers/rds/tests/suites/go_redis.py
    python3 servers/rds/tests/suites/go_redis.py --server redis-server

The tests come with the module, from the Go module proxy, and are built in target/suites; that takes some
minutes the first time. Those of groups that are not implemented are left out: go_redis.deselected lists them,
with reasons. go-redis itself skips what needs a later version than the server says it is.

With --address they run against a server that is there; they empty it.

Fails if a test fails, if hardly any ran, or if a line of the list matches no test.
"""

import argparse, json, os, pathlib, re, subprocess, sys, time

# Leaves no compiled files in the source tree.
sys.dont_write_bytecode = True
from go import build, fetch
from servers import DEFAULT, FOLDER, Running, Server, version

MODULE = "github.com/redis/go-redis/v9"
VERSION = "v9.23.0"
HERE = pathlib.Path(__file__).resolve().parent
SUITE = FOLDER / f"go-redis-{VERSION}"
BINARY = FOLDER / f"go-redis-{VERSION}.test"
SECONDS_MAX = 600
PASSED_MIN = 540

# Commands that rds has ahead of the version it says, and a version from which on they are tested.
AHEAD = "Commands hashes should H(GETDEL|GETEX|SETEX)"
AHEAD_FROM = (8, 0)

# The files whose tests talk to a server about what is implemented.
FILES = """
    autopipeline command commands error iterator pipeline pool pubsub race redis tx tx_unwatch
""".split()


def patterns(server_version):
    """The specs to leave out, of a server of this version."""
    with open(HERE / "go_redis.deselected") as file:
        lines = [line.strip() for line in file]
    for line in lines:
        if older := re.fullmatch(r"<(\d+)\.(\d+) (.*)", line):
            if server_version < (int(older[1]), int(older[2])):
                yield older[3]
        elif line and not line.startswith("#"):
            yield line


def name(spec):
    return " ".join([*(spec["ContainerHierarchyTexts"] or []), spec["LeafNodeText"]])


def run(server, stated, selection):
    """Runs those tests for a server of a stated version; the specs of the report that Ginkgo writes."""
    # The way to name a server to go-redis's tests that does not ask for a cluster and sentinels, too.
    endpoints = FOLDER / "go-redis-endpoints.json"
    endpoint = {"dns_name": "127.0.0.1", "port": server.port}
    endpoints.write_text(json.dumps({"server": {"raw_endpoints": [endpoint]}}))
    report = FOLDER / "go-redis-report.json"
    report.unlink(missing_ok=True)
    environment = {
        **os.environ,
        "RE_CLUSTER": "true",
        "REDIS_ENDPOINTS_CONFIG_PATH": str(endpoints),
        "REDIS_VERSION": "{}.{}".format(*stated),
    }
    command = [BINARY, "-test.run=^TestGinkgoSuite$", f"-test.timeout={SECONDS_MAX}s"]
    command += ["--ginkgo.no-color", f"--ginkgo.json-report={report}"]
    result = subprocess.run(
        [*map(str, command), *selection],
        cwd=SUITE,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if not report.exists():
        sys.exit(f"{result.stdout}\ngo_redis.py: the tests did not get to the end")
    specs = [spec for suite in json.loads(report.read_text()) for spec in suite["SpecReports"]]
    # Of the suite itself, such as what it does first, there is only a report when it failed.
    specs = [spec for spec in specs if spec["LeafNodeType"] == "It" or spec["State"] != "passed"]
    if any(spec["State"] not in ("passed", "skipped", "pending") for spec in specs):
        print(result.stdout)
    return specs


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", default=DEFAULT, help="the binary to test")
    parser.add_argument("--address", help="127.0.0.1:PORT of a server to test instead")
    arguments = parser.parse_args()

    fetch(MODULE, VERSION, SUITE)
    build(SUITE, ".", BINARY)
    started = time.monotonic()
    with Running(arguments.address) if arguments.address else Server(arguments.server) as server:
        stated = version(server.port)
        left_out = list(patterns(stated))
        selection = [f"--ginkgo.focus-file=/{file}_test.go$" for file in FILES]
        # Ginkgo's names begin with that of the suite.
        selection += [f"--ginkgo.skip=^go-redis (?:{pattern})" for pattern in left_out]
        specs = run(server, stated, selection)
        if not arguments.address and pathlib.Path(arguments.server).name != "redis-server":
            ahead = run(server, AHEAD_FROM, [f"--ginkgo.focus=^go-redis (?:{AHEAD})"])
            specs += [spec for spec in ahead if spec["State"] != "skipped"]
    names = [name(spec) for spec in specs]
    stale = [pattern for pattern in left_out if not any(re.match(pattern, name) for name in names)]
    for pattern in stale:
        print(f"no test matches {pattern}, which go_redis.deselected leaves out")
    passed = sum(spec["State"] == "passed" for spec in specs)
    failed = [
        f"{spec['State'].upper()} {name(spec)}"
        for spec in specs
        if spec["State"] not in ("passed", "skipped", "pending")
    ]
    print(*failed, sep="\n", end="\n" if failed else "")
    dropped = sum(any(re.match(pattern, name) for pattern in left_out) for name in names)
    print(
        f"go-redis {VERSION}: {passed} passed, {len(failed)} failed, {dropped} left out, "
        f"in {time.monotonic() - started:.0f} s"
    )
    sys.exit(1 if failed or stale or passed < PASSED_MIN else 0)


if __name__ == "__main__":
    main()
