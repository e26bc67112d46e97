#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the metrics of running servers, and that dashboards and rules find what they ask for.

    check.py --binaries target/release [--promtool PATH]

Starts each server, puts it under a load of all kinds of requests, and scrapes it in every form. `promtool check metrics`
must be clean of the scrape and `promtool check rules` of the rules; every metric with every label that a panel, a legend
or a rule names must be in the scrape; `--list-metrics` must name what is there and nothing else. Without promtool it
says so and fails, or with --without-promtool checks the rest.
"""

import argparse
import gzip
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

FOLDER = os.path.dirname(os.path.abspath(__file__))
PROMETHEUS_ACCEPT = (
    "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)
# What Prometheus adds to each series.
ADDED = {"job", "instance"}
# Seconds to wait for what must come.
PATIENCE = 60


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.file = self.socket.makefile("rb")

    def ask(self, request, lines=1):
        """Sends a request and reads so many lines."""
        self.socket.sendall(request)
        return [self.file.readline() for _ in range(lines)]


def load_pings(port):
    client = Connection(port)
    # CPU time is counted in hundredths of a second.
    for _ in range(3_000):
        client.ask(b"PING\r\n" * 100, 100)
    client.ask(b"nonsense\r\n")


def load_memcache(port, resp_port, udp_port):
    client = Connection(port)
    value = b"v" * 1000
    # More than fits, with several times to live, and some of it written again.
    for number in range(30_000):
        key, ttl = number % 20_000, (0, 100, 5000)[number % 3]
        client.ask(b"set key%d 0 %d %d\r\n%s\r\n" % (key, ttl, len(value), value))
    for number in range(500):
        client.ask(b"get absent%d\r\n" % number)
    for request, lines in [
        (b"set key 0 0 1\r\n1\r\n", 1), (b"get key\r\n", 3), (b"gets key key\r\n", 5), (b"gat 100 key\r\n", 3),
        (b"add key 0 0 1\r\n1\r\n", 1), (b"replace key 0 0 1\r\n2\r\n", 1), (b"append key 0 0 1\r\n3\r\n", 1),
        (b"prepend key 0 0 1\r\n4\r\n", 1),
        (b"cas key 0 0 1 1\r\n1\r\n", 1), (b"incr key 1\r\n", 1), (b"decr key 1\r\n", 1), (b"touch key 100\r\n", 1),
        (b"delete key\r\n", 1), (b"mg key v\r\n", 1), (b"ms key 1\r\n1\r\n", 1), (b"md key\r\n", 1), (b"mn\r\n", 1),
        (b"verbosity 1\r\n", 1), (b"nonsense\r\n", 1),
    ] * 130:
        client.ask(request, lines)
    other = Connection(resp_port)
    for _ in range(50):
        other.ask(b"SET string value\r\n")
        other.ask(b"GET string\r\n", 2)
        other.ask(b"GET nothing\r\n")
        other.ask(b"INCR string\r\n")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.settimeout(30)
        datagrams.sendto(b"\0\1\0\0\0\1\0\0version\r\n", ("127.0.0.1", udp_port))
        datagrams.recv(2000)


def let_values_wait(port, admin):
    """Begins more large values than there is memory for, until one is seen to wait, and completes none."""
    writers = [Connection(port) for _ in range(8)]
    for writer in writers:
        writer.socket.sendall(b"set large 0 0 1000000\r\n" + b"v" * 10_000)
    for _ in range(10 * PATIENCE):
        if b'large_values_total{event="waited"} 0\n' not in fetch(admin, "/metrics")[0]:
            return
        time.sleep(0.1)
    sys.exit(f"no value has waited for others after {PATIENCE} s")


def load_resp(port):
    client = Connection(port)
    value = b"v" * 1000
    for number in range(20_000):
        client.ask(b"*3\r\n$3\r\nSET\r\n$%d\r\nkey%d\r\n$1000\r\n%s\r\n" % (len(b"key%d" % number), number, value))
    for number in range(500):
        client.ask(b"GET absent%d\r\n" % number)
    for _ in range(50):
        client.ask(b"SET string value EX 100\r\n")
        client.ask(b"GET string\r\n", 2)
        client.ask(b"HSET hash field value\r\n")
        client.ask(b"LPUSH string value\r\n")
        client.ask(b"DEL hash\r\n")


def hold_buffers(port, admin):
    """Begins requests, so that their connections have buffers, and completes none. Returns the connections."""
    clients = [Connection(port) for _ in range(16)]
    for client in clients:
        client.socket.sendall(b"P")
    for _ in range(10 * PATIENCE):
        if b"\nshoebill_connection_buffer_bytes 0\n" not in fetch(admin, "/metrics")[0]:
            return clients
        time.sleep(0.1)
    sys.exit(f"no buffers of connections after {PATIENCE} s")


def start(binaries, server, folder):
    """Starts a server and loads it. Returns its process, its ports, its configuration, and what loads it again."""
    port, admin, resp, udp = free_ports(4)
    path = os.path.join(folder, f"{server}.toml")
    lines = f"[admin]\nport = {admin}\n[server]\nport = {port}\n[worker]\nturn_cpu_time = true\n"
    lines += {
        "pingserver": "",
        "segcache": f'threads = 2\n[resp]\nport = {resp}\n[udp]\nport = {udp}\n[cache]\nmemory = "8MB"\n',
        "rds": 'threads = 2\n[redis]\nmaxmemory = "16mb"\nmaxmemory-policy = "allkeys-lru"\n',
    }[server]
    with open(path, "w", encoding="utf-8") as file:
        file.write(lines)
    process = subprocess.Popen([os.path.join(binaries, server), path], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    for _ in range(10 * PATIENCE):
        try:
            if fetch(admin, "/ready")[0] == b"ready\n":
                break
        except OSError:
            time.sleep(0.1)
    else:
        process.kill()
        sys.exit(f"{server} is not ready after {PATIENCE} s")
    load = {"pingserver": lambda: load_pings(port), "segcache": lambda: load_memcache(port, resp, udp),
            "rds": lambda: load_resp(port)}[server]
    load()
    if server == "segcache":
        # Not a part of the load that goes on: who is stopped for long has its value given up, which is told as a refusal.
        let_values_wait(port, admin)
    return process, (port, admin), path, load


def fetch(port, path, **headers):
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=names)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read(), answer.headers


class Scrape:
    """The samples of a text: for each name a list of labels with their value."""

    def __init__(self, text):
        self.samples = {}
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            series, value = line.rsplit(" ", 1)
            name, _, labels = series.partition("{")
            labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels))
            self.samples.setdefault(name, []).append((labels, float(value)))

    def matching(self, name, matchers):
        def fits(labels):
            for label, operator, value in matchers:
                if label in ADDED:
                    continue
                found = labels.get(label, "")
                is_like = re.fullmatch(value, found) if "~" in operator else found == value
                if bool(is_like) == operator.startswith("!"):
                    return False
            return True
        return [(labels, value) for labels, value in self.samples.get(name, []) if fits(labels)]


SELECTOR = re.compile(r'\b((?:shoebill|process|instance:|up\b)[\w:]*)(?:\{([^}]*)\})?')


def problems_of(expression, scrape, recorded, must_move=False):
    """What an expression asks for and does not get."""
    problems, known = [], set()
    for name, inner in SELECTOR.findall(expression):
        if name == "up" or name in recorded:
            known |= {"severity"}
            continue
        matchers = re.findall(r'(\w+)(=~|!~|!=|=)"([^"]*)"', inner)
        found = scrape.matching(name, matchers)
        if not found:
            problems.append(f"no series {name}{{{inner}}}")
        elif must_move and not any(value > 0 for _, value in found):
            problems.append(f"{name}{{{inner}}} is 0 under load")
        for labels, _ in found:
            known |= set(labels)
    for grouped in re.findall(r"\bby \(([^)]*)\)", expression):
        for label in filter(None, re.split(r"[,\s]+", grouped)):
            if label not in known | ADDED:
                problems.append(f"no label {label}")
    return problems, known


def check_dashboard(server, scrape):
    with open(os.path.join(FOLDER, f"{server}.json"), encoding="utf-8") as file:
        board = json.load(file)
    failures, panels = [], 0
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            panels += 1
            expression = target["expr"]
            problems, known = problems_of(expression, scrape, {}, must_move=expression.endswith("> 0"))
            for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                if label not in known | ADDED:
                    problems.append(f"no label {label} for the legend")
            failures += [f"dashboard of {server}, {panel['title']}: {problem}" for problem in problems]
        if panel["type"] != "row" and not any(
                value != 0 for target in panel["targets"] for name, inner in SELECTOR.findall(target["expr"])
                for _, value in scrape.matching(name, re.findall(r'(\w+)(=~|!~|!=|=)"([^"]*)"', inner))):
            if panel["title"] not in MAY_BE_EMPTY:
                failures.append(f"dashboard of {server}, {panel['title']}: nothing but zeros under load")
    return failures, panels


# Panels of what does not happen under this load.
MAY_BE_EMPTY = {"Blocked clients", "Items that left otherwise"}


def check_rules(server, scrape):
    with open(os.path.join(FOLDER, f"{server}.rules.yml"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    recorded = {line.split("record: ")[1] for line in lines if "record: " in line}
    expressions = [json.loads(line.split("expr: ")[1]) for line in lines if "expr: " in line]
    failures = []
    for expression in expressions:
        failures += [f"rules of {server}, {expression}: {problem}"
                     for problem in problems_of(expression, scrape, recorded)[0]]
    return failures, len(expressions)


def check_forms(server, admin, text):
    """The other forms of the same page."""
    failures = []
    page, headers = fetch(admin, "/metrics", Accept=PROMETHEUS_ACCEPT, Accept_Encoding="gzip")
    if headers["Content-Encoding"] != "gzip" or "openmetrics" not in headers["Content-Type"]:
        failures.append(f"{server}: {headers['Content-Type']}, {headers['Content-Encoding']} is not what was asked for")
    open_text = gzip.decompress(page).decode()
    if not open_text.endswith("\n# EOF\n"):
        failures.append(f"{server}: OpenMetrics without an end")
    if set(Scrape(open_text).samples) != set(Scrape(text).samples):
        failures.append(f"{server}: the two forms have other names")
    variables = {line.rsplit(": ", 1)[0].split("{")[0] for line in fetch(admin, "/vars")[0].decode().splitlines()}
    if not variables <= set(Scrape(text).samples):
        failures.append(f"{server}: /vars has other names: {variables - set(Scrape(text).samples)}")
    return failures


def check_list(binaries, server, path, text):
    """`--list-metrics` has the names of the scrape, but for what histograms show beside themselves."""
    listed = subprocess.run([os.path.join(binaries, server), "--list-metrics", path], check=True,
                            capture_output=True, text=True).stdout
    listed = {line.split()[0].split("{")[0] for line in listed.splitlines()}
    heads = dict(re.findall(r"^# TYPE (\S+) (\w+)$", text, re.M))
    shown = {name for name, kind in heads.items() if kind != "summary"}
    shown -= {name for name in shown if re.search(r"_max(_|$)", name) and name.replace("_max", "", 1) in heads
              and heads[name.replace("_max", "", 1)] == "histogram"}
    return [f"{server}: {name} is {where}" for names, where in
            [(listed - shown, "listed and not shown"), (shown - listed, "shown and not listed")] for name in names]


def run_promtool(promtool, words, text=None):
    done = subprocess.run([promtool, "check", *words], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0 or (words[0] == "metrics" and (done.stdout + done.stderr).strip()):
        return [f"promtool check {' '.join(words)}: {(done.stdout + done.stderr).strip()}"]
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", default="target/release")
    parser.add_argument("--promtool", default="promtool")
    parser.add_argument("--without-promtool", action="store_true")
    parser.add_argument("--show", help="writes the scrapes into this folder")
    options = parser.parse_args()
    subprocess.run([sys.executable, os.path.join(FOLDER, "generate.py"), "--check"], check=True)
    if not options.without_promtool:
        try:
            subprocess.run([options.promtool, "--version"], check=True, stdout=subprocess.DEVNULL)
        except OSError:
            sys.exit("PROMTOOL IS MISSING: it is in Debian's package prometheus; --without-promtool checks the rest")
    failures = []
    for server in ["pingserver", "segcache", "rds"]:
        with tempfile.TemporaryDirectory() as folder:
            process, (port, admin), path, _ = start(options.binaries, server, folder)
            try:
                # Percentiles of the last minute appear with the next second.
                for _ in range(10 * PATIENCE):
                    if b'_recent_seconds{quantile="0.5"}' in fetch(admin, "/vars")[0]:
                        break
                    time.sleep(0.1)
                else:
                    failures.append(f"{server}: no percentiles of the last minute after {PATIENCE} s")
                clients = hold_buffers(port, admin)
                text = fetch(admin, "/metrics")[0].decode()
                failures += check_forms(server, admin, text)
                for client in clients:
                    client.socket.close()
            finally:
                process.kill()
                process.wait()
            failures += check_list(options.binaries, server, path, text)
        if options.show:
            with open(os.path.join(options.show, f"{server}.prom"), "w", encoding="utf-8") as file:
                file.write(text)
        scrape = Scrape(text)
        wrong, queries = check_dashboard(server, scrape)
        wrong_rules, rules = check_rules(server, scrape)
        failures += wrong + wrong_rules
        if not options.without_promtool:
            failures += run_promtool(options.promtool, ["metrics"], text)
            failures += run_promtool(options.promtool, ["rules", os.path.join(FOLDER, f"{server}.rules.yml")])
        print(f"{server}: {len(scrape.samples)} names, {queries} queries of the dashboard, {rules} rules", flush=True)
    for failure in failures:
        print(failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
