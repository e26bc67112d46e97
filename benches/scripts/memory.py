#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much memory a full cache server takes, and how much of it is not keys and values.

    cargo build --release --bin segcache
    python3 benches/scripts/memory.py --server target/release/segcache --memory 32m --overhead-max 20
    python3 benches/scripts/memory.py --memory 256m --value 16,100,1000 --limit-excess 3%

Starts the server with -m, fills it over TCP with several times the memory in sets, then reads back every
key, which checks each byte and says what is resident. Prints resident memory of the empty server, of the
full one and at its peak, the resident items (curr_items), and

* the overhead: (growth of resident memory - bytes of resident keys and values) / resident items;
* the excess: peak of resident memory - limit.

--value takes several sizes that alternate, 16,100,1000. Given twice, the second filling follows the first:
with --value 1000 --value 32 the index of a full cache has to grow. --memory is in megabytes, as with -m.

Fails if the overhead is above --overhead-max bytes, if the excess is above --limit-excess (bytes, with
suffix k or m, or percent of the limit), if a set was not stored or a byte is wrong. Needs python3 and /proc.
"""
import argparse, os, re, socket, subprocess, sys, tempfile, time
import listening

KEYS_PER_LINE = 100
LINES = 20  # of a pipeline of gets
SET_BYTES = 1 << 20  # of a pipeline of sets, about


class Server:
    """The server under test, with one connection to it."""

    def __init__(self, binary, memory, flags, sections):
        folder = tempfile.TemporaryDirectory()
        config = os.path.join(folder.name, "server.toml")
        with open(config, "w") as file:
            file.write('[server]\nlisten = ["127.0.0.1:0"]\n[admin]\nenabled = false\n')
            file.write("\n".join(sections))
        command = [binary, "-m", str(memory >> 20), *flags, config]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        (port,) = listening.ports(self.process)
        folder.cleanup()
        self.socket = socket.create_connection(("127.0.0.1", port), 60)

    def status(self, name):
        """A line of /proc/<pid>/status, in bytes."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(rf"{name}:\s+(\d+) kB", file.read()).group(1)) << 10

    def exchange(self, request, ends):
        """Sends a request and reads until END has come so many times."""
        self.socket.sendall(request)
        reply, found = bytearray(), 0
        while found < ends:
            piece = self.socket.recv(1 << 20)
            if not piece:
                sys.exit("memory.py: the server closed the connection")
            start = max(0, len(reply) - 4)
            reply += piece
            found += reply.count(b"END\r\n", start)
        return bytes(reply)

    def stats(self):
        rows = re.findall(rb"STAT (\S+) (\S*)\r\n", self.exchange(b"stats\r\n", 1))
        return {name.decode(): value.decode() for name, value in rows}

    def settled(self):
        """Statistics of a server that is done with what it does ahead of need."""
        before, now = None, self.stats()
        while before is None or now["curr_items"] != before["curr_items"]:
            time.sleep(0.2)
            before, now = now, self.stats()
        return now

    def stop(self):
        self.process.terminate()
        if self.process.wait(60) != 0:
            sys.exit(f"memory.py: the server ended with code {self.process.returncode}")


