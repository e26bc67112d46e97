#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets a Prometheus scrape running servers under load, and asks it for everything that dashboards and rules ask for.

    live.py --binaries target/release [--prometheus PATH]

Every query of a panel must return numbers, every rule must be evaluated without an error, every recording rule must have a
value, and no alert may fire but the one that says that a server has just started.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

import check

SERVERS = ["pingserver", "segcache", "rds"]
# Between two rounds of load, and of questions: something is scraped, and rules are evaluated.
PAUSE = 1.0


def ask(port, path, **parameters):
    url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)["data"]


def has_numbers(port, expression):
    return any(sample["value"][1] != "NaN" for sample in ask(port, "query", query=expression)["result"])


def configuration(admins):
    """Prometheus' own, with each server as a job of its name."""
    jobs = [{"job_name": server, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
            for server, port in admins.items()]
    rules = [os.path.join(check.FOLDER, f"{server}.rules.yml") for server in admins]
    # JSON is YAML, too.
    return json.dumps({"global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                       "scrape_configs": jobs, "rule_files": rules})


def with_variables(expression, job, interval):
    """What a panel asks where Grafana's variables are these."""
    for variable, value in [("$__rate_interval", interval), ("$job", job), ("$instance", ".*")]:
        expression = expression.replace(variable, value)
    return expression


def problems_of_dashboard(port, server):
    with open(os.path.join(check.FOLDER, f"{server}.json"), encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    for panel in panels:
        for target in panel.get("targets", []):
            expression = with_variables(target["expr"], server, "1m")
            if not has_numbers(port, expression):
                yield f"dashboard of {server}, {panel['title']}: nothing for {expression}"


def problems_of_rules(port):
    for group in ask(port, "rules")["groups"]:
        for rule in group["rules"]:
            name = rule["name"]
            if rule["health"] != "ok":
                yield f"{group['name']}, {name}: {rule['health']} {rule.get('lastError', '')}"
            elif rule["type"] == "recording" and not has_numbers(port, name):
                yield f"{group['name']}, {name}: no value"


def alarms(port):
    for group in ask(port, "rules")["groups"]:
        for rule in group["rules"]:
            name = rule["name"]
            if rule.get("state", "inactive") != "inactive" and not name.endswith("Restarted"):
                yield f"{group['name']}, {name}: is {rule['state']} though nothing is wrong"


@contextlib.contextmanager
def under(loads):
    """Loads servers meanwhile, for all questions take longer than the time over which rates are, on a busy machine."""
    over = threading.Event()

    def until_over():
        while not over.wait(PAUSE):
            for load in loads:
                load()

    thread = threading.Thread(target=until_over)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", default="target/release")
    parser.add_argument("--prometheus", default="prometheus")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        def until_the_end(process):
            stack.callback(process.wait)
            stack.callback(process.kill)

        loads, admins = [], {}
        for server in SERVERS:
            process, (_, admins[server]), _, load = check.start(options.binaries, server, folder)
            until_the_end(process)
            loads.append(load)
        path = os.path.join(folder, "prometheus.yml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(configuration(admins))
        (port,) = check.free_ports(1)
        try:
            process = subprocess.Popen(
                [options.prometheus, f"--config.file={path}", f"--storage.tsdb.path={folder}/data",
                 f"--web.listen-address=127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except OSError:
            sys.exit("PROMETHEUS IS MISSING: it is in Debian's package prometheus")
        until_the_end(process)
        for _ in range(10 * check.PATIENCE):
            with contextlib.suppress(OSError):
                if all(has_numbers(port, f'up{{job="{server}"}} == 1') for server in SERVERS):
                    break
            time.sleep(0.1)
        # A rate takes several scrapes, and rules an evaluation after that: how long that takes is the machine's affair.
        end = time.monotonic() + check.PATIENCE
        failures = ["nothing was asked"]
        with under(loads):
            while failures and time.monotonic() < end:
                time.sleep(PAUSE)
                failures = [problem for server in SERVERS for problem in problems_of_dashboard(port, server)]
                failures += problems_of_rules(port)
        failures += alarms(port)
    for failure in failures:
        print(failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
