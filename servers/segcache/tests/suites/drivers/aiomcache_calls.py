# SPDX-License-Identifier: Apache-2.0
"""Everything aiomcache can do. Prints a line for each call."""

import asyncio

import aiomcache


async def tell(name, call):
    try:
        print(f"{name}: {await call!r}")
    except Exception as error:  # What is raised is part of the transcript.
        print(f"{name}: raised {type(error).__name__}: {error}")


async def main():
    client = aiomcache.FlagClient("127.0.0.1", 11211)
    await tell("flush_all", client.flush_all())
    for value in (b"text", b"", b"\r\nEND\r\n", bytes(range(256)) * 100):
        await tell("set", client.set(b"a", value))
        await tell("get", client.get(b"a"))
    await tell("get default", client.get(b"none", b"nothing"))
    await tell("multi_get", client.multi_get(b"a", b"none", b"a", b"b"))
    await tell("set later", client.set(b"later", b"x", exptime=1000))
    await tell("add present", client.add(b"a", b"x"))
    await tell("add absent", client.add(b"b", b"x"))
    await tell("replace present", client.replace(b"b", b"y"))
    await tell("replace absent", client.replace(b"none", b"y"))
    await tell("append", client.append(b"b", b"z"))
    await tell("append absent", client.append(b"none", b"z"))
    await tell("prepend", client.prepend(b"b", b"x"))
    await tell("prepend absent", client.prepend(b"none", b"x"))
    await tell("get", client.get(b"b"))
    value, cas = await client.gets(b"b")
    print("gets:", value, cas is not None)
    await tell("cas", client.cas(b"b", b"new", cas))
    await tell("cas too late", client.cas(b"b", b"newer", cas))
    await tell("cas absent", client.cas(b"none", b"newer", cas))
    await tell("set number", client.set(b"n", b"10"))
    await tell("incr", client.incr(b"n", 5))
    await tell("decr", client.decr(b"n", 7))
    await tell("decr below", client.decr(b"n", 100))
    await tell("incr absent", client.incr(b"none"))
    await tell("incr text", client.incr(b"b"))
    await tell("touch", client.touch(b"n", 100))
    await tell("touch absent", client.touch(b"none", 100))
    await tell("delete", client.delete(b"n"))
    await tell("delete absent", client.delete(b"n"))
    await tell("too large", client.set(b"large", b"x" * 2_000_000))
    await tell("goes on", client.get(b"b"))
    await tell("longest key", client.set(b"k" * 250, b"x"))
    await tell("get it", client.get(b"k" * 250))
    print("version:", b"." in await client.version())
    print("stats:", b"curr_items" in await client.stats())
    many = [client.set(b"m%d" % n, b"%d" % n) for n in range(100)]
    print("at a time:", all(await asyncio.gather(*many)))
    await tell("multi_get", client.multi_get(*(b"m%d" % n for n in range(100))))
    await tell("flush_all", client.flush_all())
    await tell("get", client.get(b"b"))
    await client.close()


asyncio.run(main())
