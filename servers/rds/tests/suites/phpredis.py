#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of phpredis, the extension of PHP, against a server; also those of PHP's sessions kept in it.

    cargo build --release --bin rds
    python3 servers/rds/tests/suites/phpredis.py
    python3 servers/rds/tests/suites/phpredis.py --server redis-server

The extension is Debian's package, of the version that is installed, and the tests are in its source package, which
goes into target/suites. Some are left out: phpredis.deselected lists them, with reasons.

Fails if a test fails, if hardly any ran, or if a line of the list matches no test.
"""

import argparse, os, pathlib, re, shutil, subprocess, sys, time

# Leaves no compiled files in the source tree.
sys.dont_write_bytecode = True
from lists import conclude, patterns
from pypi import unpack
from servers import DEFAULT, FOLDER, Server

HERE = pathlib.Path(__file__).resolve().parent
LIST = HERE / "phpredis.deselected"
SECONDS_MAX = 300
PASSED_MIN = 170


def output(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return result.stdout.strip() if result.returncode == 0 else ""


def fetch(version):
    """Fetches the source package of the extension. Returns the folder of its tests."""
    suite = FOLDER / f"phpredis/redis-{version}"
    if suite.exists():
        return suite / "tests"
    folder = suite.parent
    lists = folder / "lists"
    (lists / "partial").mkdir(parents=True, exist_ok=True)
    # From where the packages come, which is not where apt looks for source by itself.
    targets = ["Created-By: Packages", "Origin: Debian", "Component: main"]
    places = output("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) main", *targets)
    sources = folder / "sources.list"
    sources.write_text("".join(f"deb-src {place}\n" for place in sorted(set(places.splitlines()))))
    options = [f"Dir::Etc::sourcelist={sources}", "Dir::Etc::sourceparts=/dev/null", f"Dir::State::lists={lists}"]
    apt = ["apt-get", "-qq", *(word for option in options for word in ("-o", option))]
    subprocess.run([*apt, "update"], check=True)
    subprocess.run([*apt, "source", "--download-only", "php-redis"], cwd=folder, check=True)
    # One archive has the sources for several versions of PHP.
    for path in folder.glob("php-redis_*.orig.tar.*"):
        unpack(path, folder)
    if not suite.exists():
        sys.exit(f"phpredis.py: the source package has no tests of version {version}, which is installed")
    return suite / "tests"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", default=DEFAULT, help="the binary to test")
    arguments = parser.parse_args()
    version = shutil.which("php") and output("php", "-r", "echo phpversion('redis');")
    if not version:
        sys.exit("phpredis.py: needs PHP and its extension (apt-get install php-cli php-redis)")

    suite = fetch(version)
    lines = patterns(LIST)
    # Processes that the tests start take their extension from where this one does.
    environment = {**os.environ, "TEST_PHP_ARGS": "-d error_reporting=8191"}
    started = time.monotonic()
    with Server(arguments.server) as server:
        command = ["php", "-d", "error_reporting=8191", HERE / "phpredis_driver.php", suite]
        result = subprocess.run(
            [*map(str, command), "127.0.0.1", str(server.port), "|".join(lines)],
            cwd=suite,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS_MAX,
        )
    said = result.stdout.decode(errors="replace")
    outcome = lambda word: re.findall(rf"^{word} (\S+)", said, re.MULTILINE)
    left_out = outcome("LEFT OUT")
    stale = [line for line in lines if not any(re.fullmatch(line, name) for name in left_out)]
    outcomes = outcome("PASSED"), outcome("FAILED"), outcome("SKIPPED"), left_out
    is_good = result.returncode == 0
    if not is_good or outcome("FAILED"):
        print(said)
    conclude(f"phpredis {version}", LIST, stale, outcomes, started, is_good, PASSED_MIN)


if __name__ == "__main__":
    main()
