# SPDX-License-Identifier: Apache-2.0
"""Servers that a suite starts on free ports of 127.0.0.1 and stops when it is done."""

import os, pathlib, re, socket, subprocess, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parents[4]
# Where suites keep what they fetch and build.
FOLDER = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "suites"
DEFAULT = ROOT / "target/release/rds"
START_SECONDS_MAX = 20

# Nothing is kept on disk, and tests may use DEBUG.
FLAGS = ["--save", "", "--appendonly", "no", "--enable-debug-command", "local"]
# The admin plane of rds would want a fixed port.
CONFIG = "[admin]\nenabled = false\n"


class Server:
    """A running server; `with Server(binary) as server` stops it at the end."""

    def __init__(self, binary, *flags):
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(binary)
        self.command = [str(path.resolve()) if path.exists() else binary]
        if path.name != "redis-server":
            config = pathlib.Path(self.folder.name) / "rds.toml"
            config.write_text(CONFIG)
            self.command.append(str(config))
        self.command += ["--bind", "127.0.0.1", *FLAGS, *flags]
        # Another process can take a free port before the server does.
        for _ in range(5):
            if self._start():
                return
        raise RuntimeError(f"{binary} does not start")

    def _start(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(
            [*self.command, "--port", str(self.port)],
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


def version(port):
    """Major and minor version that the server says it is."""
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(b"INFO server\r\n")
        reply = b""
        while not (found := re.search(rb"redis_version:(\d+)\.(\d+)\.", reply)):
            if not (more := connection.recv(4096)):
                raise RuntimeError("INFO does not say redis_version")
            reply += more
    return int(found[1]), int(found[2])
