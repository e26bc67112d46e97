// SPDX-License-Identifier: Apache-2.0
//! The server's numbers as metrics, brought up to date when all metrics are read.
//!
//! INFO shows the same numbers. Counts begin at zero again after `CONFIG RESETSTAT`.

use crate::host::Host;
use keyspace::{KeyspaceStats, Observer};
use metrics::Source;
use std::sync::{Arc, Weak};

metrics::levels! {
    /// Keys of all databases, those included that have expired and whose memory has not come back.
    static KEYSPACE_KEYS: "keyspace_keys";
    /// Keys with an expiry.
    static KEYSPACE_VOLATILE: "keyspace_volatile";
    /// Bytes that count against maxmemory.
    static KEYSPACE_USED_BYTES: "keyspace_used_bytes";
    /// Bytes of keys and values.
    static KEYSPACE_ENTRY_BYTES: "keyspace_entry_bytes";
    /// Bytes of the tables that find keys.
    static KEYSPACE_INDEX_BYTES: "keyspace_index_bytes";
    /// Bytes of what was removed and is being freed step by step.
    static KEYSPACE_LEAVING_BYTES: "keyspace_leaving_bytes";
    /// Bytes of connections' buffers.
    static KEYSPACE_BUFFER_BYTES: "keyspace_buffer_bytes";
    /// Bytes of what clients hold beside them: transactions, watched keys, subscriptions, names.
    static KEYSPACE_CLIENT_BYTES: "keyspace_client_bytes";
    /// The limit: maxmemory, 0 for none.
    static KEYSPACE_LIMIT_BYTES: "keyspace_limit_bytes";
    /// Bytes that count against maxmemory because the process takes them.
    static KEYSPACE_STARTUP_BYTES: "keyspace_startup_bytes";
    /// Clients that wait in a blocking command.
    static CLIENTS_BLOCKED: "clients_blocked";
}

metrics::totals! {
    /// Reads that found a key.
    static KEYSPACE_HIT: "keyspace_hit";
    /// Reads that found none.
    static KEYSPACE_MISS: "keyspace_miss";
    /// Keys removed because their time had come.
    static KEYSPACE_EXPIRE: "keyspace_expire";
    /// Fields of hashes removed because their time had come.
    static KEYSPACE_EXPIRE_FIELD: "keyspace_expire_field";
    /// Keys dropped to make room.
    static KEYSPACE_EVICT: "keyspace_evict";
    /// Clients closed to free memory.
    static CLIENTS_EVICT: "clients_evict";
    /// Commands carried out.
    static COMMAND_CALL: "command_call";
    /// Replies that were errors.
    static COMMAND_EX: "command_ex";
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
    let databases = &keyspace.databases;
    for (level, number) in [
        (&KEYSPACE_KEYS, databases.iter().map(|database| database.keys).sum()),
        (&KEYSPACE_VOLATILE, databases.iter().map(|database| database.volatile).sum()),
        (&KEYSPACE_USED_BYTES, host.settings().with_overhead(keyspace.used_bytes)),
        (&KEYSPACE_ENTRY_BYTES, keyspace.entry_bytes),
        (&KEYSPACE_INDEX_BYTES, keyspace.index_bytes),
        (&KEYSPACE_LEAVING_BYTES, keyspace.leaving_bytes),
        (&KEYSPACE_BUFFER_BYTES, host.client_memory.buffers()),
        (&KEYSPACE_CLIENT_BYTES, host.client_memory.held()),
        (&KEYSPACE_LIMIT_BYTES, host.settings().maxmemory()),
        (&KEYSPACE_STARTUP_BYTES, host.settings().overhead()),
        (&CLIENTS_BLOCKED, host.key_events.waiters().len() as u64),
    ] {
        level.set(signed(number));
    }
    for (total, number) in [
        (&KEYSPACE_HIT, keyspace.hits),
        (&KEYSPACE_MISS, keyspace.misses),
        (&KEYSPACE_EXPIRE, keyspace.expired),
        (&KEYSPACE_EXPIRE_FIELD, keyspace.expired_fields),
        (&KEYSPACE_EVICT, keyspace.evicted),
        (&CLIENTS_EVICT, host.client_memory.evicted()),
        (&COMMAND_CALL, host.stats.calls()),
        (&COMMAND_EX, host.stats.error_replies()),
    ] {
        total.set(number);
    }
}
