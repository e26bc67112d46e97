# SPDX-License-Identifier: Apache-2.0
"""redis-py's RedisCluster over three nodes, one of which listens at the port that is given."""

import sys

from redis.cluster import RedisCluster
from redis.exceptions import RedisClusterException, ResponseError


def use(client, protocol):
    count = 2000
    for number in range(count):
        client.set(f"key:{number}", number)
    for number in range(count):
        assert client.get(f"key:{number}") == str(number).encode()
    pipeline = client.pipeline()
    for number in range(500):
        pipeline.incr(f"key:{number}")
    assert pipeline.execute() == [number + 1 for number in range(500)]
    assert client.dbsize(target_nodes=RedisCluster.PRIMARIES) == count
    assert len(set(client.scan_iter(count=100))) == count
    assert len(client.get_nodes()) == 3
    assert client.cluster_info()["cluster_state"] == "ok"
    assert len(client.cluster_slots()) == 3
    assert len(client.cluster_nodes()) == 3
    assert len(client.cluster_shards()) == 3
    assert client.cluster_keyslot("foo") == 12182
    client.mset_nonatomic({f"many:{number}": number for number in range(50)})
    assert client.mget_nonatomic([f"many:{number}" for number in range(50)])[49] == b"49"
    with client.pipeline(transaction=True) as transaction:
        transaction.set("{tag}a", 1)
        transaction.incr("{tag}a")
        assert transaction.execute() in ([True, 2], [b"OK", 2])
    try:
        client.mget("foo", "bar")
        raise AssertionError("keys of two slots")
    except (RedisClusterException, ResponseError):
        pass
    channels = client.pubsub()
    channels.ssubscribe("channel")
    assert channels.get_sharded_message(timeout=10)["type"] == "ssubscribe"
    client.spublish("channel", "hi")
    assert channels.get_sharded_message(timeout=10)["data"] == b"hi"
    channels.close()
    assert client.delete("many:1", "many:2") == 2
    client.flushall(target_nodes=RedisCluster.PRIMARIES)
    assert client.dbsize(target_nodes=RedisCluster.PRIMARIES) == 0
    client.close()
    print(f"RESP{protocol}")


for protocol in (2, 3):
    use(RedisCluster(host="127.0.0.1", port=int(sys.argv[1]), protocol=protocol), protocol)
print("done")
