// SPDX-License-Identifier: Apache-2.0
//! INFO, with the sections and names of Redis. Fields that have no meaning here, or are not known,
//! are left out.

use super::metrics::{RESP_COMMAND, RESP_KEY_HIT, RESP_KEY_MISS};
use super::store_call::StoreCall;
use crate::commands::server::human;
use crate::host::version::REDIS_VERSION;
use crate::table;
use crate::wire::fault::Done;
use std::fmt::{Display, Write};
use storage::{Stats, Store};

/// The section that is shown only on request.
const COMMANDSTATS: &str = "Commandstats";

/// The sources of a section.
struct View<'a, 'c, S> {
    call: &'a StoreCall<'c, S>,
    store: Stats,
}

/// A section: its name, and what writes its lines.
type Section<S> = (&'static str, fn(&View<'_, '_, S>, &mut Lines));

/// Lines of name and value.
struct Lines(String);

impl Lines {
    fn put(&mut self, name: &str, value: impl Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{name}:{value}\r\n");
    }
}

/// Tells about the server: all sections, or those that are named.
pub(super) fn info<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let sections: [Section<S>; 9] = [
        ("Server", server),
        ("Clients", clients),
        ("Memory", memory),
        ("Persistence", persistence),
        ("Stats", stats),
        ("Replication", replication),
        ("CPU", cpu),
        (COMMANDSTATS, commandstats),
        ("Keyspace", keyspace),
    ];
    let names = call.args.tail(1);
    let is_asked_for = |section: &str| {
        let is = |name: &[u8], word: &str| name.eq_ignore_ascii_case(word.as_bytes());
        let is_default = section != COMMANDSTATS;
        let names_it = |name| {
            is(name, section)
                || is(name, "all")
                || is(name, "everything")
                || is_default && is(name, "default")
        };
        is_default && names.is_empty() || names.iter().any(names_it)
    };
    let view = View { call, store: call.store.stats() };
    let mut lines = Lines(String::new());
    for (name, write) in sections {
        if is_asked_for(name) {
            if !lines.0.is_empty() {
                lines.0.push_str("\r\n");
            }
            lines.0.push_str(&format!("# {name}\r\n"));
            write(&view, &mut lines);
        }
    }
    call.out.verbatim(b"txt", lines.0.as_bytes());
    Ok(())
}

fn server<S>(view: &View<'_, '_, S>, lines: &mut Lines) {
    let (options, now) = (&view.call.shared.options, view.call.now);
    let uptime_s = now.ticks.as_millis() / 1000;
    lines.put("redis_version", REDIS_VERSION);
    lines.put("redis_mode", "standalone");
    lines.put("server_software", &options.software);
    lines.put("os", format_args!("{} {}", std::env::consts::OS, std::env::consts::ARCH));
    lines.put("arch_bits", usize::BITS);
    lines.put("process_id", std::process::id());
    lines.put("tcp_port", options.port);
    lines.put("server_time_usec", now.unix_ms.saturating_mul(1000));
    lines.put("uptime_in_seconds", uptime_s);
    lines.put("uptime_in_days", uptime_s / 86_400);
    lines.put("io_threads_active", u8::from(options.threads > 1));
}

fn clients<S>(view: &View<'_, '_, S>, lines: &mut Lines) {
    lines.put("connected_clients", view.call.shared.clients.list().len());
    lines.put("maxclients", view.call.shared.options.connections_max);
    lines.put("blocked_clients", 0);
}

fn memory<S>(view: &View<'_, '_, S>, lines: &mut Lines) {
    lines.put("used_memory", view.store.used_bytes);
    lines.put("used_memory_human", human(view.store.used_bytes));
    lines.put("used_memory_dataset", view.store.item_bytes);
    lines.put("used_memory_overhead", view.store.used_bytes.saturating_sub(view.store.item_bytes));
    lines.put("maxmemory", view.store.limit_bytes);
    lines.put("maxmemory_human", human(view.store.limit_bytes));
    lines.put("maxmemory_policy", &view.call.shared.options.memory_policy);
}

fn persistence<S>(_: &View<'_, '_, S>, lines: &mut Lines) {
    lines.put("loading", 0);
    lines.put("rdb_bgsave_in_progress", 0);
    lines.put("aof_enabled", 0);
}

fn stats<S>(view: &View<'_, '_, S>, lines: &mut Lines) {
    lines.put("total_connections_received", metric("connections_accepted"));
    lines.put("total_commands_processed", RESP_COMMAND.value());
    lines.put("total_net_input_bytes", metric("session_recv_byte"));
    lines.put("total_net_output_bytes", metric("session_send_byte"));
    lines.put("rejected_connections", metric("connections_rejected"));
    lines.put("expired_keys", view.store.expired);
    lines.put("evicted_keys", view.store.evicted);
    lines.put("keyspace_hits", RESP_KEY_HIT.value());
    lines.put("keyspace_misses", RESP_KEY_MISS.value());
}

fn replication<S>(_: &View<'_, '_, S>, lines: &mut Lines) {
    lines.put("role", "master");
    lines.put("connected_slaves", 0);
}

fn cpu<S>(_: &View<'_, '_, S>, lines: &mut Lines) {
    let seconds = |name| metric(name) as f64 / 1e9;
    lines.put("used_cpu_sys", format_args!("{:.6}", seconds("ru_stime")));
    lines.put("used_cpu_user", format_args!("{:.6}", seconds("ru_utime")));
}

fn commandstats<S>(view: &View<'_, '_, S>, lines: &mut Lines) {
    for (command, stats) in table::all().zip(view.call.shared.stats.commands()) {
        if stats.is_used() {
            lines.put(&format!("cmdstat_{}", command.spec().name), stats.describe());
        }
    }
}

/// How many keys expire is not counted.
fn keyspace<S>(view: &View<'_, '_, S>, lines: &mut Lines) {
    if view.store.items > 0 {
        lines.put("db0", format_args!("keys={}", view.store.items));
    }
}

/// The value of a metric that another crate declares; 0 in a program without that crate.
fn metric(name: &str) -> u64 {
    u64::try_from(::metrics::value(name).unwrap_or(0)).unwrap_or(0)
}
