# SPDX-License-Identifier: Apache-2.0
"""A part of a suite: a process that runs it against one server, and leaves an account of it in a file, in JSON."""

import json, os, subprocess, sys, time

from servers import FOLDER


def account_of(name):
    """The file for the account of the part with this name. There is none yet."""
    account = FOLDER / f"{name.replace(', ', '-').replace(' ', '-')}.json"
    account.unlink(missing_ok=True)
    return account


class Part:
    """A part that runs, with what it prints in a log."""

    def __init__(self, name, account, command, folder, environment):
        self.name = name
        self.account = account
        self.log = account.with_suffix(".log")
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [*map(str, command)],
                cwd=folder,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def finish(self, deadline):
        """The account. Ends the program, with all that was printed, if the part did not get to the end."""
        try:
            self.process.wait(max(1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.stop()
        if not self.account.exists():
            self.print_log()
            sys.exit(f"{self.name}: did not get to the end")
        return json.loads(self.account.read_text())

    def print_log(self):
        print(f"=== {self.name}\n{self.log.read_text()}", flush=True)

    def stop(self):
        self.process.kill()
        self.process.wait()
