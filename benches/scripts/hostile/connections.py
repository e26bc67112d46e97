# SPDX-License-Identifier: Apache-2.0
"""Broken connections: half requests, handshakes that break off, claims, random bytes."""
import random, socket, ssl, struct, sys, time
from harness import client_context


def half_request(server, ready, done):
    """A client sends half a request and stops; a hundred of them."""
    socks = [server.connect() for _ in range(100)]
    for sock in socks:
        sock.sendall(server.protocol.half)
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
