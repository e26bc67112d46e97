#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much memory values of each kind take, in rds and in redis-server.

    cargo build --release --bin rds
    python3 benches/scripts/kinds.py --server target/release/rds --beside redis-server
    python3 benches/scripts/kinds.py --server target/release/rds --beside redis-server --kinds stream --ratio-max 0.8

For each kind both servers are started anew with their defaults and one thread, nothing is saved, and the same
commands are sent to both. Prints by how many bytes the resident memory of each has grown for each element, the
ratio, and the same of used_memory in INFO. --scale multiplies the number of elements. The figures are read when
resident memory shrinks no more, for both give back what their connection took.

Fails if a command was refused, if the two servers then answer the checks of a kind differently, or if a ratio of
resident memory is above --ratio-max. Needs python3 and /proc.
"""
import argparse, os, re, socket, subprocess, sys, tempfile, time

BATCH = 500  # commands in a pipeline


def encode(words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """One of the servers, with one connection to it."""

    def __init__(self, binary, is_ours, folder):
        port = free_port()
        flags = ["--admin-port", "0"] if is_ours else ["--save", "", "--dir", folder]
        command = [binary, "--port", str(port), "--io-threads", "1", *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(500):
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), 60)
                break
            except ConnectionRefusedError:
                time.sleep(0.02)
        else:
            sys.exit(f"kinds.py: {binary} did not start")
        self.input = self.socket.makefile("rb")

    def reply(self):
        line = self.input.readline()
        mark, text = line[:1], line[1:-2]
        if mark == b"-" or not line:
            sys.exit(f"kinds.py: refused: {line!r}")
        if mark == b"$":
            return self.input.read(int(text) + 2)[:-2] if text != b"-1" else None
        if mark == b"*":
            return [self.reply() for _ in range(int(text))]
        return text

    def send(self, commands):
        for start in range(0, len(commands), BATCH):
            batch = commands[start : start + BATCH]
            self.socket.sendall(b"".join(map(encode, batch)))
            for _ in batch:
                self.reply()

    def ask(self, *words):
        self.socket.sendall(encode(words))
        return self.reply()

    def resident(self):
        """Resident memory that is not the program's file."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"RssAnon:\s+(\d+) kB", file.read()).group(1)) << 10

    def settled(self):
        """Resident memory and used_memory, once the former shrinks no more."""
        self.ask("MEMORY", "PURGE")
        least, since = self.resident(), time.monotonic()
        while time.monotonic() < since + 1:
            time.sleep(0.1)
            now = self.resident()
            if now < least:
                least, since = now, time.monotonic()
        used = re.search(rb"used_memory:(\d+)", self.ask("INFO", "memory"))
        return least, int(used.group(1))

    def stop(self):
        self.process.kill()
        self.process.wait()


def read_group(consumer, count):
    return ["XREADGROUP", "GROUP", "group", consumer, "COUNT", count, "STREAMS", "s", ">"]


def small_entries(n):
    return [["XADD", "s", "*", "n", number % 1000] for number in range(n)]


