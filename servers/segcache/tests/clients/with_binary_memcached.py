# SPDX-License-Identifier: Apache-2.0
"""Everything python-binary-memcached can do. Usage: with_binary_memcached.py HOST:PORT | unix:PATH

Prints a transcript.
"""

import sys

import bmemcached

from transcript import tell, tell_names


def storing(client):
    tell("set", client.set, "a", "text")
    tell("get", client.get, "a")
    tell("get default", client.get, "none", "nothing")
    for value in (7, 12345678901234567890, True, 1.5, None, [1, 2], {"k": "v"}, b"\r\n\0\x80\x81", "\u00fc", ""):
        tell("set", client.set, "kind", value)
        tell("get", client.get, "kind")
    for length in (0, 1, 1000, 100_000, 900_000):
        tell(f"set {length}", client.set, "long", b"x" * length, compress_level=0)
        tell(f"get {length}", lambda: client.get("long") == b"x" * length)
    tell("set later", client.set, "later", "x", time=1000)
    tell("get later", client.get, "later")
    tell("set gone", client.set, "gone", "x", time=2592001)
    tell("get gone", client.get, "gone")
    tell("add present", client.add, "a", "other")
    tell("add absent", client.add, "b", "other")
    tell("replace present", client.replace, "b", "more")
    tell("replace absent", client.replace, "none", "more")
    tell("get b", client.get, "b")
    tell("delete", client.delete, "b")
    tell("delete absent", client.delete, "b")
    tell("compressed", client.set, "zip", "x" * 100_000)
    tell("get zip", lambda: client.get("zip") == "x" * 100_000)
    tell("too large", client.set, "large", b"x" * 2_000_000, compress_level=0)
    tell("get large", client.get, "large")
    tell("longest key", client.set, "k" * 250, "x")
    tell("get longest key", client.get, "k" * 250)


def versions(client):
    tell("set", client.set, "c", "1")
    value, number = client.gets("c")
    print("gets:", value, number is not None)
    tell("cas", client.cas, "c", "2", number)
    tell("cas too late", client.cas, "c", "3", number)
    tell("cas of none", client.cas, "none", "3", number)
    tell("get", client.get, "c")
    tell("gets of none", client.gets, "none")
    value, number = client.gets("c")
    tell("delete with another number", client.delete, "c", cas=number + 1)
    tell("delete with its number", client.delete, "c", cas=number)
    tell("add as cas", client.cas, "new", "1", 0)
    tell("get new", client.get, "new")


def numbers(client):
    tell("incr makes", client.incr, "n", 5, default=10)
    for delta in (1, 7, 2**40):
        tell(f"incr {delta}", client.incr, "n", delta)
        tell(f"decr {delta}", client.decr, "n", delta)
    tell("decr below", client.decr, "n", 100)
    tell("get", client.get, "n")
    tell("decr makes", client.decr, "m", 5, default=3)
    tell("set text", client.set, "t", "text")
    tell("incr text", client.incr, "t", 1)
    tell("set digits", client.set, "t", "41")
    tell("incr digits", client.incr, "t", 1)


def many(client):
    tell("set_multi", client.set_multi, {f"m{n}": n for n in range(300)})
    tell("get_multi", lambda: sorted(client.get_multi([f"m{n}" for n in range(310)]).items()))
    found = client.get_multi(["m1", "none", "m2"], get_cas=True)
    print("get_multi cas:", sorted((key, value) for key, (value, _) in found.items()))
    tell("delete_multi", client.delete_multi, ["m0", "m1", "none"])
    tell("get_multi", lambda: sorted(client.get_multi(["m0", "m1", "m2"]).items()))
    tell("set_multi stale", lambda: sorted(client.set_multi({("m2", 1 << 60): "x", "m3": "y"})))
    tell("get_multi", lambda: sorted(client.get_multi(["m2", "m3"]).items()))


def server(client):
    figures = next(iter(client.stats().values()))
    tell_names("stats", figures, ["pid", "uptime", "curr_items", "get_hits", "cmd_set", "bytes", "evictions"])
    figures = next(iter(client.stats("settings").values()))
    tell_names("settings", figures, ["maxbytes", "maxconns", "item_size_max", "binding_protocol"])
    tell("set", client.set, "a", "text")
    tell("flush", client.flush_all)
    tell("get", client.get, "a")
    tell("set again", client.set, "a", "text")
    tell("get again", client.get, "a")
    tell("flush later", client.flush_all, 1000)
    tell("get", client.get, "a")


def main():
    address = sys.argv[1].removeprefix("unix:")
    client = bmemcached.Client((address,), socket_timeout=20)
    for part in (storing, versions, numbers, many, server):
        part(client)
        print()
    tell("key too long", client.set, "k" * 251, "x")
    client.disconnect_all()


if __name__ == "__main__":
    main()
