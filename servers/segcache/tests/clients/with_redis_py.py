# SPDX-License-Identifier: Apache-2.0
"""What redis-py can do with strings. Usage: with_redis_py.py HOST:PORT | unix:PATH PROTOCOL [CA-FILE]

PROTOCOL is 2 or 3. With a CA file the connection is encrypted. Prints a transcript.
"""

import sys
import time

import redis

from transcript import shown, tell


def client(**more):
    where, protocol = sys.argv[1], int(sys.argv[2])
    options = {"protocol": protocol, **more}
    if where.startswith("unix:"):
        return redis.Redis(unix_socket_path=where[len("unix:"):], **options)
    host, port = where.rsplit(":", 1)
    if len(sys.argv) > 3:
        options.update(ssl=True, ssl_ca_certs=sys.argv[3], ssl_check_hostname=False)
    return redis.Redis(host=host, port=int(port), **options)


def values(r):
    tell("set", r.set, "a", "1")
    tell("get", r.get, "a")
    tell("get absent", r.get, "none")
    tell("bytes", r.set, "bytes", bytes(range(256)))
    tell("get bytes", r.get, "bytes")
    tell("empty", r.set, "empty", "")
    tell("get empty", r.get, "empty")
    tell("nx present", r.set, "a", "2", nx=True)
    tell("xx absent", r.set, "none", "2", xx=True)
    tell("get before", r.set, "a", "3", get=True)
    tell("ex", r.set, "later", "x", ex=100)
    tell("ttl", r.ttl, "later")
    tell("keepttl", r.set, "later", "y", keepttl=True)
    tell("ttl", r.ttl, "later")
    tell("px", r.set, "later", "x", px=100_000)
    tell("ttl", r.ttl, "later")
    at = int(time.time()) + 1000
    tell("exat", r.set, "later", "x", exat=at)
    print("expiretime:", r.expiretime("later") == at)
    tell("pxat", r.set, "later", "x", pxat=at * 1000 + 7)
    print("pexpiretime:", r.pexpiretime("later") == at * 1000 + 7)
    tell("setex", r.setex, "later", 100, "x")
    tell("psetex", r.psetex, "later", 100_000, "x")
    tell("setnx present", r.setnx, "a", "x")
    tell("setnx absent", r.setnx, "b", "x")
    tell("getset", r.getset, "b", "y")
    tell("getdel", r.getdel, "b")
    tell("getdel absent", r.getdel, "b")
    tell("getex", r.getex, "a", ex=100)
    tell("getex persist", r.getex, "a", persist=True)
    tell("ttl", r.ttl, "a")
    tell("mset", r.mset, {"x": "1", "y": "2", "z": "3"})
    tell("mget", r.mget, "x", "none", "z")
    tell("msetnx present", r.msetnx, {"x": "1"})
    tell("msetnx absent", r.msetnx, {"new": "1"})
    tell("setex wrong", r.setex, "later", 0, "x")
    large = b"v" * 1_000_000
    tell("large", r.set, "large", large)
    print("comes back:", r.get("large") == large)
    tell("strlen", r.strlen, "large")
    tell("dictionary", lambda: r["a"])
    tell("dictionary absent", lambda: r["none"])
    tell("in", lambda: "a" in r)


def numbers(r):
    tell("incr", r.incr, "n")
    tell("incr by", r.incr, "n", 41)
    tell("decr", r.decr, "n", 2)
    tell("incrby", r.incrby, "n", -100)
    tell("get", r.get, "n")
    tell("incrbyfloat", r.incrbyfloat, "f", 0.1)
    tell("incrbyfloat", r.incrbyfloat, "f", 0.2)
    tell("incr text", r.incr, "bytes")
    tell("set padded", r.set, "n", "007")
    tell("incr padded", r.incr, "n")
    tell("overflow", lambda: (r.set("n", 2**63 - 1), r.incr("n")))


