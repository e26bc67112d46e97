#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of redis-py against a server, in RESP2 and RESP3.

    cargo build --release --bin rds
    python3 servers/rds/tests/suites/redis_py.py
    python3 servers/rds/tests/suites/redis_py.py --server redis-server

The tests come with redis-py's source distribution, from PyPI, into target/suites. Those of groups that are
not implemented are left out: redis_py.deselected lists them, with reasons. redis-py itself skips what needs
a later version than the server says it is. The marks of its tests tell which need modules or a cluster.

The tests of the blocking and of the asynchronous client run at the same time in each version of RESP, four
runs, each against a server of its own. With --address they run one after the other against a server that
is there; they empty it.

Fails if a test fails, if hardly any ran, or if a line of the list matches no test.
"""

import argparse, contextlib, fnmatch, pathlib, sys, time

# Leaves no compiled files in the source tree.
sys.dont_write_bytecode = True
from lists import patterns
from pypi import environment, source
from pytest_suite import Run, judge
from servers import DEFAULT, FOLDER, Running, Server

VERSION = "8.1.0"
HERE = pathlib.Path(__file__).resolve().parent
SUITE = FOLDER / f"redis-{VERSION}"
SECONDS_MAX = 1200

LIST = HERE / "redis_py.deselected"
HALVES = ["blocking", "asynchronous"]
# Kinds of servers that redis-py's own CI runs beside the plain one.
MARKS = "not (onlycluster or redismod or ssl or replica or cp_integration or multidb_integration)"
# Of both halves in one version of RESP, on redis-server 7.0.
PASSED_MIN = 1000


def modules():
    """The test modules of each half, without those that the list leaves out; and what of the list is stale."""
    left_out = [pattern for pattern in patterns(LIST) if pattern.endswith(".py")]
    names = {str(path.relative_to(SUITE / "tests")) for path in SUITE.glob("tests/**/test_*.py")}
    stale = [pattern for pattern in left_out if not fnmatch.filter(names, pattern)]
    names.difference_update(*(fnmatch.filter(names, pattern) for pattern in left_out))
    halves = {half: [] for half in HALVES}
    for name in sorted(names):
        half = "asynchronous" if name.startswith("test_asyncio/") else "blocking"
        halves[half].append(f"tests/{name}")
    return halves, stale


def run_all(arguments, python, halves):
    """Runs the halves, together if each can have a server of its own. Returns their accounts."""
    deadline = time.monotonic() + SECONDS_MAX
    accounts = []
    runs = []
    with contextlib.ExitStack() as stack:
        for protocol in arguments.protocols:
            for half, files in halves.items():
                if arguments.address:
                    server = Running(arguments.address)
                else:
                    server = stack.enter_context(Server(arguments.server))
                options = ["-m", MARKS, f"--protocol={protocol}"]
                options += ["--redis-url", f"redis://localhost:{server.port}/0"]
                options = [*files, *options, *arguments.more]
                name = f"redis-py, {half}, RESP{protocol}"
                run = Run(name, python, SUITE, LIST, server.port, options)
                stack.callback(run.stop)
                if arguments.address:
                    accounts.append(run.finish(deadline))
                else:
                    runs.append(run)
        accounts += [run.finish(deadline) for run in runs]
    return accounts


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", default=DEFAULT, help="the binary to test")
    parser.add_argument("--address", help="127.0.0.1:PORT of a server to test instead")
    parser.add_argument("--protocols", type=int, nargs="+", default=[2, 3])
    parser.add_argument("more", nargs="*", help="arguments for pytest, behind --")
    arguments = parser.parse_args()

    python = environment("venv", HERE / "requirements.txt")
    source(python, "redis", VERSION)
    started = time.monotonic()
    halves, stale = modules()
    accounts = run_all(arguments, python, halves)
    passed_min = None if arguments.more else PASSED_MIN * len(arguments.protocols)
    judge(f"redis-py {VERSION}", accounts, stale, time.monotonic() - started, passed_min)


if __name__ == "__main__":
    main()
