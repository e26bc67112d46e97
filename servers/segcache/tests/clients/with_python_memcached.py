# SPDX-License-Identifier: Apache-2.0
"""Everything python-memcached can do. Usage: with_python_memcached.py HOST:PORT | unix:PATH

Prints a transcript.
"""

import sys

import memcache

from transcript import tell, tell_names


def storing(client):
    tell("set", client.set, "a", "text")
    tell("get", client.get, "a")
    tell("get default", client.get, "none", "nothing")
    for value in (7, 12345678901234567890, True, 1.5, None, [1, 2], {"k": "v"}, b"\r\n\0", "\u00fc"):
        tell("set", client.set, "kind", value)
        tell("get", client.get, "kind")
    tell("set gone", client.set, "gone", "x", time=-1)
    tell("get gone", client.get, "gone")
    tell("set later", client.set, "later", "x", time=1000)
    tell("get later", client.get, "later")
    tell("set quiet", client.set, "quiet", "x", noreply=True)
    tell("get quiet", client.get, "quiet")
    tell("add present", client.add, "a", "other")
    tell("add absent", client.add, "b", "other")
    tell("replace present", client.replace, "b", "more")
    tell("replace absent", client.replace, "none", "more")
    tell("append", client.append, "b", " behind")
    tell("append absent", client.append, "none", "x")
    tell("prepend", client.prepend, "b", "before ")
    tell("prepend absent", client.prepend, "none", "x")
    tell("get b", client.get, "b")
    tell("delete", client.delete, "b")
    tell("delete absent", client.delete, "b")
    tell("delete quiet", client.delete, "a", noreply=True)
    tell("get a", client.get, "a")
    tell("compressed", client.set, "zip", "x" * 100_000, min_compress_len=1000)
    tell("get zip", lambda: client.get("zip") == "x" * 100_000)


def many(client):
    tell("set_multi", client.set_multi, {f"m{n}": n for n in range(200)})
    tell("set_multi prefix", client.set_multi, {"x": 1, "y": 2}, key_prefix="p_")
    tell("get_multi", client.get_multi, [f"m{n}" for n in range(210)])
    tell("get_multi prefix", client.get_multi, ["x", "y", "z"], key_prefix="p_")
    tell("delete_multi", client.delete_multi, ["m0", "m1", "none"])
    tell("get_multi", client.get_multi, ["m0", "m1", "m2"])


def compare_and_swap(client):
    client.set("c", "1")
    tell("gets", client.gets, "c")
    tell("cas", client.cas, "c", "2")
    tell("get", client.get, "c")
    tell("gets", client.gets, "c")
    client.set("c", "3")
    tell("cas too late", client.cas, "c", "4")
    tell("get", client.get, "c")
    client.reset_cas()


def counting(client):
    client.set("n", 10)
    tell("incr", client.incr, "n")
    tell("incr", client.incr, "n", 5)
    tell("decr", client.decr, "n", 7)
    tell("get", client.get, "n")
    tell("decr below", client.decr, "n", 100)
    tell("incr absent", client.incr, "none")
    tell("decr absent", client.decr, "none")
    client.set("n", "word")
    tell("incr word", client.incr, "n")
    client.set("n", "1")
    tell("incr quiet", client.incr, "n", 2, noreply=True)
    tell("get", client.get, "n")


def touching(client):
    client.set("t", "1")
    tell("touch", client.touch, "t", 100)
    tell("touch absent", client.touch, "none", 100)
    tell("touch quiet", client.touch, "t", 100, noreply=True)
    tell("get", client.get, "t")


def limits(client):
    value = "v" * 1_000_000
    tell("large", client.set, "large", value)
    tell("comes back", lambda: client.get("large") == value)
    tell("too large", client.set, "large", "v" * 1_100_000)
    tell("no old value", client.get, "large")
    tell("longest key", client.set, "k" * 250, "1")
    tell("get it", client.get, "k" * 250)
    tell("key too long", client.set, "k" * 251, "1")


def telling(client):
    (_, general), = client.get_stats()
    tell_names("stats", general, ["pid", "uptime", "curr_items", "cmd_get", "limit_maxbytes"])
    (_, settings), = client.get_stats("settings")
    tell_names("stats settings", settings, ["maxbytes", "maxconns", "num_threads"])
    print("stats items:", len(client.get_stats("items")))
    tell("slab stats", lambda: len(client.get_slab_stats()))


def flushing(client):
    client.set("f", "1")
    tell("flush_all", client.flush_all)
    tell("get", client.get, "f")


def main():
    client = memcache.Client([sys.argv[1]], cache_cas=True, socket_timeout=30, server_max_value_length=1 << 30)
    client.flush_all()
    parts = [storing, many, compare_and_swap, counting, touching, limits, telling, flushing]
    for part in parts:
        print(f"== {part.__name__}")
        part(client)
    client.disconnect_all()
    tell("get on a new connection", client.get, "none")
    client.disconnect_all()


if __name__ == "__main__":
    main()
