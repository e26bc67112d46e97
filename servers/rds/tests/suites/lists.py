# SPDX-License-Identifier: Apache-2.0
"""Lists of tests that are left out, and what became of the others."""

import sys, time


def patterns(path):
    """The lines of a list: regular expressions, most of them, under headings that say why."""
    with open(path) as file:
        lines = [line.strip() for line in file]
    return [line for line in lines if line and not line.startswith("#")]


def conclude(suite, path, stale, outcomes, started, is_good, passed_min):
    """Says what became of a suite's tests, and ends the program: with an error if it went wrong, if a test failed,
    if fewer passed than there must be, or if lines of the list at `path` match no test. `outcomes` are names:
    passed, failed, skipped, left out."""
    passed, failed, skipped, left_out = outcomes
    for line in stale:
        print(f"no test is called {line}, which {path.name} leaves out")
    for name in failed:
        print(f"FAILED {name}")
    print(
        f"{suite}: {len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped, "
        f"{len(left_out)} left out, in {time.monotonic() - started:.0f} s"
    )
    sys.exit(0 if is_good and not failed and not stale and len(passed) >= passed_min else 1)
