// SPDX-License-Identifier: Apache-2.0
//! What is kept, in how much memory, and in which encodings.

use super::super::kind::Kind::{AnyBytes, Bytes, BytesOrPercent, Choice, Integer, YesNo};
use super::super::kind::Value;
use super::super::parameter::{Parameter, ignored, kept, live, start};
use super::{INT_MAX, INT_MIN, LONG_MAX};
use crate::host::Host;
use keyspace::Policy;
use values::Limits;

/// The policies, in the order in which Redis lists them.
const POLICIES: [Policy; 10] = [
    Policy::VolatileLru,
    Policy::VolatileLfu,
    Policy::VolatileLrm,
    Policy::VolatileRandom,
    Policy::VolatileTtl,
    Policy::AllkeysLru,
    Policy::AllkeysLfu,
    Policy::AllkeysLrm,
    Policy::AllkeysRandom,
    Policy::NoEviction,
];

/// Their names.
const POLICY_NAMES: [&str; 10] = {
    let mut names = [""; 10];
    let mut at = 0;
    while at < names.len() {
        names[at] = POLICIES[at].name();
        at += 1;
    }
    names
};

/// What a redis-server says that was built without its own allocator.
const DEFRAG: &str = "Active defragmentation cannot be enabled: it requires a Redis server compiled \
                      with a modified Jemalloc like the one shipped by default with the Redis source \
                      distribution";

/// A row for a limit of an encoding.
macro_rules! limit {
    ($name:literal, $kind:ident, $default:literal, $field:ident) => {
        live(
            $name,
            $kind(0, LONG_MAX),
            $default,
            |host| Value::Number(host.limits.get().$field as i64),
            |host, value| {
                host.limits.change(|limits: &mut Limits| limits.$field = value.number() as _)
            },
        )
    };
}

/// A row for a setting of the keyspace.
macro_rules! setting {
    ($name:literal, $range:expr, $default:literal, $get:ident, $set:ident) => {
        live(
            $name,
            $range,
            $default,
            |host| u64::from(host.settings().$get()).into(),
            |host, value| host.settings().$set(value.number() as u32),
        )
    };
}

