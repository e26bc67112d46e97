// SPDX-License-Identifier: Apache-2.0
// Calls every method of ioredis that is a command, for a key of each type and with several arguments, alone, in pipelines
// and in transactions, and prints what they give. ioredis's tests are not in its package. Two servers are alike for it if
// this prints the same beside both. usage: node ioredis_calls.mjs

import { createRequire } from "node:module";
// From the folder it is started in, not that of this file.
const Redis = createRequire(`${process.cwd()}/`)("ioredis");

const FIXTURE = `SET string value|SET number 10|RPUSH list a b c 1|HSET hash a 1 b 2 c 3|SADD set a b c|ZADD zset 1 a 2 b 3 c
|XADD stream 1-1 a b|XADD stream 2-1 c d|XGROUP CREATE stream a 0|PFADD log a b c
|GEOADD geo 13.361389 38.115556 a 15.087269 37.502669 b`;
const KEYS = ["string", "number", "list", "hash", "set", "zset", "stream", "log", "geo", "none"];
const MORE = [[], ["a"], ["1"], ["a", "1"], ["1", "a"], ["0", "-1"], ["-", "+"], ["a", "1", "b"], ["1", "2", "x"]];

// What differs from one time to the next, ends or changes the connection, waits, is about the server, or is a module's.
const LEFT_OUT = new RegExp(
  "^(acl|auth|asking|b[lrz].*|bgrewriteaof|bgsave|client|cluster|command|config|debug|dump|failover|flush.*|function|h?p?ttl" +
    "|.*expiretime|hello|hotkeys|info|lastsave|latency|lolwut|memory|migrate|module|monitor|object|p?s?subscribe|pf(debug|selftest)" +
    "|psync|p?s?unsubscribe|quit|randomkey|readonly|readwrite|replconf|replicaof|reset|restore.*|role|save|script|select" +
    "|shutdown|slaveof|slowlog|[shz]rand.*|spop|swapdb|sync|time|trimslots|wait.*|xadd|xinfo|xautoclaim|xclaim|xread.*" +
    "|xpending|fcall.*|exec|multi|discard|watch|unwatch|v[a-z]+|[h-z]scan|scan|keys|sort|smembers|sdiff|sinter|sunion)$",
);

const shown = (value) => (value instanceof Error ? `${value.name} ${value.message}` : JSON.stringify(value) ?? "undefined");
const settled = (promise) => promise.then(shown, shown);

async function fill(redis) {
  const pipeline = redis.pipeline().flushall();
  for (const line of FIXTURE.split(/\n?\|/)) pipeline.call(...line.split(" "));
  await pipeline.exec();
}

async function play(kind, redis, ask) {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(redis).constructor.prototype);
  const all = new Set([...names, ...redis.getBuiltinCommands()]);
  for (const name of [...all].filter((name) => redis.getBuiltinCommands().includes(name) && !LEFT_OUT.test(name)).sort()) {
    for (const key of KEYS) {
      for (const more of MORE) {
        await fill(redis);
        const said = await ask(name, key, more);
        console.log(`--- PASS: ${`${kind} ${name} ${key} ${more.join(" ")} -> ${said}`.replace(/\s+/g, "_")}`);
      }
    }
  }
}

const redis = new Redis({ port: 6379, host: "127.0.0.1" });
await play("alone", redis, (name, key, more) => settled(redis[name](key, ...more)));
await play("transaction", redis, (name, key, more) =>
  settled(redis.multi()[name](key, ...more).type(key).exec().then((replies) => replies.map(([error, value]) => shown(error ?? value)))),
);
const auto = new Redis({ port: 6379, host: "127.0.0.1", enableAutoPipelining: true, keyPrefix: "" });
await play("pipelined", auto, (name, key, more) =>
  Promise.all([settled(auto[name](key, ...more)), settled(auto.type(key)), settled(auto.echo("end"))]),
);
redis.disconnect();
auto.disconnect();
