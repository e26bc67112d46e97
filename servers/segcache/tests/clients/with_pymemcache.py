# SPDX-License-Identifier: Apache-2.0
"""Everything pymemcache can do. Usage: with_pymemcache.py HOST:PORT | unix:PATH [CA-FILE]

With a CA file the connection is encrypted. Prints a transcript.
"""

import ssl
import sys

from pymemcache.client.base import Client, PooledClient
from pymemcache.client.hash import HashClient

from transcript import tell, tell_names

GENERAL = """pid uptime time version pointer_size curr_connections total_connections cmd_get cmd_set
cmd_flush cmd_touch get_hits get_misses delete_misses delete_hits incr_misses incr_hits decr_misses
decr_hits cas_misses cas_hits cas_badval touch_hits touch_misses bytes_read bytes_written
limit_maxbytes threads bytes curr_items total_items evictions""".split()
SETTINGS = "maxbytes maxconns tcpport evictions num_threads cas_enabled item_size_max".split()


def address():
    where = sys.argv[1]
    if where.startswith("unix:"):
        return where
    host, port = where.rsplit(":", 1)
    return (host, int(port))


def options():
    if len(sys.argv) < 3:
        return {}
    context = ssl.create_default_context(cafile=sys.argv[2])
    # The name in the certificate is localhost, and pymemcache gives the host it connects to.
    context.check_hostname = False
    return {"tls_context": context}


def storing(client):
    tell("set", client.set, "a", b"1")
    tell("get", client.get, "a")
    tell("get default", client.get, "none", default="nothing")
    tell("set flags", client.set, "flags", b"x", flags=4294967295, noreply=False)
    tell("set expire", client.set, "later", b"x", expire=100, noreply=False)
    tell("set gone", client.set, "gone", b"x", expire=-1, noreply=False)
    tell("get gone", client.get, "gone")
    tell("set far", client.set, "far", b"x", expire=2100000000, noreply=False)
    tell("get far", client.get, "far")
    tell("add present", client.add, "a", b"2", noreply=False)
    tell("add absent", client.add, "b", b"2", noreply=False)
    tell("replace present", client.replace, "b", b"3", noreply=False)
    tell("replace absent", client.replace, "none", b"3", noreply=False)
    tell("append", client.append, "b", b"4", noreply=False)
    tell("append absent", client.append, "none", b"4", noreply=False)
    tell("prepend", client.prepend, "b", b"2", noreply=False)
    tell("prepend absent", client.prepend, "none", b"2", noreply=False)
    tell("get b", client.get, "b")
    tell("delete", client.delete, "b", noreply=False)
    tell("delete absent", client.delete, "b", noreply=False)
    tell("empty", client.set, "empty", b"", noreply=False)
    tell("get empty", client.get, "empty")
    tell("binary", client.set, "binary", bytes(range(256)) + b"\r\nEND\r\n", noreply=False)
    print("binary:", client.get("binary") == bytes(range(256)) + b"\r\nEND\r\n")
    tell("leading zeros", client.set, "zeros", b"007", noreply=False)
    tell("get zeros", client.get, "zeros")


def many(client):
    tell("set_many", client.set_many, {f"m{n}": str(n) for n in range(100)}, noreply=False)
    tell("set_many quiet", client.set_many, {f"m{n}": str(n) for n in range(100, 200)})
    tell("get_many", client.get_many, [f"m{n}" for n in range(210)])
    tell("get_many none", client.get_many, [])
    tell("gets_many", lambda: sorted(client.gets_many(["m1", "m2", "none"])))
    tell("delete_many", client.delete_many, ["m1", "m2", "none"], noreply=False)
    tell("get_many", client.get_many, ["m1", "m2", "m3"])


def compare_and_swap(client):
    client.set("c", b"1", noreply=False)
    value, cas = client.gets("c")
    print("gets:", value, cas.isdigit())
    tell("cas", client.cas, "c", b"2", cas)
    tell("cas again", client.cas, "c", b"3", cas)
    tell("cas absent", client.cas, "none", b"3", cas)
    tell("cas bad", client.cas, "c", b"3", b"abc")
    tell("gets absent", client.gets, "none")
    tell("get", client.get, "c")
    before = client.gets("c")
    client.touch("c", 50, noreply=False)
    print("a touch keeps the number:", client.gets("c") == before)


