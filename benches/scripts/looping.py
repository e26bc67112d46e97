#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What clients of one worker notice of a script that loops on another.

    benches/scripts/looping.py target/release/rds [--rounds 5] [--seconds 3]

GETs of a few connections of one worker, each sent when the last was answered, are timed: alone, and while a client of
the other worker runs scripts that do not end. Each of these is ended after 100 ms, and the next one begins. They have
no keys: what a script has declared is locked as long as it runs, and who uses that has to wait. Prints both p99 of
each round, and the median of how much they rose.
"""
import argparse, random, socket, statistics, subprocess, tempfile, threading, time
import listening

CONFIG = """[server]
listen = ["127.0.0.1:0"]
[worker]
threads = 2
[admin]
enabled = false
"""
CONNECTIONS = 16
TIMED = 4
KEYS = 1000
ENDLESS = ("EVAL", "while true do end", "0")
PAUSE_SECONDS = 0.05


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, *words):
        parts = [f"*{len(words)}\r\n", *(f"${len(word)}\r\n{word}\r\n" for word in words)]
        self.socket.sendall("".join(parts).encode())

    def ask(self, *words):
        """A reply, which must come in one piece."""
        self.send(*words)
        return self.socket.recv(4096)


def others(clients):
    """The clients that do not wait while the first one runs a script: another worker serves them."""
    clients[0].send(*ENDLESS)
    time.sleep(PAUSE_SECONDS / 5)
    served = []
    for client in clients[1:]:
        client.send("PING")
    for client in clients[1:]:
        client.socket.settimeout(PAUSE_SECONDS / 10)
        try:
            client.socket.recv(100)
            served.append(client)
        except TimeoutError:
            pass
    assert clients[0].socket.recv(4096).startswith(b"-ERR Script ended"), "it was ended"
    for client in clients[1:]:
        client.socket.settimeout(60)
        if client not in served:
            client.socket.recv(100)
    return served


def p99(clients, seconds):
    """Of GETs of all these in turn, in microseconds."""
    nanos, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        for client in clients:
            key = f"key:{random.randrange(KEYS)}"
            begin = time.perf_counter_ns()
            client.ask("GET", key)
            nanos.append(time.perf_counter_ns() - begin)
    nanos.sort()
    return nanos[len(nanos) * 99 // 100] / 1000


def loop(client, is_over):
    while not is_over.is_set():
        assert client.ask(*ENDLESS).startswith(b"-ERR Script ended"), "it was ended"


def disturbed(looping, clients, seconds):
    """The p99 while scripts loop. What waits for them takes no time of this process's."""
    is_over = threading.Event()
    thread = threading.Thread(target=loop, args=(looping, is_over))
    thread.start()
    time.sleep(PAUSE_SECONDS)
    found = p99(clients, seconds)
    is_over.set()
    thread.join()
    return found


def main():
    parser = argparse.ArgumentParser(description="p99 beside a script that loops")
    parser.add_argument("binary")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    args = parser.parse_args()
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(CONFIG)
        file.flush()
        server = subprocess.Popen([args.binary, file.name], stderr=subprocess.PIPE, text=True)
        try:
            [port] = listening.ports(server)
            clients = [Client(port) for _ in range(CONNECTIONS)]
            clients[0].ask("CONFIG", "SET", "busy-reply-threshold", "100")
            for number in range(KEYS):
                clients[0].ask("SET", f"key:{number}", "v" * 64)
            timed = others(clients)[:TIMED]
            assert timed, "no connection is the other worker's"
            rises = []
            for number in range(args.rounds):
                alone = p99(timed, args.seconds)
                beside = disturbed(clients[0], timed, args.seconds)
                rises.append(beside / alone)
                print(f"round {number + 1}: p99 {alone:.0f} us alone, {beside:.0f} us beside: {rises[-1]:.2f}x")
            print(f"median: {statistics.median(rises):.2f}x")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
