#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for `docker` where node-redis's tests start servers: starts the server under test as a process.

SERVER, in JSON, is its command line, without what the tests want of it. They `build` an image with arguments for the
server, whose name here is those arguments; `run` it, which prints what they `rm` later: here a process.
"""

import json, os, signal, subprocess, sys

# Words of arguments cannot be empty: a shell splits the name of an image.
EMPTY = "EMPTY"


def main():
    verb, words = sys.argv[1], sys.argv[2:]
    if verb == "build":
        given = next(word for word in words if word.startswith("REDIS_ARGUMENTS="))
        print(given.split("=", 1)[1].replace("''", EMPTY))
    elif verb == "run":
        # Behind -d --network host.
        arguments = ["" if word == EMPTY else word for word in words[3:]]
        quiet = {name: subprocess.DEVNULL for name in ("stdin", "stdout", "stderr")}
        server = [*json.loads(os.environ["SERVER"]), *arguments]
        print(subprocess.Popen(server, cwd=os.environ["SERVER_FOLDER"], start_new_session=True, **quiet).pid)
    elif verb == "rm":
        os.kill(int(words[-1]), signal.SIGKILL)


if __name__ == "__main__":
    main()