def of_group(consumers):
    def commands(n):
        reads = [read_group(f"consumer:{at % consumers}", 1000) for at in range(n // 1000)]
        return [*small_entries(n), ["XGROUP", "CREATE", "s", "group", 0], *reads]

    return commands


def long_entry(number):
    fields = (word for at in range(5) for word in (f"field{at}", f"{number:010}{at}"))
    return ["XADD", "s", "*", *fields]


def filled(command, keys, each, element=lambda at: [text(at)]):
    """`keys` values of `each` elements."""
    return [
        [command, f"key:{key}", *(word for at in range(each) for word in element(at))] for key in range(keys)
    ]


def one(command, n, element):
    """A value of `n` elements, which come one at a time."""
    return [[command, "key", *element(at)] for at in range(n)]


def text(at):
    """Texts of 10 to 30 bytes, so that they do not all fill their allocations, or none."""
    return f"text:{at:05}" + "." * (at * 7 % 16)


def pair(at):
    return [text(at), text(at + 1)]


def scored(at):
    return [at, text(at)]


def strings(size):
    """So many strings of a size that they take about 64 MB. Keys have 20 bytes."""
    value = "v" * size
    commands = lambda n: [["SET", f"key:{at:016}", value] for at in range(n)]
    return min(500_000, (64 << 20) // (size + 80)), commands, [["DBSIZE"]]


# Sizes that just fit blocks of the allocator, and others.
SIZES = [16, 32, 64, 100, 200, 300, 500, 512, 700, 1000, 1024, 1500, 2000, 2048, 3000, 4096]

# By name: elements, the commands that make so many, and what both must answer alike then.
KINDS = {
    **{f"strings of {size} B": strings(size) for size in SIZES},
    "hashes of 5 fields": (200_000, lambda n: filled("HSET", n, 5, pair), [["DBSIZE"]]),
    "a field of a large hash": (500_000, lambda n: one("HSET", n, pair), [["HLEN", "key"]]),
    "lists of 5 elements": (200_000, lambda n: filled("RPUSH", n, 5), [["DBSIZE"]]),
    "an element of a long list": (1_000_000, lambda n: one("RPUSH", n, lambda at: [text(at)]), [["LLEN", "key"]]),
    "sets of 5 members": (200_000, lambda n: filled("SADD", n, 5), [["DBSIZE"]]),
    "a member of a large set": (500_000, lambda n: one("SADD", n, lambda at: [text(at)]), [["SCARD", "key"]]),
    "a number of a large set": (500_000, lambda n: one("SADD", n, lambda at: [at * 7]), [["SCARD", "key"]]),
    "sorted sets of 5 members": (200_000, lambda n: filled("ZADD", n, 5, scored), [["DBSIZE"]]),
    "a member of a large sorted set": (500_000, lambda n: one("ZADD", n, scored), [["ZCARD", "key"]]),
    "a small entry of a stream": (500_000, small_entries, [["XLEN", "s"]]),
    "an entry of 5 fields of a stream": (
        200_000,
        lambda n: [long_entry(number) for number in range(n)],
        [["XLEN", "s"]],
    ),
    "streams of 3 small entries": (
        100_000,
        lambda n: [["XADD", f"s:{at % n}", "*", "n", at % 1000] for at in range(3 * n)],
        [["DBSIZE"]],
    ),
    "a small entry of a stream, pending with one consumer": (
        500_000,
        of_group(1),
        [["XLEN", "s"], ["XINFO", "CONSUMERS", "s", "group"]],
    ),
    "a small entry of a stream, pending with one of 10 consumers": (
        500_000,
        of_group(10),
        [["XLEN", "s"], ["XINFO", "CONSUMERS", "s", "group"]],
    ),
    "streams of 3 small entries, all pending in a group": (
        50_000,
        lambda n: [
            command
            for key in range(n)
            for command in (
                *(["XADD", f"s:{key}", "*", "n", at] for at in range(3)),
                ["XGROUP", "CREATE", f"s:{key}", "group", 0],
                ["XREADGROUP", "GROUP", "group", "one", "STREAMS", f"s:{key}", ">"],
            )
        ],
        [["DBSIZE"]],
    ),
    "HyperLogLogs of 10 elements": (100_000, lambda n: filled("PFADD", n, 10), [["DBSIZE"], ["PFCOUNT", "key:7"]]),
    "HyperLogLogs of 1,000 elements": (5_000, lambda n: filled("PFADD", n, 1000), [["PFCOUNT", "key:7"]]),
    "HyperLogLogs of 10,000 elements": (1_000, lambda n: filled("PFADD", n, 10_000), [["PFCOUNT", "key:7"]]),
}


def growth(binary, is_ours, commands, checks, folder):
    """Bytes by which resident memory and used_memory grow, and the answers to the checks."""
    server = Server(binary, is_ours, folder)
    try:
        server.send([["SET", "key", "v"], ["DEL", "key"]])
        before = server.settled()
        server.send(commands)
        answers = [server.ask(*check) for check in checks]
        after = server.settled()
        return [now - then for then, now in zip(before, after)], answers
    finally:
        server.stop()


def without_times(answers):
    """The answers, without the fields of XINFO CONSUMERS that tell times."""
    if isinstance(answers, list):
        if answers[:1] == [b"name"]:
            return answers[:4]
        return [without_times(answer) for answer in answers]
    return answers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="target/release/rds")
    parser.add_argument("--beside", default="redis-server")
    parser.add_argument("--kinds", default="", help="only those whose name contains this")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--ratio-max", type=float, default=0)
    args = parser.parse_args()
    print(f"{'bytes for each':60} {'rds':>9} {'beside':>9} {'ratio':>6} {'used: rds':>10} {'beside':>9} {'ratio':>6}")
    is_good = True
    with tempfile.TemporaryDirectory() as folder:
        for name, (elements, make, checks) in KINDS.items():
            if args.kinds not in name:
                continue
            n = max(1000, int(elements * args.scale))
            commands = make(n)
            (ours, our_used), answers = growth(os.path.abspath(args.server), True, commands, checks, folder)
            (theirs, their_used), their_answers = growth(args.beside, False, commands, checks, folder)
            if without_times(answers) != without_times(their_answers):
                sys.exit(f"kinds.py: FAILED: {name}: {answers} and {their_answers}")
            figures = [ours / n, theirs / n, ours / theirs, our_used / n, their_used / n, our_used / their_used]
            is_good &= not args.ratio_max or figures[2] <= args.ratio_max
            resident, used = figures[:3], figures[3:]
            print(
                f"{name:60} {resident[0]:9.1f} {resident[1]:9.1f} {resident[2]:6.2f}"
                f" {used[0]:10.1f} {used[1]:9.1f} {used[2]:6.2f}",
                flush=True,
            )
    if not is_good:
        sys.exit("kinds.py: FAILED: a ratio is above --ratio-max")


if __name__ == "__main__":
    main()
