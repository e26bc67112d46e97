#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile and broken clients against a running cache server, while a well-behaved one is watched.

    cargo build --release --bin segcache --bin rds
    python3 benches/scripts/adversity.py --server target/release/segcache
    python3 benches/scripts/adversity.py --server target/release/rds --protocol resp --engine io_uring

Starts the server itself on free loopback ports (one plain, one TLS), runs each scenario beside a probe
that reads and writes one key, and prints for each: the probe's p50 and p99 undisturbed, disturbed and
their ratio, the server's resident memory and its open file descriptors before, during and after.

Fails if a reply to the probe is ever wrong or missing, if memory grows past its bound, or if descriptors
or memory do not come back. With --p99 RATIO also if the disturbed p99 exceeds RATIO times the undisturbed
one; that is a measurement, so leave it out where the machine is shared. Where the machine has two cores,
the server gets the first; the probe shares the second with the hostile clients, which run at idle priority.
--seconds sets how long the random bytes last. Needs python3 and the openssl command.
"""
import argparse, multiprocessing, os, random, socket, ssl, struct, sys, tempfile, time
import harness
from harness import client_context, exchange, pin

PROBE_SECONDS = 3.0
MEMORY_BOUND_MB = 64  # growth of resident memory that any scenario may cause while it lasts
MEMORY_LEAK_MB = 8  # growth that may be left behind (allocator slack)


class Memcache(harness.Memcache):
    """What hostile clients say to a memcache server."""

    half = b"set half 0 0 100\r\nonly a pa"
    # Begun, and never finished: what a connection that is reset may leave behind.
    unfinished = [b"get a b c", b"", b""]
    words = [b"get ", b"set ", b"\r\n", b"\n", b" ", b"0 0 10\r\n", b"stats", b"noreply\r\n", b"\0", b"incr "]

    @staticmethod
    def claim(server):
        """Twenty bodies of a gigabyte, which are refused and swallowed as they come."""
        socks = [server.connect() for _ in range(20)]
        for sock in socks:
            reply = exchange(sock, b"set huge 0 0 1000000000\r\n", b"\n")
            if reply != b"SERVER_ERROR object too large for cache\r\n":
                sys.exit(f"FAIL: {reply!r}")
        return socks, b"y" * 16384


class Resp(harness.Resp):
    """What hostile clients say to a server that speaks RESP."""

    half = b"*3\r\n$3\r\nSET\r\n$4\r\nhalf\r\n$100\r\nonly a pa"
    unfinished = [
        b"*2\r\n$3\r\nGET\r\n$5\r\nab",
        b"BLPOP nothing 0\r\nPING\r\n",
        b"SUBSCRIBE news\r\nPSUBSCRIBE n*\r\n",
        b"WATCH a b\r\nMULTI\r\nGET a\r\n",
        b"MONITOR\r\n",
        b"",
    ]
    words = [
        b"GET ", b"SET ", b"*3\r\n", b"$3\r\n", b"\r\n", b"\n", b" ", b"*1000000\r\n", b"$-1\r\n", b"\0", b'"',
        b"$500000000\r\n", b"INFO\r\n", b"HELLO 3\r\n", b"MULTI\r\n", b"BLPOP a 0\r\n", b"SUBSCRIBE a\r\n",
    ]

    @staticmethod
    def claim(server):
        """More than is allowed is refused. What is allowed and does not come takes no memory."""
        for request, error in (
            (b"*2\r\n$3\r\nGET\r\n$1000000000\r\n", b"-ERR Protocol error: invalid bulk length\r\n"),
            (b"*3000000000\r\n", b"-ERR Protocol error: invalid multibulk length\r\n"),
        ):
            for _ in range(20):
                with server.connect() as sock:
                    reply = exchange(sock, request, b"\n")
                    if reply != error or sock.recv(1) != b"":
                        sys.exit(f"FAIL: {reply!r}")
        socks = [server.connect() for _ in range(40)]
        for number, sock in enumerate(socks):
            sock.sendall([b"*2\r\n$3\r\nGET\r\n$500000000\r\n", b"*1000000\r\n$3\r\nDEL\r\n"][number % 2])
            # Ever longer lengths: half of one goes on as an argument, and the other as a header.
            sock.sendall(b"$400000000\r\n")
        return socks, b"1" * 16


PROTOCOLS = {"memcache": Memcache, "resp": Resp}


def probe(server, seconds):
    """A good client: writes and reads one key, checks every byte, returns its latencies."""
    latencies, end = [], time.monotonic() + seconds
    with server.connect() as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        count = 0
        while time.monotonic() < end:
            value = b"%020d" % count
            for request, expected in server.protocol.set(b"probe", value), server.protocol.get(b"probe", value):
                start = time.perf_counter()
                reply = exchange(sock, request, expected[-5:])
                latencies.append(time.perf_counter() - start)
                if reply != expected:
                    sys.exit(f"FAIL: the probe got {reply!r} instead of {expected!r}")
            count += 1
            time.sleep(0.0005)
    return sorted(latencies)


def percentile(latencies, p):
    return latencies[min(len(latencies) - 1, int(len(latencies) * p))] * 1e6


# --- scenarios: each opens its hostile connections, reports that it is at work, and lets go on request ---


def half_request(server, ready, done):
    """A client sends half a request and stops; a hundred of them."""
    socks = [server.connect() for _ in range(100)]
    for sock in socks:
        sock.sendall(server.protocol.half)
    hold(socks, ready, done)


def never_reads(server, ready, done):
    """Clients ask for far more than they ever read."""
    with server.connect() as sock:
        exchange(sock, *server.protocol.set(b"big", b"x" * 200000))
    request, _ = server.protocol.get(b"big", b"")
    socks = [server.connect() for _ in range(20)]
    for sock in socks:
        sock.settimeout(0.2)
        try:
            for _ in range(1000):
                sock.sendall(request * 100)
        except TimeoutError:
            pass
    hold(socks, ready, done)


def idle_connections(server, ready, done):
    """Two thousand connections that say nothing."""
    hold([server.connect() for _ in range(2000)], ready, done)


def broken_handshake(server, ready, done):
    """TLS clients that break off their handshake, 40 times a second, half of them by reset."""
    context = client_context()
    ready.set()
    while not done.is_set():
        for reset in (False, True):
            sock = server.connect(server.tls_port)
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
            try:
                tls.do_handshake()
            except ssl.SSLWantReadError:
                sock.sendall(outgoing.read()[:100])
            close(sock, reset)
        time.sleep(0.05)


def request_with_finished(server, ready, done):
    """The first request arrives in the same segment as the end of the handshake; 20 times a second.

    A handshake holds the worker for its signature, a few hundred microseconds, so a flood of them is
    felt by others: more workers share it."""
    context = client_context()
    ready.set()
    while not done.is_set():
        with server.connect(server.tls_port) as sock:
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
            while True:
                try:
                    tls.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    sock.sendall(outgoing.read())
                    incoming.write(sock.recv(65536))
            both = server.protocol.set(b"early", b"hi"), server.protocol.get(b"early", b"hi")
            tls.write(b"".join(request for request, _ in both))
            sock.sendall(outgoing.read())
            reply, expected = b"", b"".join(expected for _, expected in both)
            while len(reply) < len(expected):
                try:
                    reply += tls.read(4096)
                except ssl.SSLWantReadError:
                    incoming.write(sock.recv(65536))
            if reply != expected:
                sys.exit(f"FAIL: TLS client got {reply!r}")
        time.sleep(0.05)


def open_and_reset(server, ready, done):
    """Ten thousand connections are opened and reset or closed, with something unfinished in some."""
    ready.set()
    unfinished = server.protocol.unfinished
    for count in range(10000):
        sock = server.connect()
        sock.sendall(unfinished[count % len(unfinished)])
        close(sock, reset=count % 5 > 0)
    done.wait()


def gigabyte_claim(server, ready, done):
    """Clients claim far more than they ever send, slowly; nothing is kept for the claim."""
    socks, piece = server.protocol.claim(server)
    ready.set()
    while not done.is_set():
        for sock in socks:
            sock.sendall(piece)
        time.sleep(0.02)
    for sock in socks:
        sock.close()


def random_bytes(server, ready, done):
    """Random bytes, with line ends and command words strewn in, on ever new connections."""
    rng = random.Random(1)
    words = server.protocol.words
    ready.set()
    while not done.is_set():
        sock = server.connect()
        sock.settimeout(0.05)
        try:
            for _ in range(rng.randrange(1, 50)):
                junk = b"".join(
                    rng.choice(words) if rng.random() < 0.3 else rng.randbytes(rng.randrange(1, 200))
                    for _ in range(20)
                )
                sock.sendall(junk.replace(b"flush_all", b"flush_none"))
                if rng.random() < 0.5:
                    sock.recv(65536)
        except (TimeoutError, OSError):
            pass
        close(sock, reset=rng.random() < 0.3)


def close(sock, reset):
    if reset:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def hold(socks, ready, done):
    ready.set()
    done.wait()
    for sock in socks:
        sock.close()


def run_hostile(scenario, server, ready, done):
    pin(-1)
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    scenario(server, ready, done)


def settle(read, target, seconds=20):
    """Waits until read() is at most target; returns the last value."""
    end = time.monotonic() + seconds
    while (value := read()) > target and time.monotonic() < end:
        time.sleep(0.1)
    return value


def run(scenario, server, seconds):
    quiet = probe(server, PROBE_SECONDS)
    descriptors = settle(server.descriptors, server.descriptors_idle)
    memory = server.memory_mb()
    ready, done = multiprocessing.Event(), multiprocessing.Event()
    hostile = multiprocessing.Process(target=run_hostile, args=(scenario, server, ready, done))
    hostile.start()
    while not ready.wait(0.1):
        if not hostile.is_alive():
            sys.exit(f"FAIL: {scenario.__name__} could not begin")
    disturbed = probe(server, seconds)
    memory_during, descriptors_during = server.memory_mb(), server.descriptors()
    done.set()
    hostile.join(60)
    problems = []
    if hostile.exitcode != 0:
        problems.append(f"the hostile client ended with code {hostile.exitcode}")
    descriptors_after = settle(server.descriptors, descriptors)
    memory_after = settle(server.memory_mb, memory + MEMORY_LEAK_MB)
    if descriptors_after > descriptors:
        problems.append(f"{descriptors_after - descriptors} descriptors leaked")
    if memory_during > memory + MEMORY_BOUND_MB:
        problems.append(f"memory grew by {memory_during - memory:.0f} MB")
    if memory_after > memory + MEMORY_LEAK_MB:
        problems.append(f"{memory_after - memory:.0f} MB of memory did not come back")
    ratio = percentile(disturbed, 0.99) / percentile(quiet, 0.99)
    print(
        f"{scenario.__name__:22} p50 {percentile(quiet, .5):4.0f} -> {percentile(disturbed, .5):4.0f} us   "
        f"p99 {percentile(quiet, .99):4.0f} -> {percentile(disturbed, .99):4.0f} us ({ratio:.2f}x)   "
        f"memory {memory:.0f} / {memory_during:.0f} / {memory_after:.0f} MB   "
        f"fds {descriptors} / {descriptors_during} / {descriptors_after}",
        flush=True,
    )
    return ratio, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the binary of segcache or rds")
    parser.add_argument("--protocol", choices=PROTOCOLS, default="memcache", help="what it speaks (default memcache)")
    parser.add_argument("--engine", default="epoll", help="epoll or io_uring (default epoll)")
    parser.add_argument("--seconds", type=float, default=60, help="how long random bytes last (default 60)")
    parser.add_argument("--p99", type=float, help="fail if the p99 ratio exceeds this")
    parser.add_argument("--only", help="run one scenario by its name")
    args = parser.parse_args()
    harness.allow_descriptors(8192)
    pin(-1)
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        server = harness.Server(args.server, PROTOCOLS[args.protocol], folder, arguments=["--engine", args.engine])
        try:
            for scenario in (half_request, never_reads, idle_connections, broken_handshake,
                             request_with_finished, open_and_reset, gigabyte_claim, random_bytes):
                if args.only and scenario.__name__ != args.only:
                    continue
                seconds = args.seconds if scenario is random_bytes else 2 * PROBE_SECONDS
                ratio, problems = run(scenario, server, seconds)
                if args.p99 and ratio > args.p99:
                    problems.append(f"p99 is {ratio:.2f} times the undisturbed one")
                failures += [f"{scenario.__name__}: {problem}" for problem in problems]
        finally:
            server.stop()
    for failure in failures:
        print("FAIL:", failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
