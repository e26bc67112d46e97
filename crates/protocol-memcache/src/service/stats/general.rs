// SPDX-License-Identifier: Apache-2.0
//! The general statistics: all names of memcached's, in its order. What there is nothing to count of is 0.

use super::{Row, metric};
use crate::metrics as own;
use crate::op::Mode;
use crate::options::ServiceOptions;
use crate::platform::Platform;
use ::metrics::{Counter, process};
use storage::Stats;

/// The sources of a level.
pub(super) struct View<'a> {
    pub(super) store: Stats,
    pub(super) options: &'a ServiceOptions,
    pub(super) platform: &'a dyn Platform,
    pub(super) context: &'a protocol::Context<'a>,
}

/// Keys that were looked up by get and gets, and by gat and gats.
static GETS: [&Counter; 4] =
    [&own::GET_KEY_HIT, &own::GET_KEY_MISS, &own::GETS_KEY_HIT, &own::GETS_KEY_MISS];
static GATS: [&Counter; 2] = [&own::GAT_KEY_HIT, &own::GAT_KEY_MISS];

fn lookups_of(counters: &[&Counter]) -> u64 {
    counters.iter().map(|counter| counter.value()).sum()
}

const MODES: [Mode; 6] =
    [Mode::Set, Mode::Add, Mode::Replace, Mode::Append, Mode::Prepend, Mode::Cas];

/// Values that storage commands came with, and that had an end.
fn values_of(mode: Mode) -> u64 {
    let own::SetMetrics { stored, not_stored, not_found, failed: _ } = own::of_set(mode);
    // Most have one counter for both.
    let not_found = if std::ptr::eq(*not_stored, *not_found) { 0 } else { not_found.value() };
    stored.value() + not_stored.value() + not_found
}

/// A name that counts what does not happen here: slabs that are moved, an LRU that is maintained.
const fn none(name: &'static str) -> Row {
    Row::Count(name, |_| 0)
}

