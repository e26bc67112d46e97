// SPDX-License-Identifier: Apache-2.0
//! `stats settings`: all names of memcached's, in its order.
//!
//! Settings of what there is not here (slab classes, an LRU, extstore, the proxy) are off or 0.

use super::{MemcacheService, Show};
use crate::parse::Forms;
use crate::service::watch::{BACKLOG_BYTES, RING_BYTES};
use std::fmt::Display;
use storage::Receive;

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

/// Shows them.
pub(super) fn settings<S: Receive>(service: &MemcacheService<S>, show: Show<'_>) {
    let options = &service.shared.options;
    let socket = options.socket_path.as_deref().unwrap_or("NULL");
    let file = |path: &Option<String>| path.as_deref().unwrap_or("(null)").to_owned();
    let tls = &options.tls_files;
    let users = options.users.as_deref();
    let has_sasl = users.is_some() && options.forms != Forms::Text;
    let auth_file = users.filter(|_| options.forms != Forms::Binary);
    let auth_file = auth_file.map_or("no".into(), |file| file.path().to_string_lossy());
    let lines: &[(&str, &dyn Display)] = &[
        ("maxbytes", &service.store.limit_bytes()),
        ("maxconns", &options.connections_max),
        ("tcpport", &options.port),
        ("udpport", &options.udp_port),
        ("inter", &options.listen),
        ("verbosity", &service.shared.platform.verbosity()),
        ("oldest", &service.shared.flush.latest_s()),
        ("evictions", &if options.evictions { "on" } else { "off" }),
        ("domain_socket", &socket),
        ("umask", &format_args!("{:o}", options.socket_mode)),
        ("shutdown_command", &yes(options.shutdown)),
        ("growth_factor", &"1.00"),
        ("chunk_size", &0),
        ("num_threads", &options.threads),
        ("num_threads_per_udp", &0),
        ("stat_key_prefix", &service.shared.prefixes.delimiter()),
        ("detail_enabled", &yes(service.shared.observers.count_prefixes())),
        ("reqs_per_event", &options.requests_per_turn),
        ("cas_enabled", &"yes"),
        ("tcp_backlog", &options.backlog),
        ("binding_protocol", &options.forms.name()),
        ("auth_enabled_sasl", &yes(has_sasl)),
        ("auth_enabled_ascii", &auth_file),
        ("item_size_max", &options.item_max),
        // A client too many is told so.
        ("maxconns_fast", &"yes"),
        ("hashpower_init", &0),
        ("slab_reassign", &"no"),
        ("slab_automove", &0),
        ("slab_automove_ratio", &"0.00"),
        ("slab_automove_window", &0),
        ("slab_chunk_max", &0),
        // As far as clients can tell: expired items are found, and `lru_crawler` lists items.
        ("lru_crawler", &"yes"),
        ("lru_crawler_sleep", &0),
        ("lru_crawler_tocrawl", &0),
        ("tail_repair_time", &0),
        ("flush_enabled", &yes(options.flush)),
        ("dump_enabled", &yes(options.dump)),
        ("hash_algorithm", &"rapidhash"),
        ("lru_maintainer_thread", &"no"),
        ("lru_segmented", &"no"),
        ("hot_lru_pct", &0),
        ("warm_lru_pct", &0),
        ("hot_max_factor", &"0.00"),
        ("warm_max_factor", &"0.00"),
        ("temp_lru", &"no"),
        ("temporary_ttl", &0),
        ("idle_timeout", &options.idle_timeout.as_secs()),
        ("watcher_logbuf_size", &BACKLOG_BYTES),
        ("worker_logbuf_size", &RING_BYTES),
        ("read_buf_mem_limit", &0),
        ("track_sizes", &"no"),
        ("inline_ascii_response", &"no"),
        ("ext_item_size", &0),
        ("ext_item_age", &0),
        ("ext_low_ttl", &0),
        ("ext_recache_rate", &0),
        ("ext_wbuf_size", &0),
        ("ext_compact_under", &0),
        ("ext_drop_under", &0),
        ("ext_max_sleep", &0),
        ("ext_max_frag", &"0.00"),
        ("slab_automove_freeratio", &"0.000"),
        ("ext_drop_unread", &"no"),
        ("ssl_enabled", &yes(options.tls)),
        ("ssl_chain_cert", &file(&tls.chain)),
        ("ssl_key", &file(&tls.key)),
        ("ssl_verify_mode", &tls.verify_mode),
        ("ssl_keyformat", &1),
        ("ssl_ciphers", &"NULL"),
        ("ssl_ca_cert", &tls.ca.as_deref().unwrap_or("NULL")),
        ("ssl_wbuf_size", &0),
        ("ssl_session_cache", &"no"),
        ("ssl_kernel_tls", &"no"),
        ("ssl_min_version", &tls.version_min),
        ("proxy_enabled", &"no"),
        ("proxy_uring_enabled", &"no"),
        ("num_napi_ids", &0),
        ("memory_file", &"(null)"),
        ("client_flags_size", &size_of::<u32>()),
    ];
    for (name, value) in lines {
        show(name, value);
    }
}
