#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Django's tests of its Redis cache backend, and of sessions kept in it, against a server.

    cargo build --release --bin rds
    python3 servers/rds/tests/suites/django_cache.py
    python3 servers/rds/tests/suites/django_cache.py --server redis-server

See django_suite.py. Fails if a test fails, or if hardly any ran.
"""

import argparse, sys

# Leaves no compiled files in the source tree.
sys.dont_write_bytecode = True
from django_suite import Backend, run
from servers import DEFAULT, Server

BACKENDS = [Backend("redis", "RedisCache", "redis://127.0.0.1:{port}")]
PASSED_MIN = 250


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", default=DEFAULT, help="the binary to test")
    arguments = parser.parse_args()
    run(BACKENDS, lambda: Server(arguments.server), PASSED_MIN)


if __name__ == "__main__":
    main()
