# SPDX-License-Identifier: Apache-2.0
"""What a client can make a server keep: transactions, watched keys, channels, names. Each is asked for until the
server refuses or closes the client, or until far more than its memory was asked for."""
import select
from .protocols import Resp

CLIENTS = 8
ASKED_BYTES = 512 << 20  # of all clients together: twice what the server may use
NAMES = 50  # of keys and channels in a command; of more, a command alone would hold the worker for long


def hoard(server, ready, done, opening, request):
    """`request(n)` is what a client sends after `opening`, n-th of all."""
    socks = [server.connect() for _ in range(CLIENTS)]
    for sock in socks:
        sock.sendall(opening)
        sock.settimeout(30)
    ready.set()
    asked = number = 0
    alive = list(socks)
    while alive and asked < ASKED_BYTES:
        for sock in list(alive):
            words = request(number)
            number += 1
            asked += len(words)
            try:
                sock.sendall(words)
                # What it answers is taken, so that no reply waits.
                while select.select([sock], [], [], 0)[0]:
                    reply = sock.recv(1 << 20)
                    if not reply or b"-OOM" in reply:
                        alive.remove(sock)
                        break
            except (ConnectionError, TimeoutError):
                alive.remove(sock)
    let_go(socks, done)


def let_go(socks, done):
    done.wait()
    for sock in socks:
        sock.close()


def multi_queues(server, ready, done):
    """Clients queue commands without end."""
    command = Resp.command(b"SET", b"queued", b"q" * 16384)
    hoard(server, ready, done, Resp.command(b"MULTI"), lambda _: command)


def watched_keys(server, ready, done):
    """Clients watch ever more keys."""
    hoard(server, ready, done, b"", lambda n: Resp.command(b"WATCH", *names(n)))


def subscribed_channels(server, ready, done):
    """Clients subscribe to ever more channels, of which each confirms."""
    hoard(server, ready, done, b"", lambda n: Resp.command(b"SUBSCRIBE", *names(n)))


def names(n):
    """Names that nobody has named before."""
    return (b"%0200d" % (n * NAMES + i) for i in range(NAMES))


def long_names(server, ready, done):
    """Clients give themselves names of a megabyte, and as many clients as may be."""
    name = Resp.command(b"CLIENT", b"SETNAME", b"n" * (1 << 20))
    ready.set()
    socks = []
    for _ in range(1000):
        sock = server.connect()
        sock.settimeout(30)
        socks.append(sock)
        try:
            sock.sendall(name)
            sock.recv(65536)
        except (ConnectionError, TimeoutError):
            pass
    let_go(socks, done)
