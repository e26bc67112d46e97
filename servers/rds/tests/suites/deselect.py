# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin: leaves out the tests of a list, and writes down what became of the others.

The list is --deselected, lines of regular expressions that the name of a test must match in full, under
headings that say why. The account is --account, in JSON.
"""

import json, re


def pytest_addoption(parser):
    parser.addoption("--deselected")
    parser.addoption("--account")


def patterns(path):
    with open(path) as file:
        lines = [line.strip() for line in file]
    return [line for line in lines if line and not line.startswith("#")]


class Account:
    """What became of each test."""

    def __init__(self, path):
        self.path = path
        self.left_out = {}
        self.outcomes = {"passed": [], "failed": [], "skipped": []}

    def pytest_runtest_logreport(self, report):
        # What fails before or after the test itself has failed, too.
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.outcome].append(report.nodeid)

    def pytest_sessionfinish(self):
        with open(self.path, "w") as file:
            json.dump({"left_out": self.left_out, **self.outcomes}, file)


def pytest_configure(config):
    config.account = Account(config.getoption("--account"))
    config.pluginmanager.register(config.account)


def pytest_collection_modifyitems(config, items):
    left_out = config.account.left_out
    left_out.update((pattern, 0) for pattern in patterns(config.getoption("--deselected")))
    kept, dropped = [], []
    for item in items:
        name = item.originalname
        found = next((pattern for pattern in left_out if re.fullmatch(pattern, name)), None)
        if found is None:
            kept.append(item)
        else:
            left_out[found] += 1
            dropped.append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=dropped)