pub(super) static ROWS: &[Parameter] = &[
    start("databases", Integer(1, 1024), "16").immutable().meaning("How many databases there are."),
    live(
        "maxmemory",
        AnyBytes,
        "0",
        |host| Value::of_any_bytes(host.settings().maxmemory()),
        |host, value| host.settings().set_maxmemory(value.any_bytes()),
    )
    .meaning("Bytes that keys, their tables, clients and the process may take; 0: any number."),
    live(
        "maxmemory-clients",
        BytesOrPercent(LONG_MAX),
        "0",
        |host| Value::Number(host.client_memory.limit()),
        |host, value| host.client_memory.set_limit(value.number()),
    )
    .meaning(
        "Bytes that clients may take, or percent of `maxmemory`, 128 KiB at least: past it those \
         that take most are closed; 0: [a share](rds.md#clients).",
    ),
    live("maxmemory-policy", Choice(&POLICY_NAMES), "noeviction", policy, |host, value| {
        host.settings().set_policy(POLICIES[value.number() as usize]);
    })
    .meaning("What goes when they take more."),
    setting!("maxmemory-samples", Integer(1, 64), "5", samples, set_samples)
        .meaning("How many keys are compared for each that goes."),
    setting!("lfu-log-factor", Integer(0, INT_MAX), "10", lfu_log_factor, set_lfu_log_factor)
        .meaning("How slowly a key's count of uses grows."),
    setting!("lfu-decay-time", Integer(0, INT_MAX), "1", lfu_decay_time, set_lfu_decay_time)
        .meaning("After how many minutes without a use a count goes down by one."),
    kept("maxmemory-eviction-tenacity", Integer(0, 100), "10"),
    kept("active-expire-effort", Integer(1, 10), "1"),
    kept("lazyfree-lazy-eviction", YesNo, "yes"),
    kept("lazyfree-lazy-expire", YesNo, "yes"),
    kept("lazyfree-lazy-server-del", YesNo, "yes"),
    kept("lazyfree-lazy-user-del", YesNo, "yes"),
    kept("lazyfree-lazy-user-flush", YesNo, "yes"),
    kept("activerehashing", YesNo, "yes"),
    limit!("hash-max-listpack-entries", Integer, "512", hash_entries)
        .meaning("Up to how many fields a hash is compact.")
        .or("hash-max-ziplist-entries"),
    limit!("hash-max-listpack-value", Bytes, "64", hash_value)
        .meaning("Up to how many bytes a field or its value is compact.")
        .or("hash-max-ziplist-value"),
    live(
        "list-max-listpack-size",
        Integer(INT_MIN, INT_MAX),
        "-2",
        |host| Value::Number(host.limits.get().list_bytes),
        |host, value| host.limits.change(|limits| limits.list_bytes = value.number()),
    )
    .meaning("How large the pieces of a list are: -1 to -5 for 4 to 64 KiB, else elements.")
    .or("list-max-ziplist-size"),
    kept("list-compress-depth", Integer(0, INT_MAX), "0"),
    limit!("set-max-intset-entries", Integer, "512", set_intset)
        .meaning("Up to how many members a set of integers is compact."),
    limit!("set-max-listpack-entries", Integer, "128", set_entries)
        .meaning("Up to how many members any other set is compact."),
    limit!("set-max-listpack-value", Integer, "64", set_value)
        .meaning("Up to how many bytes a member of a compact set has."),
    limit!("zset-max-listpack-entries", Integer, "128", zset_entries)
        .meaning("Up to how many members a sorted set is compact.")
        .or("zset-max-ziplist-entries"),
    limit!("zset-max-listpack-value", Bytes, "64", zset_value)
        .meaning("Up to how many bytes a member of a compact sorted set has.")
        .or("zset-max-ziplist-value"),
    limit!("hll-sparse-max-bytes", Bytes, "3000", hll_sparse_bytes)
        .meaning("Up to how many bytes a HyperLogLog is compact."),
    limit!("stream-node-max-bytes", Bytes, "4096", stream_node_bytes)
        .meaning("Up to how many bytes a piece of a stream takes more items; 0: 64 KiB."),
    limit!("stream-node-max-entries", Integer, "100", stream_node_entries)
        .meaning("Up to how many items a piece of a stream has; 0: 65,535."),
    live(
        "stream-idmp-duration",
        Integer(1, 86_400),
        "100",
        |host| Value::Number(host.limits.get().stream_messages_seconds.into()),
        |host, value| {
            let seconds = value.number() as u32;
            host.limits.change(|limits| limits.stream_messages_seconds = seconds);
        },
    )
    .meaning("For how many seconds a stream knows messages that may come again (`IDMP`)."),
    live(
        "stream-idmp-maxsize",
        Integer(1, 10_000),
        "100",
        |host| Value::Number(host.limits.get().stream_messages.into()),
        |host, value| {
            let messages = value.number() as u32;
            host.limits.change(|limits| limits.stream_messages = messages);
        },
    )
    .meaning("How many messages of each producer a stream knows."),
    ignored("activedefrag", YesNo, "no", DEFRAG),
    kept("active-defrag-ignore-bytes", Bytes(1, LONG_MAX), "104857600"),
    kept("active-defrag-threshold-lower", Integer(0, 1000), "10"),
    kept("active-defrag-threshold-upper", Integer(0, 1000), "100"),
    kept("active-defrag-cycle-min", Integer(1, 99), "1"),
    kept("active-defrag-cycle-us", Integer(0, 100_000), "500"),
    kept("active-defrag-cycle-max", Integer(1, 99), "25"),
    kept("active-defrag-max-scan-fields", Integer(1, LONG_MAX), "1000"),
    kept("jemalloc-bg-thread", YesNo, "yes"),
];

fn policy(host: &Host) -> Value {
    let policy = host.settings().policy();
    Value::Number(POLICIES.iter().position(|known| *known == policy).unwrap_or(0) as i64)
}
