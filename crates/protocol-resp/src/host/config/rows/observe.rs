// SPDX-License-Identifier: Apache-2.0
//! Observability: events, slow commands, latencies; and which clients may use debugging commands.

use super::super::kind::Kind::{Choice, Integer, Special, Words, YesNo};
use super::super::kind::Value;
use super::super::parameter::{Parameter, kept, live, start};
use super::super::special;
use super::LONG_MAX;
use crate::host::events::Wanted;
use std::sync::atomic::Ordering::Relaxed;

pub(super) static ROWS: &[Parameter] = &[
    live(
        "notify-keyspace-events",
        Special(special::events),
        "",
        |host| {
            let wanted = Wanted::from_bits(host.connection_settings.events.load(Relaxed));
            Value::Text(wanted.letters().into_bytes())
        },
        |host, value| host.set_wanted(Wanted::parse(value.text()).unwrap_or_default()),
    )
    .meaning("Which events are published."),
    live(
        "slowlog-log-slower-than",
        Integer(-1, LONG_MAX),
        "10000",
        |host| Value::Number(host.slowlog.threshold.load(Relaxed)),
        |host, value| {
            host.slowlog.threshold.store(value.number(), Relaxed);
            host.adjust_timing();
        },
    )
    .meaning("Microseconds from which on a command is slow; -1: none is.")
    .or("commandlog-execution-slower-than"),
    live(
        "slowlog-max-len",
        Integer(0, LONG_MAX),
        "128",
        |host| (host.slowlog.len_max.load(Relaxed) as u64).into(),
        |host, value| host.slowlog.len_max.store(value.count() as usize, Relaxed),
    )
    .meaning("How many slow commands are remembered.")
    .or("commandlog-slow-execution-max-len"),
    live(
        "commandlog-request-larger-than",
        Integer(-1, LONG_MAX),
        "1048576",
        |host| Value::Number(host.large_logs.requests.threshold.load(Relaxed)),
        |host, value| host.large_logs.set_request_threshold(value.number()),
    )
    .meaning("Bytes from which on a request is large; -1: none is."),
    live(
        "commandlog-large-request-max-len",
        Integer(0, LONG_MAX),
        "128",
        |host| (host.large_logs.requests.len_max.load(Relaxed) as u64).into(),
        |host, value| host.large_logs.requests.len_max.store(value.count() as usize, Relaxed),
    )
    .meaning("How many commands with large requests are remembered."),
    live(
        "commandlog-reply-larger-than",
        Integer(-1, LONG_MAX),
        "1048576",
        |host| Value::Number(host.large_logs.replies.threshold.load(Relaxed)),
        |host, value| host.large_logs.set_reply_threshold(value.number()),
    )
    .meaning("Bytes from which on a reply is large; -1: none is."),
    live(
        "commandlog-large-reply-max-len",
        Integer(0, LONG_MAX),
        "128",
        |host| (host.large_logs.replies.len_max.load(Relaxed) as u64).into(),
        |host, value| host.large_logs.replies.len_max.store(value.count() as usize, Relaxed),
    )
    .meaning("How many commands with large replies are remembered."),
    live(
        "latency-monitor-threshold",
        Integer(0, LONG_MAX),
        "0",
        |host| host.latency.threshold_ms.load(Relaxed).into(),
        |host, value| {
            host.latency.threshold_ms.store(value.count(), Relaxed);
            host.adjust_timing();
        },
    )
    .meaning("Milliseconds from which on LATENCY notes a command; 0: none."),
    live(
        "latency-tracking",
        YesNo,
        "yes",
        |host| host.latency.is_tracking.load(Relaxed).into(),
        |host, value| host.latency.is_tracking.store(value.is_yes(), Relaxed),
    )
    .meaning("Whether each command has a histogram of its times."),
    kept("latency-tracking-info-percentiles", Words(special::percentiles), "50 99 99.9")
        .meaning("Percentiles that INFO shows."),
    start("enable-debug-command", Choice(&["no", "yes", "local"]), "no")
        .immutable()
        .meaning("Whether DEBUG may be used; local: from this machine only."),
    live(
        "tracking-table-max-keys",
        Integer(0, LONG_MAX),
        "1000000",
        |host| host.key_events.tracking().keys_max().into(),
        |host, value| host.key_events.tracking().set_keys_max(value.count()),
    )
    .meaning("The most keys that are remembered as cached by clients; 0: no limit."),
];
