#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What idle connections cost: resident memory, and CPU time of requests on other connections.

    cargo build --release --bin segcache --bin rds
    python3 benches/scripts/connections.py --server target/release/segcache
    python3 benches/scripts/connections.py --server target/release/rds --protocol resp --engine io_uring

Memory: a new server each time, on a free loopback port; its resident memory before and after so many
connections (--count) that have never sent anything ("silent"), that have each sent one request, all of
them at once ("asked"), and, fewer, the same through TLS.

CPU (--rounds, 0 for none): two new servers in each round, one of which has idle connections that have sent
a request. On both, in turns, ACTIVE other connections send gets one at a time. Printed is the CPU time of
the server for each get (all its threads, by the scheduler's account), and the ratio of the two, which is
taken within a round: median and least to largest. The server has the first core and the clients the second.

Fails if silent or asked connections take more than --memory-max, if a reply is wrong, and with --cpu-max
if the median of the ratios is higher; that is a measurement, so leave it out where the machine is shared.
Needs python3, /proc and the openssl command, and two descriptors per connection.
"""
import argparse, statistics, sys, tempfile, time
import harness

ACTIVE = 50
TLS_MAX = 2000  # TLS connections: each takes a handshake, and much memory of this script
WINDOW = 500  # connections that are opened before the first of them has to be answered
KEY, VALUE = b"key:%016d", b"v" * 64
PROTOCOLS = {"memcache": harness.Memcache, "resp": harness.Resp}


def receive(sock, expected):
    """Reads a whole reply, which must be the expected one."""
    reply = sock.recv(65536)
    while len(reply) < len(expected):
        piece = sock.recv(65536)
        if not piece:
            break
        reply += piece
    if reply != expected:
        sys.exit(f"connections.py: FAILED: {reply!r} instead of {expected!r}")


def ask_all(socks, request, expected):
    """A request on each connection, all of them under way at once."""
    for sock in socks:
        sock.sendall(request)
    for sock in socks:
        receive(sock, expected)


def store(server, number):
    """Sets a key; what asks for it, and the reply."""
    key = KEY % number
    with server.connect() as sock:
        harness.exchange(sock, *server.protocol.set(key, VALUE))
    return server.protocol.get(key, VALUE)


def connect_plain(server, count):
    """New connections, all of which the server serves."""
    socks = []
    request, expected = server.protocol.get(b"none", b"")[0], server.protocol.missing
    while len(socks) < count:
        socks += [server.connect() for _ in range(min(WINDOW, count - len(socks)))]
        with server.connect() as last:
            # Connections are served in the order in which they came.
            last.sendall(request)
            receive(last, expected)
    return socks


def connect_tls(server, count):
    context = harness.client_context()
    connect = lambda: context.wrap_socket(server.connect(server.tls_port), server_hostname="localhost")
    return [connect() for _ in range(count)]


def settled_memory(server):
    """Resident bytes, once they stand still."""
    before, now = None, server.memory()
    while before is None or abs(now - before) > 64 << 10:
        time.sleep(0.3)
        before, now = now, server.memory()
    return now


def measure_memory(start, name, connect, count, has_asked):
    """What connections add to resident memory, of a new server."""
    with start() as server:
        request, expected = store(server, 0)
        # A connection of the kind has made whatever is made once.
        for sock in connect(server, 1):
            ask_all([sock], request, expected)
            sock.close()
        before = settled_memory(server)
        socks = connect(server, count)
        if has_asked:
            ask_all(socks, request, expected)
        grown = settled_memory(server) - before
        for sock in socks:
            sock.close()
    print(
        f"  memory, {count} {name}: {before / 1e6:.1f} MB and {grown / 1e6:.2f} MB more, "
        f"{grown / count:.0f} bytes a connection",
        flush=True,
    )
    return grown


class Load:
    """A fixed load on a server: gets on ACTIVE connections, one at a time on each."""

    def __init__(self, server):
        self.server = server
        self.socks = connect_plain(server, ACTIVE)
        self.gets = [store(server, number) for number in range(ACTIVE)]

    def run(self, requests):
        """Nanoseconds of the server's CPU for each of so many requests."""
        turns = -(-requests // ACTIVE)
        pairs = [(sock, *get) for sock, get in zip(self.socks, self.gets)]
        before = self.server.cpu_ns()
        for _ in range(turns):
            for sock, request, _ in pairs:
                sock.send(request)
            for sock, _, expected in pairs:
                receive(sock, expected)
        return (self.server.cpu_ns() - before) / (turns * ACTIVE)


def measure_cpu(start, count, requests):
    """CPU nanoseconds for a request without and with idle connections."""
    with start() as without, start() as beside:
        idle = connect_plain(beside, count)
        ask_all(idle, *store(beside, 0))
        loads = [Load(without), Load(beside)]
        for load in loads:
            load.run(requests // 10)
        times = [[], []]
        for which in (0, 1, 1, 0):
            times[which].append(loads[which].run(requests // 2))
        for sock in [*idle, *loads[0].socks, *loads[1].socks]:
            sock.close()
    return [sum(pair) / 2 for pair in times]


def spread(values, form):
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def report_cpu(start, args):
    """Runs the rounds; the median ratio."""
    rounds = [measure_cpu(start, args.count, args.requests) for _ in range(args.rounds)]
    ratios = [beside / without for without, beside in rounds]
    print(f"  CPU per request, {ACTIVE} active connections, {args.rounds} rounds of {args.requests} requests:")
    print(f"    alone {spread([one for one, _ in rounds], '.0f')} ns, ", end="")
    print(f"beside {args.count} idle ones {spread([one for _, one in rounds], '.0f')} ns")
    print(f"    ratio {spread(ratios, '.3f')}", flush=True)
    return statistics.median(ratios)


def main():
    parser = argparse.ArgumentParser(description="what idle connections cost")
    parser.add_argument("--server", default="target/release/segcache", help="the binary of segcache or rds")
    parser.add_argument("--protocol", choices=PROTOCOLS, default="memcache", help="what it speaks [memcache]")
    parser.add_argument("--engine", default="epoll", help="epoll or io_uring [epoll]")
    parser.add_argument("--count", type=int, default=10000, help="idle connections [10000]")
    parser.add_argument("--memory-max", type=float, default=20, help="megabytes that they may take [20]")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the load [5]")
    parser.add_argument("--requests", type=int, default=50000, help="requests of a round, each server [50000]")
    parser.add_argument("--cpu-max", type=float, help="the highest ratio of CPU per request")
    args = parser.parse_args()
    possible = harness.allow_descriptors(args.count + 1000) - 1000
    if possible < args.count:
        print(f"NOT {args.count} connections: the limit of open files allows {possible}, which may take their share")
        args.memory_max *= possible / args.count
        args.count = possible
    harness.pin(-1)
    failures = []
    with tempfile.TemporaryDirectory() as folder:

        def start():
            flags = ["--engine", args.engine]
            return harness.Server(args.server, PROTOCOLS[args.protocol], folder, args.count + 500, flags)

        print(f"{args.server}, {args.engine}", flush=True)
        for name, has_asked in (("silent", False), ("asked", True)):
            grown = measure_memory(start, name, connect_plain, args.count, has_asked)
            if grown > args.memory_max * 1e6:
                failures.append(f"{name} connections take more than {args.memory_max} MB")
        measure_memory(start, "asked through TLS", connect_tls, min(args.count, TLS_MAX), True)
        if args.rounds:
            ratio = report_cpu(start, args)
            if args.cpu_max and ratio > args.cpu_max:
                failures.append(f"a request takes {ratio:.3f} times the CPU")
    if failures:
        sys.exit("connections.py: FAILED: " + "; ".join(failures))


if __name__ == "__main__":
    main()
