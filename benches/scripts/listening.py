# SPDX-License-Identifier: Apache-2.0
"""Where a server listens, for the scripts beside this file: on ports that it has found itself, or on given ones."""
import re, socket, sys, threading


def free(count):
    """So many ports that nobody listens on."""
    socks = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    found = [sock.getsockname()[1] for sock in socks]
    for sock in socks:
        sock.close()
    return found


def ports(process, count=1):
    """The ports of its first `count` listeners on TCP, in the order of its log, which is read from then on. The
    admin port comes last."""
    found = []
    for line in process.stderr:
        found += re.findall(r"(?:listening on tcp:|admin on http://)127\.0\.0\.1:(\d+)", line)
        if len(found) == count:
            # Keep reading, or a full pipe would stop the server's log.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return [int(port) for port in found]
    sys.exit(f"{sys.argv[0]}: the server did not start")
