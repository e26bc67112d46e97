#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of RQ, which keeps queues of jobs in Redis, against a server.

    cargo build --release --bin rds
    python3 servers/rds/tests/suites/python_rq.py
    python3 servers/rds/tests/suites/python_rq.py --server redis-server

The tests come with RQ's source distribution, from PyPI, into target/suites. Some are left out:
python_rq.deselected lists them, with reasons.

Their modules are dealt out to several runs at the same time, each against a server of its own.

Fails if a test fails, if hardly any ran, or if a line of the list matches no test.
"""

import argparse, contextlib, fnmatch, pathlib, sys, time

# Leaves no compiled files in the source tree.
sys.dont_write_bytecode = True
from lists import patterns
from pypi import environment, source
from pytest_suite import Run, judge
from servers import DEFAULT, Server

VERSION = "3.0.0"
HERE = pathlib.Path(__file__).resolve().parent
LIST = HERE / "python_rq.deselected"
PARTS = 4
SECONDS_MAX = 600
PASSED_MIN = 770


def modules(suite):
    """The test modules, without those that the list leaves out, dealt out by size; and what of the list is stale."""
    left_out = [pattern for pattern in patterns(LIST) if pattern.endswith(".py")]
    files = sorted((suite / "tests").glob("test_*.py"), key=lambda path: -path.stat().st_size)
    names = [path.name for path in files]
    stale = [pattern for pattern in left_out if not fnmatch.filter(names, pattern)]
    names = [name for name in names if not any(fnmatch.fnmatch(name, pattern) for pattern in left_out)]
    return [[f"tests/{name}" for name in names[part::PARTS]] for part in range(PARTS)], stale


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", default=DEFAULT, help="the binary to test")
    parser.add_argument("more", nargs="*", help="arguments for pytest, behind --")
    arguments = parser.parse_args()

    python = environment("venv-rq", HERE / "rq.requirements.txt")
    suite = source(python, "rq", VERSION)
    parts, stale = modules(suite)
    started = time.monotonic()
    deadline = started + SECONDS_MAX
    runs = []
    with contextlib.ExitStack() as stack:
        for part, files in enumerate(parts):
            server = stack.enter_context(Server(arguments.server))
            options = [*files, *arguments.more]
            run = Run(f"RQ, part {part + 1}", python, suite, LIST, server.port, options)
            stack.callback(run.stop)
            runs.append(run)
        accounts = [run.finish(deadline) for run in runs]
    passed_min = None if arguments.more else PASSED_MIN
    judge(f"RQ {VERSION}", accounts, stale, time.monotonic() - started, passed_min)


if __name__ == "__main__":
    main()
