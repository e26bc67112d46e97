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

import argparse, contextlib, fnmatch, json, os, pathlib, subprocess, sys, time

# Leaves no compiled files in the source tree.
sys.dont_write_bytecode = True
from lists import patterns
from pypi import environment, source
from servers import DEFAULT, FOLDER, Running, Server

VERSION = "8.1.0"
HERE = pathlib.Path(__file__).resolve().parent
SUITE = FOLDER / f"redis-{VERSION}"
SECONDS_MAX = 600

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


class Run:
    """The tests of one half in one version of RESP."""

    def __init__(self, python, server, half, files, protocol, more):
        self.name = f"{half}, RESP{protocol}"
        self.account = FOLDER / f"redis-py-{half}-{protocol}.json"
        self.account.unlink(missing_ok=True)
        self.log = self.account.with_suffix(".log")
        command = [python, "-m", "pytest", *files, "-m", MARKS, "--tb=short", "-q"]
        command += ["-p", "no:cacheprovider", "-p", "deselect", "-o", "filterwarnings=ignore"]
        command += ["--deselected", LIST, "--account", self.account, "--port", server.port]
        command += ["--redis-url", f"redis://localhost:{server.port}/0", f"--protocol={protocol}"]
        environment = {**os.environ, "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"}
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [*map(str, command), *more],
                cwd=SUITE,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def finish(self, deadline):
        """What became of each test; everything is printed if it did not get as far."""
        try:
            self.process.wait(max(1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.stop()
        if not self.account.exists():
            sys.exit(f"{self.log.read_text()}\nredis_py.py: {self.name}: did not get to the end")
        account = json.loads(self.account.read_text())
        if account["failed"]:
            print(f"=== {self.name}\n{self.log.read_text()}")
        left_out = sum(account["left_out"].values())
        numbers = ", ".join(f"{len(account[name])} {name}" for name in ("passed", "failed", "skipped"))
        print(f"{self.name}: {numbers}, {left_out} left out", flush=True)
        return account

    def stop(self):
        self.process.kill()
        self.process.wait()


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
                run = Run(python, server, half, files, protocol, arguments.more)
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
    failed = {test for account in accounts for test in account["failed"]}
    passed = sum(len(account["passed"]) for account in accounts)
    left_out = {}
    for account in accounts:
        for pattern, count in account["left_out"].items():
            left_out[pattern] = left_out.get(pattern, 0) + count
    if not arguments.more:
        stale += [pattern for pattern, count in left_out.items() if count == 0]
    for pattern in stale:
        print(f"nothing is called {pattern}, which redis_py.deselected leaves out")
    for test in sorted(failed):
        print(f"FAILED {test}")
    print(
        f"redis-py {VERSION}: {passed} passed, {len(failed)} failed, {sum(left_out.values())} left out, "
        f"in {time.monotonic() - started:.0f} s"
    )
    few = not arguments.more and passed < PASSED_MIN * len(arguments.protocols)
    sys.exit(1 if failed or stale or few else 0)


if __name__ == "__main__":
    main()
