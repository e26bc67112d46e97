# SPDX-License-Identifier: Apache-2.0
"""pymemcache and redis-py on one cache. Usage: with_both.py MEMCACHE-HOST:PORT RESP-HOST:PORT PROTOCOL

Fails where the two do not see the same.
"""

import sys

import redis
from pymemcache.client.base import Client


def check(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found!r} instead of {expected!r}")


def main():
    host, port = sys.argv[1].rsplit(":", 1)
    m = Client((host, int(port)), default_noreply=False)
    host, port = sys.argv[2].rsplit(":", 1)
    r = redis.Redis(host=host, port=int(port), protocol=int(sys.argv[3]))
    r.flushall()

    m.set("k", b"hello", expire=100, flags=7)
    check("get", r.get("k"), b"hello")
    check("ttl", r.ttl("k"), 100)
    value, first = m.gets("k")
    check("append", r.append("k", "!"), 6)
    check("ttl after append", r.ttl("k"), 100)
    check("flags after append", m.raw_command(b"get k", b"END\r\n"), b"VALUE k 7 6\r\nhello!\r\n")
    check("cas with the old version", m.cas("k", b"x", first), False)
    value, second = m.gets("k")
    check("gets", value, b"hello!")
    check("cas with the new version", m.cas("k", b"x", second), True)
    check("get", r.get("k"), b"x")

    check("set", r.set("k", "anew", ex=1000), True)
    check("get", m.raw_command(b"get k", b"END\r\n"), b"VALUE k 0 4\r\nanew\r\n")
    check("touch", m.touch("k", expire=50), True)
    check("ttl", r.ttl("k"), 50)
    check("add", m.add("k", b"x"), False)
    check("setnx", r.setnx("k", "x"), False)
    check("delete", r.delete("k"), 1)
    check("get", m.get("k"), None)

    check("incr", r.incr("n", 10), 10)
    check("incr", m.incr("n", 5), 15)
    check("decr", r.decr("n"), 14)
    check("decr", m.decr("n", 6), 8)
    check("incr of a padded number", r.incr("n"), 9)

    m.set_many({f"m{n}": str(n) for n in range(100)})
    with r.pipeline(transaction=False) as pipe:
        for n in range(100):
            pipe.set(f"r{n}", n)
        pipe.execute()
    check("mget", r.mget([f"m{n}" for n in range(100)]), [b"%d" % n for n in range(100)])
    found = m.get_many([f"r{n}" for n in range(100)])
    check("get_many", found, {f"r{n}": b"%d" % n for n in range(100)})
    keys = {b"%s%d" % (kind, n) for n in range(100) for kind in (b"m", b"r")} | {b"n"}
    check("scan", set(r.scan_iter(count=50)), keys)
    large = bytes(range(256)) * 2000
    m.set("large", large)
    check("large", r.get("large"), large)
    m.flush_all()
    check("get", r.get("n"), None)
    check("scan", list(r.scan_iter()), [])


main()
