# SPDX-License-Identifier: Apache-2.0
"""twemproxy before three servers, which SERVER says how to start at a port; one is killed and started again. Prints a
line for each thing that holds.
"""

import json, os, socket, subprocess, tempfile, time

PORTS = [11211, 11212, 11213]
FRONT = 22121
KEYS = [f"key{n}" for n in range(300)]
SECONDS_MAX = 20
CONFIG = """memcache:
  listen: 127.0.0.1:22121
  hash: fnv1a_64
  distribution: ketama
  timeout: 2000
  auto_eject_hosts: true
  server_retry_timeout: 200
  server_failure_limit: 1
  servers:
"""


def await_port(port):
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.02)
    raise SystemExit(f"nobody listens at {port}")


def start(port):
    words = [*json.loads(os.environ["SERVER"]), str(port)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    await_port(port)
    return process


def ask(port, question, end):
    """What is answered up to `end`, or up to an error of the proxy."""
    with socket.create_connection(("127.0.0.1", port), SECONDS_MAX) as connection:
        connection.sendall(question)
        answer = b""
        while not answer.endswith(end) and b"SERVER_ERROR" not in answer:
            more = connection.recv(65536)
            if not more:
                break
            answer += more
        return answer


def store():
    """How many keys the proxy stores."""
    return sum(ask(FRONT, f"set {key} 5 0 {len(key)}\r\n{key}\r\n".encode(), b"\r\n") == b"STORED\r\n" for key in KEYS)


def read():
    """How many keys the proxy reads, by one request for all; those of a dead server make it fail."""
    answer = ask(FRONT, f"get {' '.join(KEYS)}\r\n".encode(), b"END\r\n")
    return sum(f"VALUE {key} 5 {len(key)}\r\n{key}\r\n".encode() in answer for key in KEYS)


def until(name, holds):
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        if holds():
            print(name, flush=True)
            return
        time.sleep(0.05)


def main():
    servers = [start(port) for port in PORTS]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as config:
        config.write(CONFIG + "".join(f"    - 127.0.0.1:{port}:1\n" for port in PORTS))
        config.flush()
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        proxy = subprocess.Popen(["nutcracker", "-c", config.name, "-s", "22222"], **quiet)
        try:
            await_port(FRONT)
            print("stored:", store() == len(KEYS))
            print("read:", read() == len(KEYS))
            print("incr:", ask(FRONT, b"set n 0 0 2\r\n10\r\nincr n 5\r\n", b"15\r\n"))
            print("touch:", ask(FRONT, b"touch key1 100\r\n", b"\r\n"))
            print("delete:", ask(FRONT, b"delete key1\r\ndelete key1\r\n", b"NOT_FOUND\r\n"))
            counts = [ask(port, b"stats\r\n", b"END\r\n") for port in PORTS]
            print("each has some:", all(b"STAT curr_items 0\r" not in stats for stats in counts))
            servers[1].kill()
            servers[1].wait()
            until("the others take what it had", lambda: store() == len(KEYS) and read() == len(KEYS))
            servers[1] = start(PORTS[1])
            asked = lambda: store() == len(KEYS) and read() == len(KEYS)
            has_items = lambda: b"STAT curr_items 0\r" not in ask(PORTS[1], b"stats\r\n", b"END\r\n")
            until("it is used again", lambda: asked() and has_items())
            print("read:", read() == len(KEYS), "again")
        finally:
            for process in [proxy, *servers]:
                process.kill()


main()
