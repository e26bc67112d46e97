# SPDX-License-Identifier: Apache-2.0
"""What the suites of clients of `rds` and of `segcache` have in common: `client_suites_list.py` of each has its suites."""

import shutil, sys

from servers import FOLDER


class Suite:
    """A suite that runs beside a server at each of its `ports`."""

    # Programs that must be there, with the Debian package that has them.
    programs = {}
    # A pattern of tests that pass with the original alone, because of differences that docs/compatibility.md has.
    differs = "(?!)"

    def missing(self):
        """What must be installed first, if anything."""
        gone = [package for program, package in self.programs.items() if shutil.which(program) is None]
        return f"{', '.join(gone)} (apt-get install)" if gone else None

    def prepare(self):
        """Fetches and builds, unless that was done before."""

    def folder(self):
        return FOLDER


def chosen(suites, only, installed_only):
    """Those of the suites that were asked for, ready to run."""
    known = {suite.name: suite for suite in suites}
    names = only.split(",") if only else list(known)
    for name in set(names) - set(known):
        sys.exit(f"no suite is called {name}; --list prints their names")
    for name in names:
        if missing := known[name].missing():
            if not installed_only:
                sys.exit(f"{name} needs {missing}")
            print(f"{name} is left out: it needs {missing}")
            continue
        known[name].prepare()
        yield known[name]
