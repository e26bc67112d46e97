# SPDX-License-Identifier: Apache-2.0
"""What hostile clients say, in memcache and in RESP."""
import sys
import harness
from harness import exchange


class Memcache(harness.Memcache):
    """What hostile clients say to a memcache server."""

    config = '[cache]\nmemory = "256MB"\n'
    half = b"set half 0 0 100\r\nonly a pa"
    # Begun, and never finished: what a connection that is reset may leave behind.
    unfinished = [b"get a b c", b"", b""]
    words = [b"get ", b"set ", b"\r\n", b"\n", b" ", b"0 0 10\r\n", b"stats", b"noreply\r\n", b"\0", b"incr "]
    # What a client too many is told before it is closed.
    too_many = b"ERROR Too many open connections\r\n"

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

    config = '[redis]\nmaxmemory = "256mb"\n'
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
    too_many = b"-ERR max number of clients reached\r\n"

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

    @staticmethod
    def command(*arguments):
        """A command as clients send it."""
        return b"*%d\r\n" % len(arguments) + b"".join(b"$%d\r\n%s\r\n" % (len(one), one) for one in arguments)


PROTOCOLS = {"memcache": Memcache, "resp": Resp}
