# SPDX-License-Identifier: Apache-2.0
"""Runs a part of a suite by pytest, with deselect.py, and reads what became of each test."""

import pathlib, sys

from part import Part, account_of

HERE = pathlib.Path(__file__).resolve().parent


class Run(Part):
    """A part of a suite, whose files are in a folder, that runs against one server."""

    def __init__(self, name, python, suite, left_out, port, arguments):
        account = account_of(name)
        command = [python, "-m", "pytest", "--tb=short", "-q", "-o", "filterwarnings=ignore"]
        command += ["-p", "no:cacheprovider", "-p", "deselect"]
        command += ["--deselected", left_out, "--account", account, "--port", port]
        super().__init__(name, account, [*command, *arguments], suite, {"PYTHONPATH": str(HERE)})

    def finish(self, deadline):
        """What became of each test; everything is printed if one failed."""
        account = super().finish(deadline)
        if account["failed"]:
            self.print_log()
        left_out = sum(account["left_out"].values())
        numbers = ", ".join(f"{len(account[name])} {name}" for name in ("passed", "failed", "skipped"))
        for test in sorted(set(account["again"])):
            print(f"{self.name}: has been run again: {test}")
        print(f"{self.name}: {numbers}, {left_out} left out", flush=True)
        return account


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
