#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the system calls of a worker for a pipeline of GETs.

    cargo build --release --bin segcache
    python3 benches/scripts/syscalls.py --server target/release/segcache

Starts the server on a free loopback port, attaches `strace -c` to its worker thread alone (the client,
the listener and the admin thread are not counted), sends 1,000 GETs of 20-byte keys with 64-byte values
as one write on one connection, reads all replies, detaches, and prints what strace counted. Fails if it is
above 20 calls each of five times, and if a reply is wrong.

A worker also wakes up every 100 ms when nothing happens, with one call each. These are in the count; the
same measurement without any request is printed beside it. On a busy machine there are more of them, and the
requests come in more pieces, which is why one count within the bound is enough. Needs python3, strace and
the right to trace.
"""
import argparse, glob, re, shutil, signal, socket, subprocess, sys, tempfile, threading, time
import listening

REQUESTS = 1000
CALLS_MAX = 20
TRIES = 5
KEY = b"key:%016d"
VALUE = b"v" * 64


def start(binary, folder):
    """The server's process and port."""
    config = f"{folder}/server.toml"
    with open(config, "w") as file:
        file.write('[server]\nlisten = ["127.0.0.1:0"]\n[admin]\nenabled = false\n')
    process = subprocess.Popen([binary, config], stderr=subprocess.PIPE, text=True)
    return process, *listening.ports(process)


def worker(pid):
    """The id of the only worker thread."""
    for path in glob.glob(f"/proc/{pid}/task/*/comm"):
        with open(path) as file:
            if file.read().strip() == "worker 0":
                return int(path.split("/")[4])
    sys.exit("syscalls.py: the server has no thread called worker 0")


def count(thread, folder, work):
    """What strace counts for the thread while `work` runs, by call."""
    summary = f"{folder}/summary"
    tracer = subprocess.Popen(
        ["strace", "-c", "-U", "calls,name", "-o", summary, "-p", str(thread)],
        stderr=subprocess.PIPE,
        text=True,
    )
    line = tracer.stderr.readline()
    if "attached" not in line:
        sys.exit(f"syscalls.py: cannot trace: {line.strip()}")
    work()
    tracer.send_signal(signal.SIGINT)
    tracer.wait()
    calls = {}
    with open(summary) as file:
        for row in file:
            if found := re.match(r"\s*(\d+)\s+(\w+)\s*$", row):
                calls[found.group(2)] = int(found.group(1))
    total = calls.pop("total", sum(calls.values()))
    assert total == sum(calls.values()), calls
    return calls


def exchange(connection, request, replies):
    """Sends all of it, and reads the replies beside that so that neither side has to wait."""
    sender = threading.Thread(target=connection.sendall, args=(request,))
    sender.start()
    received = bytearray()
    while len(received) < len(replies):
        chunk = connection.recv(1 << 20)
        if not chunk:
            sys.exit("syscalls.py: the server closed the connection")
        received += chunk
    sender.join()
    if received != replies:
        sys.exit("syscalls.py: a reply is wrong")


def show(label, calls):
    rows = ", ".join(f"{name} {calls[name]}" for name in sorted(calls))
    print(f"{label}: {sum(calls.values())} calls ({rows})")


def main():
    parser = argparse.ArgumentParser(description="system calls of a worker for a pipeline of GETs")
    parser.add_argument("--server", default="target/release/segcache", help="the binary to measure")
    server = parser.parse_args().server
    if not shutil.which("strace"):
        sys.exit("syscalls.py: needs strace")
    folder = tempfile.mkdtemp()
    process, port = start(server, folder)
    try:
        thread = worker(process.pid)
        connection = socket.create_connection(("127.0.0.1", port), 30)
        keys = [KEY % number for number in range(REQUESTS)]
        sets = b"".join(b"set %s 0 0 64\r\n%s\r\n" % (key, VALUE) for key in keys)
        exchange(connection, sets, b"STORED\r\n" * REQUESTS)
        gets = b"".join(b"get %s\r\n" % key for key in keys)
        values = b"".join(b"VALUE %s 0 64\r\n%s\r\nEND\r\n" % (key, VALUE) for key in keys)

        for _ in range(TRIES):
            begin = time.monotonic()
            calls = count(thread, folder, lambda: exchange(connection, gets, values))
            seconds = time.monotonic() - begin
            if sum(calls.values()) <= CALLS_MAX:
                break
        idle = count(thread, folder, lambda: time.sleep(seconds))
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)
    show(f"{REQUESTS} GETs in one pipeline", calls)
    show(f"idle for as long ({seconds * 1000:.0f} ms)", idle)
    if sum(calls.values()) > CALLS_MAX:
        sys.exit(f"syscalls.py: FAILED: more than {CALLS_MAX} calls")
    print(f"at most {CALLS_MAX} allowed: ok")


if __name__ == "__main__":
    main()