pub(super) static GENERAL: &[Row] = &[
    Row::Level("pid", |_| std::process::id().to_string()),
    Row::Level("uptime", |view| (view.context.now.ticks.as_millis() / 1000).to_string()),
    Row::Level("time", |view| view.context.now.unix_seconds().to_string()),
    Row::Level("version", |view| view.options.version.clone()),
    Row::Level("software", |view| view.options.software.clone()),
    Row::Level("libevent", |_| "none".to_owned()),
    Row::Level("pointer_size", |_| usize::BITS.to_string()),
    Row::Level("rusage_user", |_| seconds(process::cpu_time().user_ns)),
    Row::Level("rusage_system", |_| seconds(process::cpu_time().system_ns)),
    Row::Level("max_connections", |view| view.options.connections_max.to_string()),
    Row::Level("curr_connections", |_| metric("shoebill_connections").to_string()),
    Row::Count("total_connections", |_| metric("shoebill_connections_accepted_total")),
    Row::Count("rejected_connections", |_| metric("shoebill_connections_rejected_total")),
    Row::Level("connection_structures", |_| metric("shoebill_connections").to_string()),
    none("response_obj_oom"),
    none("response_obj_count"),
    none("response_obj_bytes"),
    // A connection with something to read or to send has buffers; idle ones have none.
    Row::Level("read_buf_count", |view| buffers(view).0.to_string()),
    Row::Level("read_buf_bytes", |_| metric("shoebill_connection_buffer_bytes").to_string()),
    Row::Level("read_buf_bytes_free", |view| {
        metric("shoebill_connection_buffer_bytes").saturating_sub(buffers(view).1).to_string()
    }),
    none("read_buf_oom"),
    Row::Level("reserved_fds", |view| view.platform.reserved_descriptors().to_string()),
    Row::Count("cmd_get", |_| lookups_of(&GETS)),
    // As memcached has it: values that have arrived, whether they were stored or not. One that is too large, or that
    // there is no memory for, is dropped unread.
    Row::Count("cmd_set", |_| {
        MODES.map(values_of).iter().sum::<u64>() + own::STORE_BAD_DATA.value()
    }),
    Row::Count("cmd_flush", |_| own::FLUSH_ALL.value()),
    Row::Count("cmd_touch", |_| own::TOUCH.value() + lookups_of(&GATS)),
    // As memcached has it: other meta commands count as get, set, delete, incr or touch.
    Row::Count("cmd_meta", |_| own::ME.value()),
    Row::Count("get_hits", |_| own::GET_KEY_HIT.value() + own::GETS_KEY_HIT.value()),
    Row::Count("get_misses", |_| own::GET_KEY_MISS.value() + own::GETS_KEY_MISS.value()),
    Row::Count("get_expired", |store| store.read_expired),
    Row::Count("get_flushed", |store| store.read_cleared),
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
    Row::Count("auth_cmds", |_| own::AUTH_CMDS.value()),
    Row::Count("auth_errors", |_| own::AUTH_ERRORS.value()),
    Row::Count("idle_kicks", |_| metric("shoebill_connections_broken_total{reason=\"idle\"}")),
    Row::Count("bytes_read", |_| {
        metric("shoebill_received_bytes_total") + metric("shoebill_datagrams_received_bytes_total")
    }),
    Row::Count("bytes_written", |_| {
        metric("shoebill_sent_bytes_total") + metric("shoebill_datagrams_sent_bytes_total")
    }),
    Row::Level("limit_maxbytes", |view| view.store.limit_bytes.to_string()),
    Row::Level("accepting_conns", |_| (1 - metric("shoebill_accept_pausing").min(1)).to_string()),
    Row::Count("listen_disabled_num", |_| metric("shoebill_accept_pauses_total")),
    Row::Count("time_in_listen_disabled_us", |_| {
        metric("shoebill_accept_paused_seconds_total") * 1000
    }),
    Row::Level("threads", |view| view.options.threads.to_string()),
    Row::Count("conn_yields", |_| metric("shoebill_connection_yields_total")),
    Row::Level("hash_power_level", |view| {
        view.store.index_slots.checked_ilog2().unwrap_or(0).to_string()
    }),
    Row::Level("hash_bytes", |view| view.store.index_bytes.to_string()),
    Row::Level("hash_is_expanding", |view| u8::from(view.store.index_is_moving).to_string()),
    none("slab_reassign_rescues"),
    none("slab_reassign_chunk_rescues"),
    none("slab_reassign_inline_reclaim"),
    none("slab_reassign_busy_items"),
    none("slab_reassign_busy_deletes"),
    none("slab_reassign_busy_nomem"),
    Row::Level("slab_reassign_last_busy_status", |_| "none".to_owned()),
    none("slab_reassign_running"),
    none("slabs_moved"),
    none("lru_crawler_running"),
    none("lru_crawler_starts"),
    none("lru_maintainer_juggles"),
    none("malloc_fails"),
    Row::Count("log_worker_dropped", |_| own::LOG_WORKER_DROPPED.value()),
    Row::Count("log_worker_written", |_| own::LOG_WORKER_WRITTEN.value()),
    Row::Count("log_watcher_skipped", |_| own::LOG_WATCHER_SKIPPED.value()),
    Row::Count("log_watcher_sent", |_| own::LOG_WATCHER_SENT.value()),
    Row::Level("log_watchers", |_| own::LOG_WATCHERS.value().to_string()),
    none("unexpected_napi_ids"),
    none("round_robin_fallback"),
    Row::Level("bytes", |view| view.store.item_bytes.to_string()),
    Row::Level("curr_items", |view| view.store.items.to_string()),
    Row::Count("total_items", |store| store.stored),
    Row::Level("slab_global_page_pool", |view| view.store.free_pages.to_string()),
    Row::Count("expired_unfetched", |store| store.expired_unread),
    Row::Count("evicted_unfetched", |store| store.evicted_unread),
    Row::Count("evicted_active", |store| store.evicted_active),
    Row::Count("evictions", |store| store.evicted),
    Row::Count("reclaimed", |store| store.expired),
    none("crawler_reclaimed"),
    none("crawler_items_checked"),
    none("lrutail_reflocked"),
    none("moves_to_cold"),
    none("moves_to_warm"),
    none("moves_within_lru"),
    Row::Count("direct_reclaims", |store| store.waited),
    none("lru_bumps_dropped"),
];

/// What is shown besides where connections are encrypted.
pub(super) static ENCRYPTED: &[Row] = &[
    Row::Count("ssl_handshake_errors", |_| {
        metric("shoebill_tls_handshakes_total{result=\"failed\"}")
    }),
    none("ssl_proto_errors"),
    Row::Level("time_since_server_cert_refresh", |view| {
        view.platform.certificates_age().map_or(0, |age| age.as_secs()).to_string()
    }),
];

/// Connections that have buffers, and the bytes of these that are in use.
fn buffers(view: &View<'_>) -> (usize, u64) {
    let peers = view.context.directory.list();
    let held = peers.iter().map(|peer| peer.input_bytes() + peer.output_bytes());
    held.filter(|&bytes| bytes > 0)
        .fold((0, 0), |(count, sum), bytes| (count + 1, sum + bytes as u64))
}

/// A metric in nanoseconds, as seconds with six decimals.
fn seconds(nanos: u64) -> String {
    let micros = nanos / 1000;
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}
