// SPDX-License-Identifier: Apache-2.0
//! What the server does: Clients, Stats, Keyspace.

use super::Full;
use crate::host::acl_log::DenialKind;
use crate::session::client::Client;
use crate::session::subscriptions::Kind;
use keyspace::View;
use std::sync::atomic::Ordering::Relaxed;

pub(super) fn clients<V: View>(report: &mut Full<'_, '_, V>) {
    let call = report.call;
    report.line("connected_clients", report.facts.connections);
    report.line("cluster_connections", 0);
    report.line("maxclients", call.connections_max());
    let (input, output) = report.facts.largest_buffers;
    report.line("client_recent_max_input_buffer", input);
    report.line("client_recent_max_output_buffer", output);
    report.line("blocked_clients", call.key_events().waiters().len() + call.pause().len());
    report.line("tracking_clients", call.key_events().tracking().tracked().clients);
    report.line("clients_in_timeout_table", 0);
    let clients = call.clients().list();
    let count = |is: fn(&Client) -> bool| clients.iter().filter(|client| is(client)).count();
    report.line("pubsub_clients", count(|client| client.is(Client::SUBSCRIBER)));
    report.line("watching_clients", count(|client| client.watched.load(Relaxed) > 0));
    report.line("total_watched_keys", call.key_events().watched_keys());
    let awaited = call.key_events().waiters().keys();
    report.line("total_blocking_keys", awaited.all);
    report.line("total_blocking_keys_on_nokey", awaited.told_when_gone);
    let (reason, actions) = match call.pause().holding(call.now) {
        None => ("none", "none"),
        Some(writes_only) => ("client_pause", if writes_only { "write" } else { "all" }),
    };
    report.line("paused_reason", reason);
    report.line("paused_actions", actions);
    report.line("paused_timeout_milliseconds", call.pause().left(call.now).as_millis());
}

pub(super) fn stats<V: View>(report: &mut Full<'_, '_, V>) {
    let (call, keyspace) = (report.call, &report.facts.keyspace);
    let counts = call.counts();
    let rates = call.rate_sampler().rates();
    let errors = call.command_stats().error_replies();
    let kilobytes = |rate: f64| format!("{:.2}", rate / 1024.0);
    report.line("total_connections_received", counts.connections);
    report.line("total_commands_processed", counts.commands);
    report.line("instantaneous_ops_per_sec", rates.commands.round() as u64);
    report.line("total_net_input_bytes", counts.input_bytes);
    report.line("total_net_output_bytes", counts.output_bytes);
    report.zeros(&["total_net_repl_input_bytes", "total_net_repl_output_bytes"]);
    report.zeros(&["total_net_cluster_slot_import_bytes", "total_net_cluster_slot_export_bytes"]);
    report.line("instantaneous_input_kbps", kilobytes(rates.input_bytes));
    report.line("instantaneous_output_kbps", kilobytes(rates.output_bytes));
    report.line("instantaneous_input_repl_kbps", "0.00");
    report.line("instantaneous_output_repl_kbps", "0.00");
    report.line("rejected_connections", counts.rejected);
    report.line("client_query_buffer_limit_disconnections", counts.request_limit);
    report.line("client_output_buffer_limit_disconnections", counts.output_limit);
    report.zeros(&["sync_full", "sync_partial_ok", "sync_partial_err"]);
    report.line("expired_keys", keyspace.expired);
    report.line("expired_subkeys", keyspace.expired_fields);
    report.line("expired_fields", keyspace.expired_fields);
    report.line("expired_stale_perc", "0.00");
    report.line("expired_keys_with_volatile_items_stale_perc", "0.00");
    report.zeros(&["expired_time_cap_reached_count", "expire_cycle_cpu_milliseconds"]);
    report.line("evicted_keys", keyspace.evicted);
    report.line("evicted_clients", call.client_memory().evicted());
    report.line("evicted_scripts", call.scripts().evicted());
    report.zeros(&["total_eviction_exceeded_time", "current_eviction_exceeded_time"]);
    report.line("keyspace_hits", keyspace.hits);
    report.line("keyspace_misses", keyspace.misses);
    report.line("pubsub_channels", call.key_events().channels().len(Kind::Channel));
    report.line("pubsub_patterns", call.key_events().channels().len(Kind::Pattern));
    report.line("pubsubshard_channels", call.key_events().channels().len(Kind::Shard));
    report.zeros(&["latest_fork_usec", "total_forks", "migrate_cached_sockets"]);
    report.zeros(&["slave_expires_tracked_keys"]);
    // Values are moved a few at a time between requests, which is not timed.
    report.zeros(&["total_active_defrag_time", "current_active_defrag_time"]);
    for (name, entries) in [("hits", keyspace.moved), ("misses", keyspace.kept)] {
        report.line(&format!("active_defrag_{name}"), entries);
        report.line(&format!("active_defrag_key_{name}"), entries);
    }
    let tracked = call.key_events().tracking().tracked();
    report.line("tracking_total_keys", tracked.keys);
    report.line("tracking_total_items", tracked.items);
    report.line("tracking_total_prefixes", tracked.prefixes);
    report.line("unexpected_error_replies", 0);
    report.line("total_error_replies", errors);
    report.line("dump_payload_sanitizations", 0);
    // Every worker reads and writes for its own clients: with several, each is an I/O thread.
    let is_threaded = u64::from(call.parameter("io-threads").number() > 1);
    report.line("total_reads_processed", counts.reads);
    report.line("total_writes_processed", counts.writes);
    report.line("io_threaded_reads_processed", counts.reads * is_threaded);
    report.line("io_threaded_writes_processed", counts.writes * is_threaded);
    report.line("eventloop_cycles", counts.turns);
    report.line("instantaneous_eventloop_cycles_per_sec", rates.turns.round() as u64);
    let denied = |reason| call.acl_log().count(reason);
    report.line("acl_access_denied_auth", denied(DenialKind::Auth));
    report.line("acl_access_denied_cmd", denied(DenialKind::Command));
    report.line("acl_access_denied_key", denied(DenialKind::Key));
    report.line("acl_access_denied_channel", denied(DenialKind::Channel));
    report.line("acl_access_denied_db", denied(DenialKind::Database));
}

/// A line for each database that is not empty.
pub(super) fn keyspace<V: View>(report: &mut Full<'_, '_, V>) {
    let databases = &report.facts.keyspace.databases;
    for (number, database) in databases.iter().enumerate().filter(|(_, database)| database.keys > 0)
    {
        let counts = format!("keys={},expires={},avg_ttl=0", database.keys, database.volatile);
        report.line(&format!("db{number}"), counts);
    }
}
