#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs redis-benchmark and redis-cli, in all the ways that a server must know, and checks what they say.

    cargo build --release --bin rds
    python3 servers/rds/tests/suites/tools.py
    python3 servers/rds/tests/suites/tools.py --server redis-server

With --address they run against a server that is there; they empty it. Needs redis-tools (Debian).
Fails at the first check that does not hold, with what was said.
"""

import argparse, contextlib, csv, fcntl, io, os, pty, re, select, shutil, struct, subprocess, sys
import termios, time

# Leaves no compiled files in the source tree.
sys.dont_write_bytecode = True
from servers import DEFAULT, Running, Server

SECONDS_MAX = 120
KEYS = 1000
# The prompt of redis-cli, which shows the database and whether a transaction is open.
PROMPT = r"127\.0\.0\.1:\d+(\[\d+\])?(\(TX\))?> $"
# How much of an unexpected output an error message shows, in characters.
SHOWN_MAX = 4000

BENCHMARKS = """PING_INLINE PING_MBULK SET GET INCR LPUSH RPUSH LPOP RPOP SADD HSET SPOP ZADD ZPOPMIN
LRANGE_100 LRANGE_300 LRANGE_500 LRANGE_600 MSET""".split()


class Tools:
    """redis-cli and redis-benchmark, pointed at a server."""

    def __init__(self, port):
        self.to = ["-h", "127.0.0.1", "-p", str(port)]

    def run(self, tool, *arguments, given=None):
        """Runs a tool to its end; what it says."""
        result = subprocess.run(
            [tool, *self.to, *arguments],
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS_MAX * 4,
        )
        text = result.stdout.decode(errors="replace")
        expect(result.returncode == 0, f"{tool} {' '.join(arguments)} fails", text)
        return text

    def cli(self, *arguments, given=None):
        return self.run("redis-cli", *arguments, given=given)


class Terminal:
    """redis-cli as somebody sees it who types; it ends with the `with` block."""

    def __init__(self, tools, *arguments):
        self.side, inner = pty.openpty()
        # Without a size it asks the terminal, and nobody answers.
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        # Nothing of the user's.
        environment = {"PATH": os.environ["PATH"], "TERM": "xterm", "HOME": "/nonexistent"}
        self.process = subprocess.Popen(
            ["redis-cli", *tools.to, *arguments],
            stdin=inner,
            stdout=inner,
            stderr=inner,
            env=environment,
            start_new_session=True,
        )
        os.close(inner)
        self.seen = ""

    def type(self, text):
        self.seen = ""
        os.write(self.side, text.encode())

    def ask(self, text, pattern):
        """Types a line and waits for what comes of it. What is typed before the prompt is lost."""
        self.type(f"{text}\r")
        found = self.until(f"(?s){pattern}")
        self.until(PROMPT)
        return found

    def until(self, pattern):
        """Waits until what is seen matches."""
        deadline = time.monotonic() + SECONDS_MAX
        while not (found := re.search(pattern, self.seen)):
            ready, _, _ = select.select([self.side], [], [], max(0, deadline - time.monotonic()))
            expect(ready, f"nothing like {pattern} is seen", self.seen)
            self.seen += os.read(self.side, 65536).decode(errors="replace")
            # Without what moves the cursor and sets colours, of which a part may be still to come.
            self.seen = re.sub(r"\x1b\[[\d;]*[A-Za-z]", "", self.seen)
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.side)


def expect(holds, what, said):
    if not holds:
        sys.exit(f"tools.py: {what}:\n{said[-SHOWN_MAX:]}")


def benchmark(tools):
    """All default tests run, together and each alone, with and without pipelines, in RESP2 and RESP3."""
    tools.cli("CONFIG", "RESETSTAT")
    for more in ([], ["-P", "16"], ["-3"], ["-r", "1000", "--threads", "2"]):
        arguments = ["-n", "2000", "-c", "10", "--csv", *more]
        said = tools.run("redis-benchmark", *arguments)
        expect("rror" not in said and "WARNING" not in said, f"redis-benchmark {arguments}", said)
        rows = list(csv.DictReader(io.StringIO(said)))
        names = [row["test"].split()[0] for row in rows]
        missing = set(BENCHMARKS) - set(names)
        expect(not missing, f"redis-benchmark {arguments} has not done {missing}", said)
        expect(all(float(row["rps"]) > 0 for row in rows), f"redis-benchmark {arguments}", said)
    for name in BENCHMARKS:
        said = tools.run("redis-benchmark", "-n", "200", "-q", "-t", name.lower())
        expect(name in said and "rror" not in said, f"redis-benchmark -t {name.lower()}", said)
    said = tools.run("redis-benchmark", "-n", "1000", "-q", "-t", "set,get", "-d", "100000", "-c", "5")
    expect(said.count("requests per second") == 2, "redis-benchmark with large values", said)
    said = tools.run("redis-benchmark", "-n", "1000", "-q", "HSET", "h", "__rand_int__", "v")
    expect("requests per second" in said, "redis-benchmark with a command", said)
    said = tools.cli("INFO", "errorstats")
    expect("errorstat_" not in said, "redis-benchmark was told of errors", said)


def fill(tools):
    """Keys of all types, by --pipe, which sends without waiting."""
    tools.cli("FLUSHALL")
    lines = [f"SET string:{n} {'v' * (1 + n % 50)}" for n in range(KEYS - 4)]
    lines += ["SET long " + "x" * 5000]
    lines += ["RPUSH list " + " ".join(map(str, range(300)))]
    lines += ["HSET hash " + " ".join(f"f{n} v" for n in range(20))]
    lines += ["ZADD zset " + " ".join(f"{n} m{n}" for n in range(40))]
    lines += ["WRONG command"]
    said = subprocess.run(
        ["redis-cli", *tools.to, "--pipe"],
        input="".join(f"{line}\r\n" for line in lines).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS_MAX,
    ).stdout.decode()
    expect(f"errors: 1, replies: {KEYS + 1}" in said, "redis-cli --pipe", said)
    expect("unknown command 'WRONG'" in said, "redis-cli --pipe says what is wrong", said)
    expect(tools.cli("DBSIZE").strip() == str(KEYS), "DBSIZE", tools.cli("DBSIZE"))


def scanning(tools):
    said = tools.cli("--bigkeys")
    for line in (
        f"Sampled {KEYS} keys in the keyspace!",
        "Biggest   list found '\"list\"' has 300 items",
        "Biggest   hash found '\"hash\"' has 20 fields",
        "Biggest string found '\"long\"' has 5000 bytes",
        "Biggest   zset found '\"zset\"' has 40 members",
        f"{KEYS - 3} strings with ",
        "0 sets with 0 members",
    ):
        expect(line in said, f"--bigkeys does not say: {line}", said)
    said = tools.cli("--memkeys")
    expect(f"Sampled {KEYS} keys in the keyspace!" in said, "--memkeys", said)
    found = re.search(r"Biggest string found '\"long\"' has (\d+) bytes", said)
    expect(found and 5000 < int(found[1]) < 10_000, "--memkeys of a long string", said)
    said = tools.cli("--scan").split()
    expect(len(said) == KEYS == len(set(said)), "--scan", said)
    said = sorted(tools.cli("--scan", "--pattern", "string:1?").split())
    expect(said == [f"string:1{n}" for n in range(10)], "--scan with a pattern", said)
    tools.cli("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu")
    for _ in range(100):
        tools.cli("-r", "20", "GET", "long")
        said = tools.cli("--hotkeys")
        if "hot key found with counter: " in said:
            break
    expect(re.search(r"hot key found with counter: \d+\s+keyname: \"?long", said), "--hotkeys", said)
    tools.cli("CONFIG", "SET", "maxmemory-policy", "noeviction")


def watching(tools):
    with Terminal(tools, "--stat", "-i", "0.1") as terminal:
        # keys, memory, clients, blocked, requests (+more), connections
        row = rf"\n{KEYS}\s+[\d.]+[BKMG]\s+\d+\s+0\s+\d+ \(\+\d+\)\s+\d+"
        terminal.until(r"keys\s+mem\s+clients\s+blocked\s+requests\s+connections")
        terminal.until(rf"{row}[^$]*{row}[^$]*{row}")
    said = tools.cli("--latency", "-i", "1", "--raw")
    numbers = said.split()
    expect(len(numbers) == 4 and int(numbers[3]) > 0, "--latency", said)
    with Terminal(tools, "--latency-history", "-i", "1") as terminal:
        terminal.until(r"min: \d+, max: \d+, avg: [\d.]+ \(\d+ samples\) -- \d+\.\d+ seconds range")
    with Terminal(tools, "--latency-dist", "-i", "1") as terminal:
        terminal.until(r"\n[^\n]+\n[^\n]+\n")
    with Terminal(tools, "--lru-test", "1000") as terminal:
        terminal.until(r"\d+ Gets/sec \| Hits: \d+ \([\d.]+%\) \| Misses: \d+")
    # Its keys are in the way of what comes.
    tools.cli("FLUSHALL")
    fill(tools)
    with Terminal(tools, "MONITOR") as terminal:
        terminal.until(r"OK")
        tools.cli("SET", "watched", 'a "quoted" value')
        terminal.until(r'\d+\.\d{6} \[0 127\.0\.0\.1:\d+\] "SET" "watched" "a \\"quoted\\" value"')
    with Terminal(tools, "SUBSCRIBE", "news") as terminal:
        terminal.until(r"1\) \"?subscribe\"?\s+2\) \"?news\"?\s+3\) \(integer\) 1")
        tools.cli("PUBLISH", "news", "hello")
        terminal.until(r"1\) \"?message\"?\s+2\) \"?news\"?\s+3\) \"?hello\"?")


def typing(tools):
    """The prompt: completion, hints and help come of COMMAND DOCS."""
    for key, more in (("string:1", []), ("string:2", ["-3"])):
        with Terminal(tools, *more) as terminal:
            terminal.until(PROMPT)
            terminal.type("getde\t")
            terminal.until("GETDEL")
            terminal.type(" ")
            # A hint of what comes next.
            terminal.until("GETDEL key")
            terminal.ask(key, r'\n"v+"')
            found = terminal.ask("help zadd", r"ZADD (.*?)summary: (.*?)since: (.*?)group: (\S+)")
            expect("score member" in found[1], "the arguments of ZADD", found[0])
            expect("1.2.0" in found[3] and "sorted" in found[4], "the help of ZADD", found[0])
            terminal.ask("help @hash", r"HSET .*summary: ")
            terminal.ask("hello 3", r'"server" => "redis"')
            terminal.ask("hgetall hash", r'\d# "f\d+" => "v"')
            terminal.ask("select 3", r"OK.*\[3\]> $")
            terminal.ask("multi", r"\(TX\)> $")
            terminal.ask("exec", r"\(empty array\)")
    said = tools.cli("--json", "HGETALL", "hash")
    expect('"f1":"v"' in said, "--json", said)
    said = tools.cli("-x", "SET", "given", given=b"from standard input")
    expect(said.strip() == "OK" and "standard" in tools.cli("GET", "given"), "-x", said)
    said = tools.cli("--no-auth-warning", "-n", "5", "-r", "3", "INCR", "n").split()
    expect(said == ["1", "2", "3"], "-n and -r", said)


def secrets(tools):
    """A password comes with the command line, or is typed."""
    tools.cli("CONFIG", "SET", "requirepass", "secret")
    said = tools.cli("PING")
    expect("NOAUTH Authentication required." in said, "without a password", said)
    for more in (["-a", "secret"], ["--user", "default", "--pass", "secret"], ["-3", "-a", "secret"]):
        said = tools.cli("--no-auth-warning", *more, "PING")
        expect(said == "PONG\n", f"with {more}", said)
    with Terminal(tools) as terminal:
        terminal.until(PROMPT)
        terminal.ask("auth wrong", "WRONGPASS invalid username-password pair or user is disabled.")
        terminal.ask("auth secret", "OK")
        terminal.ask("config set requirepass ''", "OK")
    said = tools.cli("PING")
    expect(said == "PONG\n", "without a password again", said)


PARTS = [benchmark, fill, scanning, watching, typing, secrets]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", default=DEFAULT, help="the binary to test")
    parser.add_argument("--address", help="127.0.0.1:PORT of a server to test instead")
    arguments = parser.parse_args()
    if shutil.which("redis-benchmark") is None:
        sys.exit("tools.py: needs redis-benchmark and redis-cli (apt-get install redis-tools)")

    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        server = Running(arguments.address) if arguments.address else Server(arguments.server)
        tools = Tools(stack.enter_context(server).port)
        for part in PARTS:
            part(tools)
            print(f"{part.__name__}: ok, {time.monotonic() - started:.1f} s", flush=True)
    print("redis-benchmark and redis-cli work")


if __name__ == "__main__":
    main()
