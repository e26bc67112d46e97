# SPDX-License-Identifier: Apache-2.0
"""Runs Django's own tests of a cache backend, and of sessions kept in that cache, against servers.

Nearly all the time they sleep, until something has expired. So each backend's tests are dealt out to several
processes that run at the same time, each with a server of its own.

The tests come with Django's source distribution, from PyPI, into target/suites. None is left out. Django
itself skips what a backend does not have.
"""

import contextlib, json, pathlib, sys, time

from part import Part, account_of
from pypi import environment, source

VERSION = "5.2.19"
HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE / "django_project"
PARTS = 5
SECONDS_MAX = 300

SESSIONS = ["CacheDBSessionTests", "CacheDBSessionWithTimeZoneTests", "CacheSessionTests"]


class Backend:
    """One of Django's cache backends: the class of its tests, and where it finds a server."""

    def __init__(self, module, name, location):
        self.name = name
        self.path = f"django.core.cache.backends.{module}.{name}"
        self.location = location

    def tests(self):
        yield f"cache.tests.{self.name}Tests"
        yield from (f"sessions_tests.tests.{name}" for name in SESSIONS)


class Run(Part):
    """A part of the tests of a backend, against one server."""

    def __init__(self, python, suite, backend, part, port):
        name = f"Django, {backend.name}, part {part + 1} of {PARTS}"
        account = account_of(name)
        cache = {"BACKEND": backend.path, "LOCATION": backend.location.format(port=port)}
        environment = {
            "PYTHONPATH": f"{suite}:{PROJECT}",
            "SUITE_CACHE": json.dumps(cache),
            "SUITE_PART": f"{part}/{PARTS}",
            "SUITE_ACCOUNT": str(account),
        }
        command = [python, "-W", "ignore", "runtests.py", "--settings=suite_settings", "--parallel=1"]
        super().__init__(name, account, [*command, *backend.tests()], suite / "tests", environment)

    def finish(self, deadline):
        """What became of each test; everything is printed if one failed."""
        account = super().finish(deadline)
        if self.process.returncode != 0:
            self.print_log()
        return account


def run(backends, start, passed_min):
    """Runs the tests of these backends against servers that `start` starts, and ends the program: with an
    error if a test failed, or if fewer passed for a backend than there must be."""
    python = environment("venv-django", HERE / "django.requirements.txt")
    suite = source(python, "django", VERSION)
    started = time.monotonic()
    deadline = started + SECONDS_MAX
    good = True
    with contextlib.ExitStack() as stack:
        runs = {backend: [] for backend in backends}
        for backend in backends:
            for part in range(PARTS):
                server = stack.enter_context(start())
                runs[backend].append(Run(python, suite, backend, part, server.port))
                stack.callback(runs[backend][-1].stop)
        for backend, parts in runs.items():
            accounts = [part.finish(deadline) for part in parts]
            names = [name for account in accounts for name in account["names"]]
            failed = [name for account in accounts for name in account["failed"]]
            skipped = {name: why for account in accounts for name, why in account["skipped"].items()}
            passed = len(set(names) - set(failed) - set(skipped))
            for name in failed:
                print(f"FAILED {name}")
            for name, why in skipped.items():
                print(f"skipped {name}: {why}")
            print(
                f"Django {VERSION}, {backend.name}: {passed} passed, {len(failed)} failed, "
                f"{len(skipped)} skipped, in {time.monotonic() - started:.0f} s"
            )
            good = good and not failed and passed >= passed_min
    sys.exit(0 if good else 1)
