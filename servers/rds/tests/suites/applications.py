#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs applications that keep their state in Redis against a server: queues of BullMQ, tasks of Celery, jobs of Sidekiq.

    cargo build --release --bin rds
    python3 servers/rds/tests/suites/applications.py
    python3 servers/rds/tests/suites/applications.py --server redis-server
    python3 servers/rds/tests/suites/applications.py --only celery,sidekiq

They have no tests that could be run against a server of one's own, so each has a driver, applications/*, that uses it
as a service would and prints what came out as it should. The packages come from their registries, into
target/suites; Sidekiq is Debian's. With --installed those whose programs are not installed are left out.

Fails if one of a driver's scenarios fails or did not run.
"""

import argparse, pathlib, re, shutil, subprocess, sys, time

# Leaves no compiled files in the source tree.
sys.dont_write_bytecode = True
from pypi import environment
from servers import DEFAULT, FOLDER, Server

HERE = pathlib.Path(__file__).resolve().parent / "applications"
NODE = FOLDER / "applications-node"
SECONDS_MAX = 300


def bullmq():
    packages = ["bullmq@6.7.0", "ioredis@5.11.1"]
    if not (NODE / "node_modules/bullmq").exists():
        NODE.mkdir(parents=True, exist_ok=True)
        (NODE / "package.json").write_text('{"private": true}\n')
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", *packages]
        subprocess.run(install, cwd=NODE, check=True)
    return ["node", HERE / "bullmq_calls.mjs"]


def celery():
    return [environment("venv-celery", HERE / "celery.requirements.txt"), HERE / "celery_calls.py"]


def sidekiq():
    return ["ruby", "-W0", HERE / "sidekiq_calls.rb"]


# Each with the programs it needs, the Debian packages that have them, how it is made ready, and its scenarios.
APPLICATIONS = {
    "bullmq": (["node", "npm"], "nodejs npm", bullmq, 12),
    "celery": ([], "", celery, 14),
    "sidekiq": (["ruby", "sidekiq"], "ruby-sidekiq", sidekiq, 8),
}


def play(name, prepare, scenarios, binary):
    """Runs an application's driver. Returns whether all scenarios passed."""
    started = time.monotonic()
    with Server(binary) as server:
        result = subprocess.run(
            ["timeout", str(SECONDS_MAX), *map(str, prepare()), str(server.port)],
            cwd=NODE if name == "bullmq" else FOLDER,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    said = result.stdout.decode(errors="replace")
    passed = len(re.findall("^passed ", said, re.MULTILINE))
    failed = re.findall("^failed .*", said, re.MULTILINE)
    is_good = result.returncode == 0 and passed == scenarios
    print("" if is_good else said, *(f"FAILED {name}: {line}\n" for line in failed), sep="", end="")
    print(f"{name}: {passed} of {scenarios} passed, in {time.monotonic() - started:.0f} s", flush=True)
    return is_good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default=DEFAULT, help="the binary to test")
    parser.add_argument("--only", default=",".join(APPLICATIONS), help="names, with commas")
    parser.add_argument("--installed", action="store_true", help="leave out what needs more than is installed")
    arguments = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    verdicts = []
    for name in arguments.only.split(","):
        if name not in APPLICATIONS:
            sys.exit(f"no application is called {name}: {', '.join(APPLICATIONS)}")
        programs, packages, prepare, scenarios = APPLICATIONS[name]
        if any(shutil.which(program) is None for program in programs):
            if not arguments.installed:
                sys.exit(f"{name} needs {packages} (apt-get install)")
            print(f"{name} is left out: it needs {packages}")
            continue
        verdicts.append(play(name, prepare, scenarios, arguments.server))
    sys.exit(0 if verdicts and all(verdicts) else 1)


if __name__ == "__main__":
    main()
