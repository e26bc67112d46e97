# SPDX-License-Identifier: Apache-2.0
"""Servers that a suite starts on free ports of 127.0.0.1 and stops when it is done."""

import os, pathlib, re, socket, subprocess, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[4]
# Where suites keep what they fetch and build.
FOLDER = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "suites"
DEFAULT = ROOT / "target/release/rds"
DEFAULT_MEMCACHE = ROOT / "target/release/segcache"
START_SECONDS_MAX = 60

# Nothing is kept on disk, and tests may use DEBUG.
FLAGS = ["--save", "", "--appendonly", "no", "--enable-debug-command", "local"]
# The admin plane would want a fixed port.
CONFIG = "[admin]\nenabled = false\n"


def free_port():
    """A port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Process:
    """A server on a free port; `with` stops it at the end.

    `command` makes its command line of the path of a file that has `config`, and a port.
    """

    def __init__(self, name, config, command):
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name) / "server.toml"
        path.write_text(config)
        # Another process can take a free port before the server does.
        for _ in range(5):
            self.port = free_port()
            if self._start(command(path, self.port)):
                return
        raise RuntimeError(f"{name} does not start")

    def _start(self, command):
        self.process = subprocess.Popen(
            [str(word) for word in command],
            cwd=self.folder.name,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + START_SECONDS_MAX
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return True
            except OSError:
                time.sleep(0.02)
        self.stop()
        return False

    def stop(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()


class Server(Process):
    """rds or redis-server."""

    def __init__(self, binary, *flags):
        def command(config, port):
            configured = [] if path.name == "redis-server" else [config]
            return [named(path), *configured, "--bind", "127.0.0.1", *FLAGS, *flags, "--port", port]

        path = pathlib.Path(binary)
        super().__init__(binary, CONFIG, command)


class Memcache(Process):
    """segcache or memcached."""

    def __init__(self, binary, storage="seg"):
        def command(config, port):
            # As root it wants to be told whom to run as.
            configured = ["-u", "root"] if path.name == "memcached" else [config]
            return [named(path), *configured, "-l", "127.0.0.1", "-p", port]

        path = pathlib.Path(binary)
        super().__init__(binary, f'{CONFIG}[cache]\nstorage = "{storage}"\n', command)


def named(path):
    """A path as it is, wherever one is; a name to look for stays one."""
    return path.resolve() if path.exists() else path


class Running:
    """A server that somebody else has started and will stop."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        if host not in ("127.0.0.1", "localhost"):
            raise ValueError("suites empty the server they test: only one of this machine")
        self.port = int(port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def ask(port, question, pattern):
    """Asks a server something, and waits until the reply has a match of the pattern."""
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(question.encode() + b"\r\n")
        reply = b""
        while not (found := re.search(pattern, reply)):
            if not (more := connection.recv(4096)):
                raise RuntimeError(f"{question} does not say {pattern}")
            reply += more
    return found


def version(port):
    """Major and minor version that the server says it is."""
    found = ask(port, "INFO server", rb"redis_version:(\d+)\.(\d+)\.")
    return int(found[1]), int(found[2])
