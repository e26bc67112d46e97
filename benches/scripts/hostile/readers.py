# SPDX-License-Identifier: Apache-2.0
"""Clients that write a whole pipeline before they read, that read slowly, and that never read."""
import sys, time
from harness import exchange
from .connections import hold


def pipeline(server, sock, requests, size):
    """Writes so many gets of a value of this size, all of them, and then reads all replies."""
    key, value = b"unread%d" % size, b"v" * size
    exchange(sock, *server.protocol.set(key, value))
    request, reply = server.protocol.get(key, value)
    sock.settimeout(60)
    sock.sendall(request * requests)
    left, block = len(reply) * requests, reply * max(1, 65536 // len(reply))
    while left:
        # A block ends where a reply ends, so that each can be compared.
        wanted = min(left, len(block))
        piece = bytearray()
        while len(piece) < wanted:
            part = sock.recv(wanted - len(piece))
            if not part:
                sys.exit(f"FAIL: closed with {left - len(piece)} bytes of replies to come")
            piece += part
        if piece != block[:wanted]:
            sys.exit("FAIL: a wrong reply to a pipeline")
        left -= wanted


def again_and_again(server, ready, done, connect, requests, size):
    """Plays such pipelines until it is told to end, one at the least."""
    ready.set()
    while True:
        with connect() as sock:
            pipeline(server, sock, requests, size)
        if done.wait(0.2):
            return


def pipeline_unread_unix(server, ready, done):
    """10,000 gets of 1 KB are written to a unix socket before a reply is read."""
    again_and_again(server, ready, done, server.connect_unix, 10_000, 1024)


def pipeline_unread_tcp(server, ready, done):
    """500,000 gets of 100 bytes are written over TCP before a reply is read."""
    again_and_again(server, ready, done, server.connect, 500_000, 100)


def never_reads(server, ready, done):
    """Clients ask for far more than they ever read."""
    socks = ask_for_much(server, 20)
    hold(socks, ready, done)


def slow_readers(server, ready, done):
    """Clients ask for far more than they read, a few bytes at a time."""
    socks = ask_for_much(server, 20)
    ready.set()
    while not done.wait(0.02):
        for sock in socks:
            try:
                sock.recv(100)
            except (TimeoutError, ConnectionError):
                pass
    for sock in socks:
        sock.close()


def ask_for_much(server, count):
    """Connections on which as many gets of 200 KB are written as the server takes: until it reads no more,
    or closes them."""
    with server.connect() as sock:
        exchange(sock, *server.protocol.set(b"big", b"x" * 200000))
    request, _ = server.protocol.get(b"big", b"")
    socks = [server.connect() for _ in range(count)]
    for sock in socks:
        sock.settimeout(0.2)
        try:
            for _ in range(1000):
                sock.sendall(request * 100)
        except (TimeoutError, ConnectionError):
            pass
    return socks
