// SPDX-License-Identifier: Apache-2.0
//! The server's numbers as metrics, brought up to date when all metrics are read.
//!
//! INFO shows the same numbers. Counts begin at zero again after `CONFIG RESETSTAT`.

use crate::host::{Host, command_metrics};
use keyspace::{KeyspaceStats, Observer};
use metrics::Source;
use std::sync::{Arc, Weak};

/// The metrics of the keyspace and its clients.
pub const METRICS: metrics::MetricSet = metrics::metric_set!();

metrics::families! {
    /// Keys by database, those included that have expired and whose memory has not come back.
    static KEYS: "shoebill_keys" by "db";
    /// Keys with an expiry, by database.
    static KEYS_VOLATILE: "shoebill_keys_volatile" by "db";
}

metrics::levels! {
    /// Bytes that count against maxmemory.
    static USED_BYTES: "shoebill_keyspace_used_bytes";
    /// The limit: maxmemory, 0 for none.
    static LIMIT_BYTES: "shoebill_keyspace_limit_bytes";
    /// What the bytes that count against maxmemory are: keys and values; the tables that find keys; what was removed and
    /// is being freed step by step; gaps between values that are too many; connections' buffers, with the strings that
    /// only replies hold any more; what clients hold beside them, such as transactions and subscriptions; the table of
    /// keys that clients cache; what the process takes by itself.
    "shoebill_keyspace_bytes" {
        static ENTRY_BYTES: kind = "entries";
        static INDEX_BYTES: kind = "index";
        static LEAVING_BYTES: kind = "leaving";
        static GAP_BYTES: kind = "gaps";
        static BUFFER_BYTES: kind = "buffers";
        static CLIENT_BYTES: kind = "clients";
        static TRACKING_BYTES: kind = "tracking";
        static STARTUP_BYTES: kind = "startup";
    }
    /// Clients that wait in a blocking command.
    static CLIENTS_BLOCKED: "shoebill_clients_blocked";
}

metrics::totals! {
    /// Fields of hashes removed because their time had come.
    static FIELDS_EXPIRED: "shoebill_hash_fields_expired_total";
    /// Clients closed to free memory.
    static CLIENTS_EVICTED: "shoebill_clients_evicted_total";
}

/// Updates the metrics as long as the host exists.
pub(crate) fn report(host: &Arc<Host>, keyspace: Observer) -> Source {
    let host: Weak<Host> = Arc::downgrade(host);
    Source::new(move || {
        if let (Some(host), Some(stats)) = (host.upgrade(), keyspace()) {
            refresh(&host, &stats);
        }
    })
}

/// Sets all metrics.
fn refresh(host: &Host, keyspace: &KeyspaceStats) {
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    // Databases in use, and the first one.
    let databases = || {
        let all = keyspace.databases.iter().enumerate();
        all.filter(|(number, database)| *number == 0 || database.keys > 0)
    };
    KEYS.set(databases().map(|(number, database)| (number.to_string(), signed(database.keys))));
    KEYS_VOLATILE
        .set(databases().map(|(number, database)| (number.to_string(), signed(database.volatile))));
    for (level, number) in [
        (&USED_BYTES, host.settings().with_overhead(keyspace.used_bytes)),
        (&LIMIT_BYTES, host.settings().maxmemory()),
        (&ENTRY_BYTES, keyspace.entry_bytes),
        (&INDEX_BYTES, keyspace.index_bytes),
        (&LEAVING_BYTES, keyspace.leaving_bytes),
        (&GAP_BYTES, keyspace.gap_bytes),
        (&BUFFER_BYTES, host.client_memory.buffers()),
        (&CLIENT_BYTES, host.client_memory.held()),
        (&TRACKING_BYTES, host.key_events.tracking().bytes()),
        (&STARTUP_BYTES, host.settings().overhead()),
        (&CLIENTS_BLOCKED, host.key_events.waiters().len() as u64),
    ] {
        level.set(signed(number));
    }
    FIELDS_EXPIRED.set(keyspace.expired_fields);
    CLIENTS_EVICTED.set(host.client_memory.evicted());
    command_metrics::refresh(&host.stats);
}
