# SPDX-License-Identifier: Apache-2.0
"""A client that discovers the servers of a cluster: ADDRESS ADDRESS ADDRESS FILE NODES NODES writes the file twice, and
tells where keys go."""

import sys
import time

import memcache
from elasticache_pyclient import MemcacheClient

*ADDRESSES, FILE, TWO, THREE = sys.argv[1:]


def write(nodes):
    with open(FILE, "w") as file:
        file.write(nodes)


def wait_until(condition):
    deadline = time.time() + 60
    while not condition():
        if time.time() > deadline:
            raise TimeoutError
        time.sleep(0.05)


def told(version):
    """Whether the first server tells its clients of this version."""
    value = memcache.Client([ADDRESSES[0]]).get("AmazonElastiCache:cluster")
    return value.decode().split("\n")[0] == version


def spread(client, name):
    keys = {f"{name}{n}": str(n) for n in range(300)}
    for key, value in keys.items():
        client.set(key, value)
    back = all(client.get(key) == value for key, value in keys.items())
    print(client.cluster_size(), "servers, all keys come back:", back)
    servers = [memcache.Client([address]) for address in ADDRESSES]
    print("items:", *[any(server.get(key) for key in keys) for server in servers])


write(TWO)
wait_until(lambda: told("2"))
client = MemcacheClient(ADDRESSES[0], ad_interval=0.1)
spread(client, "a")
write(THREE)
wait_until(lambda: client.cluster_size() == 3)
spread(client, "b")
client.stop_timer()
