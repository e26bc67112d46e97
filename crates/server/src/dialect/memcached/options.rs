// SPDX-License-Identifier: Apache-2.0
//! The options of memcached's `-o`.

use super::option::{Opt, as_it_is, nothing, path, refused, sets};
use crate::settings::{ClientAuth, TlsVersion};
use config::{ByteSize, Span};
use std::time::Duration;

/// Why options about the places of items have no effect.
pub(super) const SLABS: &str = "memory is given out in segments and blocks, not in slabs";
const LRU: &str = "there are no lists of used items: `[seg] eviction` says which go";
const INDEX: &str = "the index is sized from the memory, and grows by itself";
const EXPIRED: &str = "expired items are found without a crawler";
const BUFFERS: &str = "buffers of logs have a fixed size";
const OLD: &str = "memcached itself has no such option any more";
const TLS: &str = "sessions are resumed, and TLS is done by the workers";

/// Nothing at all, as between a comma and the end. Between two commas memcached refuses it.
pub(super) static EMPTY: Opt = as_it_is("");

/// The rows. A name that ends in `*` stands for all names with that prefix.
pub(super) static ALL: &[Opt] = &[
    sets("idle_timeout=SECONDS", "[server] idle_timeout", "a number of seconds", |seconds| {
        let time = Span(Duration::from_secs(seconds.parse().ok()?));
        Some(Box::new(move |sections| sections.server.idle_timeout = time))
    }),
    sets(
        "read_buf_mem_limit=MEGABYTES",
        "[worker] output_memory",
        "a number of megabytes",
        |text| {
            let megabytes: u64 = text.parse().ok().filter(|megabytes| *megabytes < 1 << 40)?;
            let memory = (megabytes > 0).then_some(ByteSize(megabytes << 20));
            Some(Box::new(move |sections| sections.worker.output_memory = memory))
        },
    ),
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
            "1" => ClientAuth::Optional,
            // 3 asks once in a session, as every session of ours does.
            "2" | "3" => ClientAuth::Required,
            _ => return None,
        };
        Some(Box::new(move |sections| sections.tls.client_auth = auth))
    }),
    sets("ssl_min_version=NAME", "[tls] min_version", "0 to 3, or tlsv1.0 to tlsv1.3", |name| {
        let version = match name {
            "0" | "1" | "2" | "tlsv1.0" | "tlsv1.1" | "tlsv1.2" => TlsVersion::Tls12,
            "3" | "tlsv1.3" => TlsVersion::Tls13,
            _ => return None,
        };
        Some(Box::new(move |sections| sections.tls.min_version = version))
    }),
    // memcached takes OpenSSL's number of the format.
    sets("ssl_keyformat=PEM", "", "PEM: convert it with openssl pkey", |format| {
        (format == "1" || format.eq_ignore_ascii_case("PEM")).then_some(Box::new(|_| {}))
    }),
    as_it_is("maxconns_fast"),
    as_it_is("modern"),
    as_it_is("no_drop_privileges"),
    as_it_is("ssl_session_cache"),
    refused("ext_*", "there is no external storage: raise -m, items are in memory alone"),
    refused("proxy_*", "this is no proxy: put mcrouter or memcached's in front"),
    refused("drop_privileges", "use SystemCallFilter= of systemd, as in our unit"),
    refused("sock_cookie_id", "sockets get no mark: match the port or the cgroup instead"),
    refused("ssl_ciphers", "ciphers are those of rustls, all with forward secrecy: leave it out"),
    refused("ssl_proto", "use ssl_min_version"),
    nothing("hash_algorithm", INDEX),
    nothing("hashpower", INDEX),
    nothing("no_hashexpand", INDEX),
    nothing("expirezero_does_not_evict", LRU),
    nothing("hot_lru_pct", LRU),
    nothing("hot_max_factor", LRU),
    nothing("lru_maintainer", LRU),
    nothing("no_lru_maintainer", LRU),
    nothing("no_modern", LRU),
    nothing("tail_repair_time", LRU),
    nothing("temporary_ttl", LRU),
    nothing("warm_lru_pct", LRU),
    nothing("warm_max_factor", LRU),
    nothing("lru_crawler", EXPIRED),
    nothing("lru_crawler_sleep", EXPIRED),
    nothing("lru_crawler_tocrawl", EXPIRED),
    nothing("no_lru_crawler", EXPIRED),
    nothing("no_chunked_items", SLABS),
    nothing("no_slab_automove", SLABS),
    nothing("no_slab_reassign", SLABS),
    nothing("slab_automove", SLABS),
    nothing("slab_automove_freeratio", SLABS),
    nothing("slab_automove_ratio", SLABS),
    nothing("slab_automove_window", SLABS),
    nothing("slab_chunk_max", SLABS),
    nothing("slab_reassign", SLABS),
    nothing("slab_sizes", SLABS),
    nothing("track_sizes", "stats sizes counts when it is asked to"),
    nothing("ssl_wbuf_size", BUFFERS),
    nothing("watcher_logbuf_size", BUFFERS),
    nothing("worker_logbuf_size", BUFFERS),
    nothing("ssl_kernel_tls", TLS),
    nothing("inline_ascii_resp", OLD),
    nothing("inline_ascii_response", OLD),
    nothing("meta_response_old", OLD),
    nothing("no_inline_ascii_resp", OLD),
    nothing("read_obj_mem_limit", OLD),
    nothing("relaxed_privileges", OLD),
    nothing("resp_obj_mem_limit", OLD),
    nothing("tcp_backlog", OLD),
    nothing("no_maxconns_fast", "a connection too many is told so and closed, never kept waiting"),
];
