// SPDX-License-Identifier: Apache-2.0
//! The stats command and its topics.

use super::MemcacheService;
use super::outcome::Outcome;
use crate::metrics as own;
use crate::options::ServiceOptions;
use crate::reply::Dialect;
use buffer::SendBuf;
use protocol::Context;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use storage::{Stats, Store};

/// The baseline of `stats reset`: the counts at that moment, by name.
///
/// The metrics themselves never decrease, because a scraper would take that for a restart; `stats`
/// shows the difference to the baseline.
#[derive(Debug, Default)]
pub(super) struct Baseline {
    counts: Mutex<BTreeMap<&'static str, u64>>,
}

/// A line of the general statistics.
enum Row {
    /// A count, which `stats reset` sets to zero.
    Count(&'static str, fn(&Stats) -> u64),
    /// Anything else.
    Level(&'static str, fn(&View<'_>) -> String),
}

/// The sources of a level.
struct View<'a> {
    store: Stats,
    options: &'a ServiceOptions,
    context: &'a Context<'a>,
}

/// The general statistics, in memcached's order.
static GENERAL: &[Row] = &[
    Row::Level("pid", |_| std::process::id().to_string()),
    Row::Level("uptime", |view| (view.context.now.ticks.as_millis() / 1000).to_string()),
    Row::Level("time", |view| view.context.now.unix_seconds().to_string()),
    Row::Level("version", |view| view.options.version.clone()),
    Row::Level("pointer_size", |_| usize::BITS.to_string()),
    Row::Level("rusage_user", |_| seconds("ru_utime")),
    Row::Level("rusage_system", |_| seconds("ru_stime")),
    Row::Level("max_connections", |view| view.options.connections_max.to_string()),
    Row::Level("curr_connections", |_| metric("connections_current").to_string()),
    Row::Count("total_connections", |_| metric("connections_accepted")),
    Row::Count("rejected_connections", |_| metric("connections_rejected")),
    Row::Count("cmd_get", |_| own::GET_KEY.value() + own::GETS_KEY.value()),
    Row::Count("cmd_set", |_| {
        let all = [&own::SET, &own::ADD, &own::REPLACE, &own::APPEND, &own::PREPEND, &own::CAS];
        all.map(|metric| metric.value()).iter().sum()
    }),
    Row::Count("cmd_flush", |_| own::FLUSH_ALL.value()),
    Row::Count("cmd_touch", |_| own::TOUCH.value() + own::GAT_KEY.value()),
    Row::Count("get_hits", |_| own::GET_KEY_HIT.value() + own::GETS_KEY_HIT.value()),
    Row::Count("get_misses", |_| own::GET_KEY_MISS.value() + own::GETS_KEY_MISS.value()),
    Row::Count("delete_misses", |_| own::DELETE_NOT_FOUND.value()),
    Row::Count("delete_hits", |_| own::DELETE_DELETED.value()),
    Row::Count("incr_misses", |_| own::INCR_NOT_FOUND.value()),
    Row::Count("incr_hits", |_| own::INCR_STORED.value()),
    Row::Count("decr_misses", |_| own::DECR_NOT_FOUND.value()),
    Row::Count("decr_hits", |_| own::DECR_STORED.value()),
    Row::Count("cas_misses", |_| own::CAS_NOT_FOUND.value()),
    Row::Count("cas_hits", |_| own::CAS_STORED.value()),
    Row::Count("cas_badval", |_| own::CAS_EXISTS.value()),
    Row::Count("touch_hits", |_| own::TOUCH_TOUCHED.value() + own::GAT_KEY_HIT.value()),
    Row::Count("touch_misses", |_| own::TOUCH_NOT_FOUND.value() + own::GAT_KEY_MISS.value()),
    Row::Count("store_too_large", |_| own::STORE_TOO_LARGE.value()),
    Row::Count("store_no_memory", |_| own::STORE_NO_MEMORY.value()),
    Row::Count("idle_kicks", |_| metric("connections_idle_closed")),
    Row::Count("bytes_read", |_| metric("session_recv_byte") + metric("datagram_recv_byte")),
    Row::Count("bytes_written", |_| metric("session_send_byte") + metric("datagram_send_byte")),
    Row::Level("limit_maxbytes", |view| memory_max(view.options, &view.store).to_string()),
    Row::Level("threads", |view| view.options.threads.to_string()),
    Row::Level("hash_bytes", |view| view.store.index_bytes.to_string()),
    Row::Level("bytes", |view| view.store.item_bytes.to_string()),
    Row::Level("curr_items", |view| view.store.items.to_string()),
    Row::Count("total_items", |store| store.stored),
    Row::Count("evictions", |store| store.evicted),
    Row::Count("reclaimed", |store| store.expired),
];

