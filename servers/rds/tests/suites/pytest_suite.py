# SPDX-License-Identifier: Apache-2.0
"""Runs a part of a suite by pytest, with deselect.py, and reads what became of each test."""

import json, os, pathlib, subprocess, sys, time

from servers import FOLDER

HERE = pathlib.Path(__file__).resolve().parent


class Run:
    """A part of a suite, whose files are in a folder, that runs against one server."""

    def __init__(self, name, python, suite, left_out, port, arguments):
        self.name = name
        self.account = FOLDER / f"{name.replace(', ', '-').replace(' ', '-')}.json"
        self.account.unlink(missing_ok=True)
        self.log = self.account.with_suffix(".log")
        command = [python, "-m", "pytest", "--tb=short", "-q", "-o", "filterwarnings=ignore"]
        command += ["-p", "no:cacheprovider", "-p", "deselect"]
        command += ["--deselected", left_out, "--account", self.account, "--port", port]
        environment = {**os.environ, "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"}
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [str(word) for word in [*command, *arguments]],
                cwd=suite,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def finish(self, deadline):
        """What became of each test; everything is printed if one failed or it did not get to the end."""
        try:
            self.process.wait(max(1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.stop()
        if not self.account.exists():
            sys.exit(f"{self.log.read_text()}\n{self.name}: did not get to the end")
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


def judge(suite, accounts, stale, seconds, passed_min):
    """Says what became of all parts, and ends the program: with an error if a test failed, if fewer passed than
    there must be, or if something that is left out is not there. `passed_min` is none for a part of a suite."""
    failed = {test for account in accounts for test in account["failed"]}
    passed = sum(len(account["passed"]) for account in accounts)
    left_out = {}
    for account in accounts:
        for pattern, count in account["left_out"].items():
            left_out[pattern] = left_out.get(pattern, 0) + count
    if passed_min is not None:
        stale = [*stale, *(pattern for pattern, count in left_out.items() if count == 0)]
    for pattern in stale:
        print(f"nothing is called {pattern}, which the list leaves out")
    for test in sorted(failed):
        print(f"FAILED {test}")
    print(
        f"{suite}: {passed} passed, {len(failed)} failed, {sum(left_out.values())} left out, "
        f"in {seconds:.0f} s"
    )
    few = passed_min is not None and passed < passed_min
    sys.exit(1 if failed or stale or few else 0)
