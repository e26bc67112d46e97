# SPDX-License-Identifier: Apache-2.0
"""Runs a command in a network of its own, where servers listen on the ports that a suite expects.

Suites have their servers' addresses written into them, such as 127.0.0.1:11211, and empty the servers that they find there.
In a network of their own they find those under test, several can run at a time, and no other server is emptied.

usage: private_network.py '{"servers": [[WORD...], ...]}' WORD...

Each of `servers` is a command line, which has started when its port, the last word, can be connected to.
"""

import fcntl, json, os, signal, socket, struct, subprocess, sys, time

START_SECONDS_MAX = 20


def wrapped(servers, command):
    """The command line that runs a command beside servers, for a process of this machine's network."""
    # A user other than root may do it as root of a namespace of users.
    user = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    words = ["unshare", "--net", *user, sys.executable, __file__, json.dumps({"servers": servers}), *command]
    return [str(word) for word in words]


def bring_up_loopback():
    get_flags, set_flags, up = 0x8913, 0x8914, 1
    with socket.socket() as any_socket:
        request = fcntl.ioctl(any_socket, get_flags, struct.pack("16sh14x", b"lo", 0))
        [flags] = struct.unpack_from("h", request, 16)
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh14x", b"lo", flags | up))


def await_port(process, port):
    deadline = time.monotonic() + START_SECONDS_MAX
    while process.poll() is None and time.monotonic() < deadline:
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.02)
    sys.exit(f"{process.args[0]} does not start")


def main():
    servers = json.loads(sys.argv[1])["servers"]
    bring_up_loopback()
    # What servers log would come in between the results of the tests.
    quiet = {name: subprocess.DEVNULL for name in ("stdin", "stdout", "stderr")}
    running = [subprocess.Popen(server, **quiet) for server in servers]
    # Whoever ends this process ends the servers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        for process in running:
            await_port(process, int(process.args[-1]))
        return subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL).returncode
    finally:
        for process in running:
            process.kill()


if __name__ == "__main__":
    sys.exit(main())
