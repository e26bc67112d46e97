// SPDX-License-Identifier: Apache-2.0
//! The options of memcached's `-o`.

use super::option::{Opt, as_it_is, nothing, path, refused, sets};
use crate::settings::{ClientAuth, TlsVersion};
use config::Span;
use std::time::Duration;

/// The rows. A name that ends in `*` stands for all names with that prefix.
pub(super) static ALL: &[Opt] = &[
    sets("idle_timeout=SECONDS", "[server] idle_timeout", "a number of seconds", |seconds| {
        let time = Span(Duration::from_secs(seconds.parse().ok()?));
        Some(Box::new(move |sections| sections.server.idle_timeout = time))
    }),
    path("ssl_chain_cert=FILE", "[tls] certificate_chain", |sections, path| {
        sections.tls.certificate_chain = Some(path);
    }),
    path("ssl_key=FILE", "[tls] private_key", |sections, path| {
        sections.tls.private_key = Some(path);
    }),
    path("ssl_ca_cert=FILE", "[tls] ca_file", |sections, path| sections.tls.ca_file = Some(path)),
    sets("ssl_verify_mode=NUM", "[tls] client_auth", "from 0 to 3", |mode| {
        let auth = match mode {
            "0" => ClientAuth::None,
            "1" | "3" => ClientAuth::Optional,
            "2" => ClientAuth::Required,
            _ => return None,
        };
        Some(Box::new(move |sections| sections.tls.client_auth = auth))
    }),
    sets("ssl_min_version=NAME", "[tls] min_version", "one of tlsv1.0 to tlsv1.3", |name| {
        let version = match name {
            "tlsv1.0" | "tlsv1.1" | "tlsv1.2" => TlsVersion::Tls12,
            "tlsv1.3" => TlsVersion::Tls13,
            _ => return None,
        };
        Some(Box::new(move |sections| sections.tls.min_version = version))
    }),
    as_it_is("maxconns_fast"),
    refused("ext_*", "there is no external storage, items are in memory"),
    nothing("drop_privileges"),
    nothing("expirezero_does_not_evict"),
    nothing("hash_algorithm"),
    nothing("hashpower"),
    nothing("hot_lru_pct"),
    nothing("hot_max_factor"),
    nothing("inline_ascii_response"),
    nothing("lru_crawler"),
    nothing("lru_crawler_sleep"),
    nothing("lru_crawler_tocrawl"),
    nothing("lru_maintainer"),
    nothing("meta_response_old"),
    nothing("modern"),
    nothing("no_chunked_items"),
    nothing("no_drop_privileges"),
    nothing("no_hashexpand"),
    nothing("no_inline_ascii_resp"),
    nothing("no_lru_crawler"),
    nothing("no_lru_maintainer"),
    nothing("no_maxconns_fast"),
    nothing("no_modern"),
    nothing("no_slab_reassign"),
    nothing("read_buf_mem_limit"),
    nothing("read_obj_mem_limit"),
    nothing("relaxed_privileges"),
    nothing("resp_obj_mem_limit"),
    nothing("slab_automove"),
    nothing("slab_automove_freeratio"),
    nothing("slab_automove_ratio"),
    nothing("slab_automove_window"),
    nothing("slab_chunk_max"),
    nothing("slab_reassign"),
    nothing("slab_sizes"),
    nothing("sock_cookie_id"),
    nothing("ssl_ciphers"),
    nothing("ssl_kernel_tls"),
    nothing("ssl_keyformat"),
    nothing("ssl_proto"),
    nothing("ssl_session_cache"),
    nothing("ssl_wbuf_size"),
    nothing("tail_repair_time"),
    nothing("tcp_backlog"),
    nothing("temporary_ttl"),
    nothing("track_sizes"),
    nothing("warm_lru_pct"),
    nothing("warm_max_factor"),
    nothing("watcher_logbuf_size"),
    nothing("worker_logbuf_size"),
];
