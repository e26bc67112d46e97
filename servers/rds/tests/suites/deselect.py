# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin: leaves out the tests of a list, and writes down what became of the others. A test that fails is run
again, up to two times: those of others go by the time of the machine, which may have been busy at the wrong moment. Such
tests are named in the account, so that one which fails now and then on a quiet machine, too, does not go unseen.

The list is --deselected, lines of regular expressions that the name of a test must match in full, alone or
behind that of its class and a dot, under headings that say why; those that end in `.py` are names of modules, for who calls pytest. The account is
--account, in JSON.

Some tests make clients without an address, or with the usual one, which look for a server at localhost:6379.
They find the one under test, at --port.
"""

import json, re, socket

import pytest
from _pytest.runner import runtestprotocol

from lists import patterns

DEFAULT_PORT = 6379
# A test may hang for so long. Those that set a limit of their own are no measure on a busy machine.
SECONDS_MAX = 120
# How often a test is run at the most.
RUNS_MAX = 3


def pytest_addoption(parser):
    parser.addoption("--deselected")
    parser.addoption("--account")
    parser.addoption("--port", type=int)


def redirect(port):
    """Lets who looks for the default port find the one of the server under test."""
    find = socket.getaddrinfo

    def getaddrinfo(host, service, *more, **options):
        if host in ("localhost", "127.0.0.1"):
            host = "127.0.0.1"
            service = port if service == DEFAULT_PORT else service
        return find(host, service, *more, **options)

    socket.getaddrinfo = getaddrinfo


class Account:
    """What became of each test."""

    def __init__(self, path):
        self.path = path
        self.left_out = {}
        self.outcomes = {"passed": [], "failed": [], "skipped": [], "again": []}

    def pytest_runtest_logreport(self, report):
        # What fails before or after the test itself has failed, too.
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.outcome].append(report.nodeid)

    def pytest_sessionfinish(self):
        with open(self.path, "w") as file:
            json.dump({"left_out": self.left_out, **self.outcomes}, file)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Runs a test until it does not fail, and reports the last time."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for run in range(1, RUNS_MAX + 1):
        if run > 1:
            item.config.account.outcomes["again"].append(item.nodeid)
            # Fixtures are made anew.
            item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if not any(report.failed for report in reports):
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_configure(config):
    config.account = Account(config.getoption("--account"))
    config.pluginmanager.register(config.account)
    redirect(config.getoption("--port"))


def pytest_collection_modifyitems(config, items):
    left_out = config.account.left_out
    lines = patterns(config.getoption("--deselected"))
    names = [line for line in lines if not line.endswith(".py")]
    left_out.update((line, 0) for line in names)
    kept, dropped = [], []
    for item in items:
        called = [item.originalname]
        if item.cls is not None:
            called.append(f"{item.cls.__name__}.{item.originalname}")
        is_meant = lambda pattern: any(re.fullmatch(pattern, name) for name in called)
        found = next(filter(is_meant, names), None)
        if found is None:
            kept.append(item)
        else:
            left_out[found] += 1
            dropped.append(item)
        item.add_marker(pytest.mark.timeout(SECONDS_MAX), append=False)
    items[:] = kept
    config.hook.pytest_deselected(items=dropped)