def parts(r):
    tell("append", r.append, "p", "hello")
    tell("append", r.append, "p", " world")
    tell("getrange", r.getrange, "p", -5, -1)
    tell("substr", r.substr, "p", 0, 4)
    tell("setrange", r.setrange, "p", 6, "redis")
    tell("get", r.get, "p")
    tell("setrange beyond", r.setrange, "q", 3, "x")
    tell("get", r.get, "q")
    tell("strlen", r.strlen, "p")


def keys(r):
    tell("exists", r.exists, "a", "none", "a")
    tell("touch", r.touch, "a", "none")
    tell("type", r.type, "a")
    tell("type absent", r.type, "none")
    tell("expire", r.expire, "a", 100)
    tell("expire gt", r.expire, "a", 10, gt=True)
    tell("expire lt", r.expire, "a", 50, lt=True)
    tell("ttl", r.ttl, "a")
    tell("persist", r.persist, "a")
    tell("persist again", r.persist, "a")
    tell("ttl", r.ttl, "a")
    tell("ttl absent", r.ttl, "none")
    tell("pexpire", r.pexpire, "a", 100_000)
    tell("expireat", r.expireat, "a", int(time.time()) + 100)
    tell("pexpireat", r.pexpireat, "a", int(time.time() * 1000) + 100_000)
    print("pttl:", 90_000 < r.pttl("a") <= 100_000)
    tell("expire now", r.expire, "a", -1)
    tell("get", r.get, "a")
    print("scan:", sorted(r.scan_iter()) == sorted(r.keys()))
    print("match:", sorted(r.scan_iter(match="?")))
    print("type:", sorted(r.scan_iter(_type="hash")))
    print("keys:", sorted(r.keys("[x-z]")))
    tell("delete", r.delete, "x", "y", "none")
    tell("unlink", r.unlink, "z")
    tell("delete absent", r.delete, "x")
    tell("flushdb", r.flushdb)
    tell("dbsize", r.dbsize)
    tell("flushall", r.flushall, asynchronous=True)


def pipelines(r):
    with r.pipeline(transaction=False) as pipe:
        for n in range(1000):
            pipe.set(f"k{n}", n).get(f"k{n}").incr(f"k{n}").expire(f"k{n}", 100)
        results = pipe.execute()
    print("pipeline:", len(results), shown(results[:8]), shown(results[-4:]))
    with r.pipeline(transaction=False) as pipe:
        pipe.set("text", "x").incr("text").get("text")
        results = pipe.execute(raise_on_error=False)
    print("errors:", [shown(result) for result in results])


def connections(r):
    tell("ping", r.ping)
    tell("echo", r.echo, "hello")
    tell("client setname", r.client_setname, "me")
    tell("client getname", r.client_getname)
    tell("client id", lambda: isinstance(r.client_id(), int))
    me = r.client_info()
    print("client info:", me["name"], me["cmd"], me["resp"], me["db"])
    print("client list:", [one["name"] for one in r.client_list() if one["name"]])
    tell("client no-evict", r.client_no_evict, "on")
    tell("select", lambda: r.execute_command("SELECT", 0))
    tell("select wrong", lambda: r.execute_command("SELECT", 10_000))
    tell("unknown", lambda: r.execute_command("NONSENSE", "a", "b"))
    tell("arity", lambda: r.execute_command("GET"))
    tell("config get", r.config_get, "save")
    tell("info", lambda: r.info("replication")["role"])
    tell("info loading", lambda: r.info("persistence")["loading"])
    tell("info version", lambda: r.info()["redis_mode"])
    tell("time", lambda: abs(r.time()[0] - time.time()) < 10)
    tell("command count", lambda: r.command_count() > 50)
    tell("command info", lambda: r.command_info("get")["get"]["arity"])
    tell("reset", r.reset)


def main():
    with client(client_name="name-from-start") as r:
        tell("name", r.client_getname)
        tell("flush", r.flushall)
        values(r)
        numbers(r)
        parts(r)
        keys(r)
        pipelines(r)
        connections(r)
    with client(decode_responses=True, db=0) as r:
        tell("decoded", lambda: (r.set("a", "text"), r.get("a")))
        tell("lock", lambda: r.set("lock", "token", nx=True, px=10_000))
        tell("lock again", lambda: r.set("lock", "other", nx=True, px=10_000))


main()