class Filling:
    """Keys numbered from `first` on, whose values have the given sizes in turn."""

    def __init__(self, first, key_bytes, sizes, memory, times):
        self.first, self.key_bytes, self.sizes = first, key_bytes, sizes
        cycle = sum(key_bytes + size for size in sizes)
        self.count = max(1, memory * times // cycle) * len(sizes)
        self.end = first + self.count

    def send(self, server):
        key = b"%%0%dd" % self.key_bytes
        cycle = b"".join(
            b"set %s 0 0 %d noreply\r\n%s\r\n" % (key, size, b"v" * size) for size in self.sizes
        )
        cycles = max(1, SET_BYTES // len(cycle))
        per_pipeline = cycles * len(self.sizes)
        pipeline = cycle * cycles
        number = self.first
        while number + per_pipeline <= self.end:
            server.socket.sendall(pipeline % tuple(range(number, number + per_pipeline)))
            number += per_pipeline
        rest = (self.end - number) // len(self.sizes)
        server.socket.sendall(cycle * rest % tuple(range(number, self.end)))

    def resident(self, server):
        """Items that are found, and their bytes; each is checked."""
        line = b"get" + b" %%0%dd" % self.key_bytes * KEYS_PER_LINE + b"\r\n"
        shown = [b"VALUE %%s 0 %d\r\n%s\r\n" % (size, b"v" * size) for size in self.sizes]
        items = item_bytes = 0
        for start in range(self.first, self.end, KEYS_PER_LINE * LINES):
            # Keys beyond the end have never been set, or belong to the next filling, and come later.
            stop = min(self.end, start + KEYS_PER_LINE * LINES)
            lines, ends = b"", -(-(stop - start) // KEYS_PER_LINE)
            for begin in range(start, stop, KEYS_PER_LINE):
                lines += line % tuple(min(n, self.end - 1) for n in range(begin, begin + KEYS_PER_LINE))
            replies = server.exchange(lines, ends)
            keys = re.findall(rb"VALUE (\d+) ", replies)
            expected = b"".join(shown[(int(key) - self.first) % len(shown)] % key for key in keys)
            if expected != replies.replace(b"END\r\n", b""):
                sys.exit(f"memory.py: FAILED: a reply is wrong: {replies[:200]}")
            for key in dict.fromkeys(keys):
                items += 1
                item_bytes += self.key_bytes + self.sizes[(int(key) - self.first) % len(shown)]
        return items, item_bytes


def size(text):
    """Bytes, with suffix k, m or g."""
    shift = {"k": 10, "m": 20, "g": 30}.get(text[-1:].lower(), 0)
    return int(text[:-1] if shift else text) << shift


def excess_allowed(text, memory):
    if text.endswith("%"):
        return memory * float(text[:-1]) / 100
    return size(text)


def mib(amount):
    return f"{amount / (1 << 20):.2f} MiB"


def report(server, empty, args, resident):
    """Prints what was measured; returns overhead and excess."""
    full, peak = args.full, args.peak
    items, item_bytes = resident
    overhead = (full - empty - item_bytes) / items
    excess = peak - args.memory
    values = " then ".join(",".join(map(str, sizes)) for sizes in args.values)
    print(f"{mib(args.memory)}, keys of {args.key} bytes, values of {values}")
    print(f"  resident: empty {mib(empty)}, full {mib(full)}, peak {mib(peak)}")
    print(f"  resident items: {items} with {item_bytes} bytes of keys and values")
    print(f"  overhead: {overhead:.2f} bytes per item")
    print(f"  excess over the limit: full {mib(full - args.memory)}, ", end="")
    print(f"peak {mib(excess)} ({100 * excess / args.memory:.2f} %)", flush=True)
    return overhead, excess


def main():
    parser = argparse.ArgumentParser(description="memory of a full cache server")
    parser.add_argument("--server", default="target/release/segcache", help="the binary to measure")
    parser.add_argument("--memory", type=size, default=32 << 20, help="the limit [32m]")
    parser.add_argument("--key", type=int, default=20, help="bytes of a key [20]")
    parser.add_argument("--value", action="append", dest="values", help="bytes of a value [32]")
    parser.add_argument("--times", type=int, default=4, help="sets of each filling, in memories [4]")
    parser.add_argument("--flag", action="append", default=[], help="one more argument for the server")
    parser.add_argument("--config", action="append", default=[], help="one more line of its configuration")
    parser.add_argument("--overhead-max", type=float, help="bytes per item")
    parser.add_argument("--limit-excess", help="bytes or percent")
    args = parser.parse_args()
    args.values = [[size(one) for one in text.split(",")] for text in args.values or ["32"]]

    server = Server(args.server, args.memory, args.flag, args.config)
    fillings, first = [], 0
    for sizes in args.values:
        fillings.append(Filling(first, args.key, sizes, args.memory, args.times))
        first = fillings[-1].end
    server.stats()
    empty = server.status("VmRSS")
    for filling in fillings:
        filling.send(server)
    # Whatever was sent before has been executed when this is answered.
    stats = server.settled()
    args.full, args.peak = server.status("VmRSS"), server.status("VmHWM")
    # The buffers that it takes to read back count against the limit, and a few items make room.
    found = [filling.resident(server) for filling in fillings]
    resident = tuple(map(sum, zip(*found)))
    after = server.stats()
    server.stop()

    overhead, excess = report(server, empty, args, resident)
    failures = []
    if int(stats["total_items"]) != first:
        failures.append(f"{first} sets, of which {stats['total_items']} were stored")
    if not int(after["curr_items"]) <= resident[0] <= int(stats["curr_items"]):
        numbers = f"{stats['curr_items']} before and {after['curr_items']} after"
        failures.append(f"curr_items {numbers}, of which {resident[0]} are found")
    if args.overhead_max is not None and overhead > args.overhead_max:
        failures.append(f"overhead above {args.overhead_max} bytes per item")
    if args.limit_excess and excess > excess_allowed(args.limit_excess, args.memory):
        failures.append(f"more than {args.limit_excess} above the limit")
    if failures:
        sys.exit("memory.py: FAILED: " + "; ".join(failures))


if __name__ == "__main__":
    main()