impl<S: Store> MemcacheService<S> {
    /// Answers `stats <topic>`.
    #[inline(never)]
    pub(super) fn stats<D: Dialect>(
        &mut self,
        topic: &[u8],
        reply: D,
        out: &mut SendBuf,
        context: &Context<'_>,
    ) -> Outcome {
        let show = &mut |name: &str, value: &dyn Display| reply.stat(out, name, value);
        match topic {
            b"" => self.general(show, context),
            b"items" => items(&self.store.stats(), show),
            b"slabs" => slabs(&self.store.stats(), show),
            // Details of the storage engine, with names of its own: a topic that memcached does not have.
            b"store" => self.store.details(context.now.ticks, show),
            b"settings" => settings(self, show),
            b"conns" => conns(show, context),
            b"sizes" => show("sizes_status", &"disabled"),
            // There is no storage outside of memory, and no proxy.
            b"extstore" | b"proxy" | b"proxyfuncs" | b"proxybe" => {}
            b"reset" => return self.reset(),
            b"cachedump" => return Outcome::NoKeys,
            b"detail" => return Outcome::NoPrefixes,
            _ => return Outcome::NoTopic,
        }
        reply.stats_end(out);
        Outcome::Shown
    }

    fn general(&self, show: Show<'_>, context: &Context<'_>) {
        let view = View { store: self.store.stats(), options: &self.shared.options, context };
        let baseline = self.shared.baseline.counts.lock();
        let baseline = baseline.unwrap_or_else(PoisonError::into_inner);
        for row in GENERAL {
            match row {
                Row::Count(name, count) => {
                    let before = baseline.get(name).copied().unwrap_or(0);
                    show(name, &count(&view.store).saturating_sub(before));
                }
                Row::Level(name, level) => show(name, &level(&view)),
            }
        }
    }

    fn reset(&self) -> Outcome {
        let store = self.store.stats();
        let counts = GENERAL.iter().filter_map(|row| match row {
            Row::Count(name, count) => Some((*name, count(&store))),
            Row::Level(..) => None,
        });
        let baseline = self.shared.baseline.counts.lock();
        *baseline.unwrap_or_else(PoisonError::into_inner) = counts.collect();
        Outcome::StatsReset
    }
}

/// Shows a line: its name and its value.
type Show<'a> = &'a mut dyn FnMut(&str, &dyn Display);

/// The items as one size class: these stores have no size classes, but tools look for the names.
fn items(store: &Stats, show: Show<'_>) {
    if store.items > 0 {
        show("items:1:number", &store.items);
        show("items:1:mem_requested", &store.item_bytes);
        show("items:1:evicted", &store.evicted);
        show("items:1:outofmemory", &own::STORE_NO_MEMORY.value());
        show("items:1:reclaimed", &store.expired);
    }
}

fn slabs(store: &Stats, show: Show<'_>) {
    show("active_slabs", &0);
    show("total_malloced", &store.used_bytes);
}

fn settings<S: Store>(service: &MemcacheService<S>, show: Show<'_>) {
    let (options, store) = (&service.shared.options, &service.store.stats());
    let socket = options.socket_path.as_deref().unwrap_or("NULL");
    let lines: [(&str, &dyn Display); 20] = [
        ("maxbytes", &memory_max(options, store)),
        ("maxconns", &options.connections_max),
        ("tcpport", &options.port),
        ("udpport", &options.udp_port),
        ("inter", &options.listen),
        ("verbosity", &service.shared.platform.verbosity()),
        ("evictions", &if options.evictions { "on" } else { "off" }),
        ("domain_socket", &socket),
        ("shutdown_command", &if options.shutdown { "yes" } else { "no" }),
        ("num_threads", &options.threads),
        ("cas_enabled", &"yes"),
        ("tcp_backlog", &options.backlog),
        ("binding_protocol", &options.forms.name()),
        ("auth_enabled_sasl", &"no"),
        ("auth_enabled_ascii", &"no"),
        ("item_size_max", &options.value_max),
        ("flush_enabled", &if options.flush { "yes" } else { "no" }),
        ("dump_enabled", &if options.dump { "yes" } else { "no" }),
        ("idle_timeout", &options.idle_timeout.as_secs()),
        ("ssl_enabled", &if options.tls { "yes" } else { "no" }),
    ];
    for (name, value) in lines {
        show(name, value);
    }
}

/// The connections. Only that of the asking client is active; all others are shown as waiting.
fn conns(show: Show<'_>, context: &Context<'_>) {
    let now = context.now.ticks;
    for peer in context.directory.list() {
        let id = peer.id.serial();
        let state = if peer.id == context.connection { "conn_parse_cmd" } else { "conn_read" };
        let idle_s = now.since(peer.last_request()).as_secs();
        show(&format!("{id}:addr"), &peer.remote);
        show(&format!("{id}:listen_addr"), &peer.local);
        show(&format!("{id}:state"), &state);
        show(&format!("{id}:secs_since_last_cmd"), &idle_s);
    }
}

fn memory_max(options: &ServiceOptions, store: &Stats) -> u64 {
    match options.memory_max {
        0 => store.limit_bytes,
        bytes => bytes,
    }
}

/// The value of a metric that another crate declares; 0 in a program without that crate.
fn metric(name: &str) -> u64 {
    let value = ::metrics::value(name).unwrap_or(0);
    u64::try_from(value).unwrap_or(0)
}

/// A metric in nanoseconds, as seconds with six decimals.
fn seconds(name: &str) -> String {
    let micros = metric(name) / 1000;
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}
