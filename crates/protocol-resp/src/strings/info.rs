// SPDX-License-Identifier: Apache-2.0
//! INFO, with the sections and names of Redis. Fields that have no meaning here, or are not known,
//! are left out.

use super::metrics::RESP_COMMAND;
use super::store_call::StoreCall;
use crate::commands::server::{Report, Section, process_metric, report};
use crate::host::stats::CommandStats;
use crate::host::version::REDIS_VERSION;
use crate::wire::fault::Done;
use ::metrics::process;
use storage::{Stats, Store};

/// Sections of a server of strings.
type Strings<'a, 'c, S> = Report<'a, StoreCall<'c, S>, Stats>;

/// Tells about the server.
pub(super) fn info<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let sections = [
        Section::of("Server", server),
        Section::of("Clients", clients),
        Section::of("Memory", memory),
        Section::of("Persistence", |report| {
            report.zeros(&["loading", "rdb_bgsave_in_progress", "aof_enabled"]);
        }),
        Section::of("Stats", stats),
        Section::of("Replication", replication),
        Section::of("CPU", cpu),
        Section::on_request("Commandstats", |report| report.commands(&report.call.shared.stats)),
        Section::of("Keyspace", keyspace),
    ];
    let text = report(&*call, &call.store.stats(), call.args.tail(1), &sections);
    call.out.verbatim(b"txt", text.as_bytes());
    Ok(())
}

fn server<S>(report: &mut Strings<'_, '_, S>) {
    let (options, now) = (&report.call.shared.options, report.call.now);
    let uptime_s = now.ticks.as_millis() / 1000;
    report.line("redis_version", REDIS_VERSION);
    report.line("redis_mode", "standalone");
    report.line("server_software", &options.software);
    report.line("os", format_args!("{} {}", std::env::consts::OS, std::env::consts::ARCH));
    report.line("arch_bits", usize::BITS);
    report.line("process_id", std::process::id());
    report.line("tcp_port", options.port);
    report.line("server_time_usec", now.unix_ms.saturating_mul(1000));
    report.line("uptime_in_seconds", uptime_s);
    report.line("uptime_in_days", uptime_s / 86_400);
    report.line("io_threads_active", u8::from(options.threads > 1));
}

fn clients<S>(report: &mut Strings<'_, '_, S>) {
    report.line("connected_clients", report.call.shared.clients.list().len());
    report.line("maxclients", report.call.shared.options.connections_max);
    report.line("blocked_clients", 0);
}

fn memory<S>(report: &mut Strings<'_, '_, S>) {
    report.bytes("used_memory", report.facts.used_bytes);
    report.line("used_memory_dataset", report.facts.item_bytes);
    report.line(
        "used_memory_overhead",
        report.facts.used_bytes.saturating_sub(report.facts.item_bytes),
    );
    report.bytes("maxmemory", report.facts.limit_bytes);
    report.line("maxmemory_policy", &report.call.shared.options.memory_policy);
}

fn stats<S>(report: &mut Strings<'_, '_, S>) {
    report
        .line("total_connections_received", process_metric("shoebill_connections_accepted_total"));
    report.line("total_commands_processed", RESP_COMMAND.value());
    report.line("total_net_input_bytes", process_metric("shoebill_received_bytes_total"));
    report.line("total_net_output_bytes", process_metric("shoebill_sent_bytes_total"));
    report.line("rejected_connections", process_metric("shoebill_connections_rejected_total"));
    report.line("expired_keys", report.facts.expired);
    report.line("evicted_keys", report.facts.evicted);
    let commands = report.call.shared.stats.commands();
    let sum = |of: fn(&CommandStats) -> u64| commands.iter().map(of).sum::<u64>();
    report.line("keyspace_hits", sum(|command| command.hits));
    report.line("keyspace_misses", sum(|command| command.misses));
}

fn replication<S>(report: &mut Strings<'_, '_, S>) {
    report.line("role", "master");
    report.line("connected_slaves", 0);
}

fn cpu<S>(report: &mut Strings<'_, '_, S>) {
    let spent = process::cpu_time();
    let seconds = |nanos: u64| nanos as f64 / 1e9;
    report.line("used_cpu_sys", format_args!("{:.6}", seconds(spent.system_ns)));
    report.line("used_cpu_user", format_args!("{:.6}", seconds(spent.user_ns)));
}

/// How many keys expire is not counted.
fn keyspace<S>(report: &mut Strings<'_, '_, S>) {
    let keys = super::keys::count(report.facts);
    if keys > 0 {
        report.line("db0", format_args!("keys={keys}"));
    }
}
