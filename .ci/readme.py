#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of the README and of the tutorials, run as they are printed.

usage: readme.py PYTHON

PYTHON runs the blocks in Python; it has the clients that they import. Each command of a console block is run by bash, and
what it prints is compared if the block shows it. One that starts a server goes on while those after it are its clients.
Commands in BY_STEP are run, or what they do is tried, by the step of CI that is named there.
"""

import argparse
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/tutorial").glob("*.md"))]

# Beginnings of commands, and the steps of CI.
BY_STEP = {
    "cargo test --workspace": ["unit", "servers"],
    "cargo xtask dist": ["installed"],
    "sudo apt install ": ["installed"],
    "sudo tar ": ["installed"],
    "docker ": ["installed"],
    "kubectl ": ["kubernetes"],
}
DEFAULT_PORTS = {"segcache": 11211, "rds": 6379, "pingserver": 12321, "shout": 7777}
# What a client is recognised by, and the port of its server. The admin port is that of the page's first server.
CLIENTS = {
    "127.0.0.1 11211": 11211,
    '("127.0.0.1", 11211)': 11211,
    "127.0.0.1 12321": 12321,
    "127.0.0.1 7777": 7777,
    "redis": 6379,
    "localhost:9999": None,
}


def check(condition, words):
    if not condition:
        sys.exit(f"readme: {words}")


def blocks(text):
    """Blocks of code: the language, and the text."""
    return re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands(block):
    """The commands of a console block, each with the lines that it is shown to print."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def port_of(command):
    """The port that a command serves on, if it starts a server."""
    started = re.match(r"cargo run (?:--release )?--(?:bin|example) (\w+)\b(.*)", command)
    if started is None or started.group(1) not in DEFAULT_PORTS or re.search("--(print|check)-config", command):
        return None
    given = re.search(r"-p (\d+)", started.group(2))
    return int(given.group(1)) if given else DEFAULT_PORTS[started.group(1)]


def is_open(port):
    with contextlib.suppress(OSError):
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            return True
    return False


class Server:
    """The server that the commands talk to: one at a time, for all have the same admin port."""

    def __init__(self):
        self.child, self.port, self.first = None, None, {}

    def start(self, command, port):
        self.stop()
        check(not is_open(port), f"port {port} is taken on this machine")
        self.first.setdefault(port, command)
        self.child = subprocess.Popen(["bash", "-c", command], cwd=ROOT, start_new_session=True)
        self.port, deadline = port, time.monotonic() + 900
        while not is_open(port):
            check(self.child.poll() is None, f"{command}: it has ended")
            check(time.monotonic() < deadline, f"{command}: it does not serve on port {port}")
            time.sleep(0.05)

    def for_client(self, text):
        """Has the server run that a client needs, as the first command for its port has it."""
        port = next((port for mark, port in CLIENTS.items() if mark in text), self.port)
        port = port or next(iter(self.first), None)
        if port is not None and (port != self.port or self.child is None):
            check(port in self.first, f"no command before this one starts a server on port {port}: {text}")
            self.start(self.first[port], port)

    def stop(self):
        if self.child is not None:
            # To the group: cargo itself is in front of the server.
            os.killpg(self.child.pid, signal.SIGTERM)
            self.child.wait(60)
            deadline = time.monotonic() + 60
            while is_open(self.port) and time.monotonic() < deadline:
                time.sleep(0.05)
            self.child = None


def run(what, command, expected, **options):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, **options)
    check(done.returncode == 0, f"{what}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    # redis-cli shows less to what is no terminal.
    shown = [re.sub(r"^(\(integer\) |\d+\) )", "", line).strip('"') for line in expected]
    printed = done.stdout.replace("\r", "").splitlines()
    check(not expected or printed in (expected, shown), f"{what}: prints {printed}, not {expected}")


def python(block, interpreter):
    """Runs a block in Python. A line with a comment behind it is shown to print that, or what is before its colon."""
    prints = [line for line in block.splitlines() if line.lstrip().startswith("print(")]
    expected = [re.search(r"# (.*?)(?:: .*)?$", line).group(1) for line in prints]
    run(block, [interpreter, "-c", block], expected)


def run_page(page, server, interpreter, steps):
    """Runs what the page has, and says how much that was."""
    ran = 0
    print(f"readme: {page.relative_to(ROOT)}", flush=True)
    for language, block in blocks(page.read_text()):
        if language == "python":
            server.for_client(block)
            python(block, interpreter)
            ran += 1
        for command, expected in commands(block) if language == "console" else []:
            by = next((by for begin, by in BY_STEP.items() if command.startswith(begin)), None)
            if by is not None:
                check(steps.issuperset(by), f"there is no step {by} for: {command}")
                print(f"readme: by the steps {', '.join(by)}: {command}", flush=True)
                continue
            print(f"readme: {command}", flush=True)
            port = port_of(command)
            if port is None:
                server.for_client(command)
                run(command, ["bash", "-c", command], expected)
            else:
                server.start(command, port)
            ran += 1
    return ran


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python")
    interpreter = parser.parse_args().python
    steps = subprocess.run([ROOT / ".ci/run", "--list"], check=True, capture_output=True, text=True).stdout
    steps = {line.split()[0] for line in steps.splitlines()}
    ran = 0
    for page in PAGES:
        server = Server()
        try:
            ran += run_page(page, server, interpreter, steps)
        finally:
            server.stop()
    check(ran > 0, "no command was found")
    print(f"readme: {ran} commands do what they are shown to do")


if __name__ == "__main__":
    main()
