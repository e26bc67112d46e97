#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the sessions of this folder from memcached.

    tests/record.py MEMCACHED tests/sessions/hostile.txt            # writes what it answers to each `>` line
    tests/record.py MEMCACHED tests/sessions/hostile.txt --check    # fails if it answers what the file does not have

Each session has a server of its own. An answer is taken to be complete when the server closes, or has said nothing for
--quiet seconds. The format is explained in crates/test-support/src/session.rs. CAS numbers get names; times (`~`) really
pass.
"""
import argparse
import re
import socket
import subprocess
import sys
import time

ESCAPES = {"r": b"\r", "n": b"\n", "t": b"\t", "\\": b"\\"}
TOKEN = re.compile(r"\\x([0-9a-fA-F]{2})|\\([rnt\\])|\{(.*?)\*(\d+)\}|\$([A-Za-z0-9]+)|%unix\+(\d+)|(.)", re.S)


class Session:
    """The names that one session gives to CAS numbers."""

    def __init__(self, steps):
        self.is_binary = any(step.startswith("> \\x80") for step in steps[:3])
        self.names = {}

    def encode(self, written):
        """The bytes that a line stands for."""
        out = b""
        for byte, escape, text, times, cas, unix, plain in TOKEN.findall(written):
            if byte:
                out += bytes([int(byte, 16)])
            elif escape:
                out += ESCAPES[escape]
            elif times:
                out += self.encode(text) * int(times)
            elif cas:
                out += self.cas(cas)
            elif unix:
                out += str(int(time.time()) + int(unix)).encode()
            else:
                out += plain.encode()
        return out

    def cas(self, cas):
        """The number with that name."""
        number = next(number for number, name in self.names.items() if name == cas)
        return number.to_bytes(8, "big") if self.is_binary else str(number).encode()

    def matches(self, written, answered):
        """Whether an answer is as written; learns the names of its CAS numbers."""
        at = 0
        for piece in re.split(r"(\$[A-Za-z0-9]+)", written):
            if not piece.startswith("$"):
                part = self.encode(piece)
            elif piece[1:] in self.names.values():
                part = self.cas(piece[1:])
            else:
                part = answered[at:at + 8] if self.is_binary else re.match(rb"\d*", answered[at:])[0]
                if not part:
                    return False
                self.names[int.from_bytes(part, "big") if self.is_binary else int(part)] = piece[1:]
            if not answered.startswith(part, at):
                return False
            at += len(part)
        return at == len(answered)

    def name(self, number):
        """The name of a CAS number: a, b, ..."""
        return "$" + self.names.setdefault(number, chr(ord("a") + len(self.names)))

    def decode(self, answered):
        """How an answer is written."""
        if self.is_binary:
            return self.decode_frames(answered)
        lines = []
        for line in escape(answered).split("\\n"):
            value = re.fullmatch(r"(VALUE .+ \d+ \d+ )(\d+)\\r", line)
            lines.append(value[1] + self.name(int(value[2])) + "\\r" if value else line)
        return "\\n".join(lines)

    def decode_frames(self, answered):
        out = ""
        while len(answered) >= 24:
            end = 24 + int.from_bytes(answered[8:12], "big")
            cas = int.from_bytes(answered[16:24], "big")
            out += escape(answered[:16]) + (self.name(cas) if cas else escape(answered[16:24]))
            out += escape(answered[24:end])
            answered = answered[end:]
        return out + escape(answered)


def escape(data):
    """Bytes as the files write them: a long run of one byte as a repetition."""
    parts = []
    for run in re.finditer(rb"(.)\1*", data, re.S):
        one = "".join({13: "\\r", 10: "\\n", 9: "\\t", 92: "\\\\"}.get(
            byte, chr(byte) if 32 <= byte < 127 and chr(byte) not in "${%" else f"\\x{byte:02x}") for byte in run[1])
        parts.append(f"{{{one}*{len(run[0])}}}" if len(run[0]) > 30 else one * len(run[0]))
    return "".join(parts)


def answer(sock, quiet):
    """What is answered, and whether the connection is closed then."""
    sock.settimeout(quiet)
    got = b""
    try:
        while data := sock.recv(1 << 16):
            got += data
        return got, True
    except ConnectionResetError:
        return got, True
    except TimeoutError:
        return got, False


def with_server(play, steps, memcached, quiet):
    """What `play` makes of a session with a fresh server."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [*memcached, "-u", "root", "-l", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
        try:
            return list(play(steps, connect(port), quiet))
        finally:
            server.kill()


def connect(port):
    """A connection to a server that starts."""
    for _ in range(200):
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            time.sleep(0.01)
    sys.exit("memcached does not start")


def recorded(steps, sock, quiet):
    """Yields the lines of a session anew."""
    session = Session(steps)
    for step in steps:
        if step.startswith("~ "):
            time.sleep(int(step[2:]) / 1000)
            yield step
        if step.startswith("> "):
            yield step
            sock.sendall(session.encode(step[2:]))
            got, closed = answer(sock, quiet)
            if got:
                yield "< " + session.decode(got)
            if closed:
                yield "! closed"
                return


def differences(steps, sock, quiet):
    """Yields what is answered otherwise than the lines of a session say."""
    session = Session(steps)
    closed = False
    for step in steps:
        if step.startswith("> "):
            sock.sendall(session.encode(step[2:]))
        elif step.startswith("~ "):
            time.sleep(int(step[2:]) / 1000)
        elif step.startswith("< "):
            got, closed = answer(sock, quiet)
            if not session.matches(step[2:], got):
                yield f"{step}\n answered: {escape(got)}"
                return
        elif not closed and answer(sock, quiet) != (b"", True):
            yield step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("memcached")
    parser.add_argument("file")
    parser.add_argument("--flags", nargs="*", default=[], help="flags of memcached")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--quiet", type=float, default=0.1)
    arguments = parser.parse_args()
    with open(arguments.file, encoding="ascii") as file:
        lines = file.read().splitlines()
    play = differences if arguments.check else recorded
    written, steps = [], []
    for line in [*lines, "== end"]:
        if line and line[0] in "><!~":
            steps.append(line)
            continue
        if steps:
            written += with_server(play, steps, [arguments.memcached, *arguments.flags], arguments.quiet)
            steps = []
        if not arguments.check:
            written.append(line)
    if arguments.check:
        sys.exit("\n".join(written) or 0)
    with open(arguments.file, "w", encoding="ascii") as file:
        file.write("\n".join(written[:-1]) + "\n")


if __name__ == "__main__":
    main()
