#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Django's tests of its memcached backends, with pymemcache and with pylibmc, which is libmemcached, and
of sessions kept in them, against a server.

    cargo build --release --bin segcache
    python3 servers/segcache/tests/suites/django_cache.py
    python3 servers/segcache/tests/suites/django_cache.py --storage hashmap
    python3 servers/segcache/tests/suites/django_cache.py --server memcached

See django_suite.py of rds. Fails if a test fails, or if hardly any ran.
"""

import argparse, pathlib, sys

# Leaves no compiled files in the source tree.
sys.dont_write_bytecode = True
# What suites have in common is there.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "rds/tests/suites"))
from django_suite import Backend, run
from servers import DEFAULT_MEMCACHE, Memcache

BACKENDS = [
    Backend("memcached", "PyMemcacheCache", "127.0.0.1:{port}"),
    Backend("memcached", "PyLibMCCache", "127.0.0.1:{port}"),
]
PASSED_MIN = 250


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", default=DEFAULT_MEMCACHE, help="the binary to test")
    parser.add_argument("--storage", default="seg", help="what keeps segcache's items")
    arguments = parser.parse_args()
    run(BACKENDS, lambda: Memcache(arguments.server, arguments.storage), PASSED_MIN)


if __name__ == "__main__":
    main()