def counting(client):
    client.set("n", b"10", noreply=False)
    tell("incr", client.incr, "n", 5)
    tell("decr", client.decr, "n", 7)
    tell("get", client.get, "n")
    tell("decr below", client.decr, "n", 100)
    tell("incr absent", client.incr, "none", 1)
    tell("decr absent", client.decr, "none", 1)
    client.set("n", b"18446744073709551610", noreply=False)
    tell("incr wraps", client.incr, "n", 10)
    client.set("n", b"word", noreply=False)
    tell("incr word", client.incr, "n", 1)
    tell("incr bad", client.incr, "n", "x")
    client.set("n", b"1", noreply=False)
    tell("incr quiet", client.incr, "n", 2, noreply=True)
    tell("decr quiet", client.decr, "n", 1, noreply=True)
    tell("get", client.get, "n")


def touching(client):
    client.set("t", b"1", noreply=False)
    tell("touch", client.touch, "t", 100, noreply=False)
    tell("touch absent", client.touch, "none", 100, noreply=False)
    # It has no method for these.
    tell("gat", client.raw_command, b"gat 100 t", b"END\r\n")
    tell("gat absent", client.raw_command, b"gat 100 none", b"END\r\n")
    tell("gats", lambda: client.raw_command(b"gats 100 t", b"END\r\n").split()[:4])
    tell("touch gone", client.touch, "t", -1, noreply=False)
    tell("get gone", client.get, "t")


def limits(client):
    for length in (100_000, 600_000, 1_000_000):
        value = bytes(range(250)) * (length // 250)
        tell(f"set {length}", client.set, "large", value, noreply=False)
        print("comes back:", client.get("large") == value)
    tell("too large", client.set, "large", b"x" * 1_100_000, noreply=False)
    tell("no old value", client.get, "large")
    tell("goes on", client.set, "large", b"small", noreply=False)
    tell("too large for add", client.add, "large2", b"x" * 1_100_000, noreply=False)
    tell("longest key", client.set, "k" * 250, b"1", noreply=False)
    tell("get it", client.get, "k" * 250)
    tell("key too long", client.set, "k" * 251, b"1", noreply=False)
    tell("key with a space", client.get, "a b")


def telling(client):
    tell_names("stats", client.stats(), GENERAL)
    tell_names("stats settings", client.stats("settings"), SETTINGS)
    numbers = [name for name in client.stats("items") if name.endswith(b":number")]
    print("stats items:", len(numbers) > 0)
    tell_names("stats slabs", client.stats("slabs"), ["active_slabs", "total_malloced"])
    states = [name for name in client.stats("conns") if name.endswith(b":state")]
    print("stats conns:", len(states) > 0)
    before = client.stats()[b"cmd_get"]
    client.get("a")
    print("a get counts:", int(client.stats()[b"cmd_get"]) - int(before))
    tell("stats unknown", client.stats, "nothing")
    tell("verbosity", client.raw_command, b"verbosity 1")
    tell("stats reset", client.raw_command, b"stats reset")
    print("cmd_set after reset:", client.stats()[b"cmd_set"])
    print("version:", len(client.version()) > 0)
    tell("unknown", client.raw_command, b"nonsense")


def flushing(client):
    client.set("f", b"1", noreply=False)
    tell("flush_all", client.flush_all, noreply=False)
    tell("get", client.get, "f")
    client.set("f", b"1", noreply=False)
    tell("flush_all 0", client.flush_all, delay=0, noreply=False)
    tell("get", client.get, "f")
    client.set("f", b"2", noreply=False)
    tell("flush_all later", client.flush_all, delay=1000, noreply=False)
    tell("get", client.get, "f")
    tell("flush_all quiet", client.flush_all)
    tell("get", client.get, "f")


def others(where, more):
    pooled = PooledClient(where, max_pool_size=4, **more)
    tell("pooled set", pooled.set, "p", b"1", noreply=False)
    tell("pooled get_many", pooled.get_many, ["p", "none"])
    pooled.close()
    hashed = HashClient([where], use_pooling=True, **more)
    tell("hashed set_many", hashed.set_many, {"h1": b"1", "h2": b"2"}, noreply=False)
    tell("hashed get_many", hashed.get_many, ["h1", "h2", "none"])
    tell("hashed delete", hashed.delete, "h1", noreply=False)
    hashed.close()


def main():
    where, more = address(), options()
    more.update(connect_timeout=10, timeout=30)
    client = Client(where, no_delay=not isinstance(where, str), **more)
    client.flush_all(noreply=False)
    parts = [storing, many, compare_and_swap, counting, touching, limits, telling, flushing]
    for part in parts:
        print(f"== {part.__name__}")
        part(client)
    print("== others")
    others(where, more)
    tell("quit", client.quit)
    tell("get on a new connection", client.get, "none")
    client.close()


if __name__ == "__main__":
    main()
