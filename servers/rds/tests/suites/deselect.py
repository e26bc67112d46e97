# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin: leaves out the tests of a list, and writes down what became of the others.

The list is --deselected, lines of regular expressions that the name of a test must match in full, alone or
behind that of its class and a dot, under headings that say why; those that end in `.py` are names of modules, for who calls pytest. The account is
--account, in JSON.

A line `sends COMMAND` is for tests that fail because of a command that the server does not have: those that
fail when they, or processes that they have forked, have sent it. --implemented are commands that it has:
what is said of them is passed over.

Some tests make clients without an address, or with the usual one, which look for a server at localhost:6379.
They find the one under test, at --port.
"""

import json, mmap, re, socket

import pytest

from lists import patterns

DEFAULT_PORT = 6379
SENDS = "sends "
# A test may hang for so long. Those that set a limit of their own are no measure on a busy machine.
SECONDS_MAX = 120


def pytest_addoption(parser):
    parser.addoption("--deselected")
    parser.addoption("--account")
    parser.addoption("--implemented", default="")
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


class Sent:
    """Which of some commands the test that runs now has sent, by redis-py."""

    def __init__(self, commands):
        self.commands = commands
        # One byte for each, which forked processes share.
        self.seen = mmap.mmap(-1, max(1, len(commands)))

    def watch(self):
        from redis.connection import PythonRespSerializer

        pack = PythonRespSerializer.pack

        def packed(serializer, *words):
            name = words[0].decode() if isinstance(words[0], bytes) else words[0]
            if (command := name.upper().split()[0]) in self.commands:
                self.seen[self.commands.index(command)] = 1
            return pack(serializer, *words)

        PythonRespSerializer.pack = packed

    def clear(self):
        self.seen[:] = bytes(len(self.seen))

    def first(self):
        """One of them, if there was one."""
        return next((command for n, command in enumerate(self.commands) if self.seen[n]), None)


class Account:
    """What became of each test."""

    def __init__(self, path, sent):
        self.path = path
        self.sent = sent
        self.left_out = {f"sends {command}": 0 for command in sent.commands}
        self.outcomes = {"passed": [], "failed": [], "skipped": []}

    def pytest_runtest_setup(self):
        self.sent.clear()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call):
        report = yield
        if report.outcome == "failed" and (command := self.sent.first()):
            report.left_out = f"sends {command}"
            report.outcome = "skipped"
            report.longrepr = ("", 0, report.left_out)
        return report

    def pytest_runtest_logreport(self, report):
        if line := getattr(report, "left_out", None):
            self.left_out[line] += 1
        # What fails before or after the test itself has failed, too.
        elif report.when == "call" or report.outcome != "passed":
            self.outcomes[report.outcome].append(report.nodeid)

    def pytest_sessionfinish(self):
        with open(self.path, "w") as file:
            json.dump({"left_out": self.left_out, **self.outcomes}, file)


def pytest_configure(config):
    lines = patterns(config.getoption("--deselected"))
    commands = [line.removeprefix(SENDS) for line in lines if line.startswith(SENDS)]
    implemented = config.getoption("--implemented").split(",")
    sent = Sent([command for command in commands if command not in implemented])
    if sent.commands:
        sent.watch()
    config.account = Account(config.getoption("--account"), sent)
    config.pluginmanager.register(config.account)
    redirect(config.getoption("--port"))


def pytest_collection_modifyitems(config, items):
    left_out = config.account.left_out
    lines = patterns(config.getoption("--deselected"))
    names = [line for line in lines if not line.endswith(".py") and not line.startswith(SENDS)]
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
