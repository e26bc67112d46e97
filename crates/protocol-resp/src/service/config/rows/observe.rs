// SPDX-License-Identifier: Apache-2.0
//! What is told: events, slow commands, latencies; and who may look deeper.

use super::super::kind::Kind::{Choice, Integer, Special, YesNo};
use super::super::kind::Value;
use super::super::parameter::{Parameter, kept, live, start};
use super::super::special;
use super::{INT_MAX, LONG_MAX};
use crate::service::notify::Wanted;
use std::sync::atomic::Ordering::Relaxed;

pub(super) static ROWS: &[Parameter] = &[
    live(
        "notify-keyspace-events",
        Special(special::events),
        "",
        |host| {
            let wanted = Wanted::from_bits(host.dials.events.load(Relaxed));
            Value::Text(wanted.letters().into_bytes())
        },
        |host, value| host.set_wanted(Wanted::parse(value.text()).unwrap_or_default()),
    ),
    live(
        "slowlog-log-slower-than",
        Integer(-1, LONG_MAX),
        "10000",
        |host| Value::Number(host.slowlog.threshold_us.load(Relaxed)),
        |host, value| host.slowlog.threshold_us.store(value.number(), Relaxed),
    ),
    live(
        "slowlog-max-len",
        Integer(0, LONG_MAX),
        "128",
        |host| (host.slowlog.len_max.load(Relaxed) as u64).into(),
        |host, value| host.slowlog.len_max.store(value.count() as usize, Relaxed),
    ),
    live(
        "latency-monitor-threshold",
        Integer(0, LONG_MAX),
        "0",
        |host| host.latency.threshold_ms.load(Relaxed).into(),
        |host, value| host.latency.threshold_ms.store(value.count(), Relaxed),
    ),
    live(
        "latency-tracking",
        YesNo,
        "yes",
        |host| host.latency.is_tracking.load(Relaxed).into(),
        |host, value| host.latency.is_tracking.store(value.is_yes(), Relaxed),
    ),
    kept("latency-tracking-info-percentiles", Special(special::percentiles), "50 99 99.9"),
    start("enable-debug-command", Choice(&["no", "yes", "local"]), "no"),
    kept("tracking-table-max-keys", Integer(0, INT_MAX), "1000000"),
];
