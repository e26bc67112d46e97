#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of redigo against a server. They start it themselves, several times, wait for what
redis-server says when it is ready, and stop it with SIGINT.

    cargo build --release --bin rds
    python3 servers/rds/tests/suites/redigo.py
    python3 servers/rds/tests/suites/redigo.py --server redis-server

The tests come with the module, from the Go module proxy, and are built in target/suites. Those of groups that
are not implemented are left out: redigo.deselected lists them, with reasons.

Fails if a test fails, if hardly any ran, or if a line of the list matches no test.
"""

import argparse, pathlib, re, subprocess, sys, tempfile, time

# Leaves no compiled files in the source tree.
sys.dont_write_bytecode = True
from go import build, fetch
from lists import conclude, patterns
from servers import DEFAULT, FOLDER, Server, free_port, named, version

MODULE = "github.com/gomodule/redigo"
VERSION = "v1.9.3"
HERE = pathlib.Path(__file__).resolve().parent
LIST = HERE / "redigo.deselected"
SUITE = FOLDER / f"redigo-{VERSION}"
BINARY = FOLDER / f"redigo-{VERSION}.test"
SECONDS_MAX = 120
PASSED_MIN = 75

# What the tests start. They ask for the version in redis-server's words.
WRAPPER = """#!/bin/sh
if [ "$1" = --version ]; then
    echo 'Redis server v={version}.0'
else
    exec '{server}' "$@"
fi
"""


def wrap(server, folder):
    """Writes a script that starts the server as the tests want it."""
    with Server(server) as running:
        stated = ".".join(map(str, version(running.port)))
    script = folder / "server"
    script.write_text(WRAPPER.format(version=stated, server=named(pathlib.Path(server))))
    script.chmod(0o755)
    return script


def tests():
    """The names of all tests and examples."""
    result = subprocess.run([BINARY, "-test.list=."], check=True, stdout=subprocess.PIPE, text=True)
    return result.stdout.split()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", default=DEFAULT, help="the binary to test")
    arguments = parser.parse_args()

    fetch(MODULE, VERSION, SUITE)
    build(SUITE, "./redis", BINARY)
    names = tests()
    lines = patterns(LIST)
    stale = [line for line in lines if not any(re.fullmatch(line, name) for name in names)]
    left_out = [name for name in names if any(re.fullmatch(line, name) for line in lines)]
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        script = wrap(arguments.server, pathlib.Path(folder))
        selection = "|".join(name for name in names if name not in left_out)
        command = [BINARY, "-test.v", f"-test.timeout={SECONDS_MAX}s", f"-test.run=^({selection})$"]
        command += ["-redis-server", script, "-redis-port", str(free_port())]
        result = subprocess.run(
            [*map(str, command)],
            cwd=SUITE / "redis",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    outcome = lambda word: re.findall(rf"^--- {word}: (\S+)", result.stdout, re.MULTILINE)
    outcomes = outcome("PASS"), outcome("FAIL"), outcome("SKIP"), left_out
    is_good = result.returncode == 0
    if not is_good:
        print(result.stdout)
    conclude(f"redigo {VERSION}", LIST, stale, outcomes, started, is_good, PASSED_MIN)


if __name__ == "__main__":
    main()
