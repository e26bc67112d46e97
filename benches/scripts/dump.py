#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a list of all items takes, and what other clients notice of it.

    benches/scripts/dump.py target/release/segcache [--items 10000000] [--list "metadump all"]

Fills the server, measures GETs of 16 connections at depth 1 for some seconds, and again while one
client reads the list. Prints both p99 and the time of the list.
"""

import argparse
import random
import socket
import subprocess
import threading
import time

CONNECTIONS = 16
SECONDS = 5


def start(binary, memory):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [binary, "-l", "127.0.0.1", "-p", str(port), "-m", str(memory), "-t", "1"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server, port
        except OSError:
            time.sleep(0.05)


def fill(port, items):
    with socket.create_connection(("127.0.0.1", port)) as client:
        for begin in range(0, items, 10_000):
            some = range(begin, min(begin + 10_000, items))
            client.sendall("".join(f"set key{n} 0 0 8 noreply\r\n{n:08}\r\n" for n in some).encode())
        client.sendall(b"mn\r\n")
        while not client.recv(100).endswith(b"MN\r\n"):
            pass


def load(port, items, is_over, nanos):
    """GETs of all connections in turn, each sent when the last was answered."""
    clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(CONNECTIONS)]
    for client in clients:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while not is_over.is_set():
        for client in clients:
            request = b"get key%d\r\n" % random.randrange(items)
            begin = time.perf_counter_ns()
            client.sendall(request)
            client.recv(4096)
            nanos.append(time.perf_counter_ns() - begin)


def measured(port, items, work):
    is_over, nanos = threading.Event(), []
    thread = threading.Thread(target=load, args=(port, items, is_over, nanos))
    thread.start()
    result = work()
    is_over.set()
    thread.join()
    nanos.sort()
    return result, [nanos[len(nanos) * part // 1000] / 1000 for part in (500, 990)], len(nanos)


def read_list(port, name):
    """Reads the list with a process of its own, so that it takes nothing of this one's time."""
    script = (
        "import socket,sys,time\n"
        "s=socket.create_connection(('127.0.0.1',int(sys.argv[1])))\n"
        "t=time.time();s.sendall(b'lru_crawler '+sys.argv[2].encode()+b'\\r\\n')\n"
        "n=size=0;b=bytearray(1<<20);v=memoryview(b);last=b''\n"
        "while True:\n"
        "    got=s.recv_into(v);n+=b.count(b'\\n',0,got);size+=got\n"
        "    last=(last+bytes(v[max(0,got-8):got]))[-8:]\n"
        "    if got==0 or last.endswith((b'\\nEND\\r\\n',b'\\nEN\\r\\n')):break\n"
        "print(time.time()-t,n,size)\n"
    )
    output = subprocess.run(["python3", "-c", script, str(port), name], capture_output=True, check=True)
    seconds, lines, size = output.stdout.split()
    return float(seconds), int(lines), int(size)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--items", type=int, default=10_000_000)
    parser.add_argument("--memory", type=int, default=1024)
    parser.add_argument("--list", default="metadump all")
    arguments = parser.parse_args()
    server, port = start(arguments.binary, arguments.memory)
    try:
        fill(port, arguments.items)
        _, alone, requests = measured(port, arguments.items, lambda: time.sleep(SECONDS))
        print(f"alone: {requests} GETs, p50 {alone[0]:.0f} us, p99 {alone[1]:.0f} us")
        work = lambda: read_list(port, arguments.list)
        (seconds, lines, size), beside, requests = measured(port, arguments.items, work)
        print(f"list: {lines} lines, {size >> 20} MiB in {seconds:.1f} s")
        print(f"beside it: {requests} GETs, p50 {beside[0]:.0f} us, p99 {beside[1]:.0f} us")
        print(f"p99: {beside[1] / alone[1]:.2f}x")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
