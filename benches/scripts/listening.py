# SPDX-License-Identifier: Apache-2.0
"""Where a server that was started on free ports listens, for the scripts beside this file."""
import re, sys, threading


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
