// SPDX-License-Identifier: Apache-2.0
//! [`Extended`]: an option of memcached's `-o`.

use crate::config::Config;
use config::Span;
use server::settings::{ClientAuth, TlsVersion};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// An option.
#[derive(Clone, Debug)]
pub(crate) enum Extended {
    IdleTimeout(Duration),
    Certificate(PathBuf),
    Key(PathBuf),
    Authorities(PathBuf),
    Verify(ClientAuth),
    MinVersion(TlsVersion),
    /// It is as this server always works.
    AsItIs,
    /// One about what this server has not, by its name.
    Idle(String),
}

/// Options about memcached's slabs, queues and threads.
const IDLE: [&str; 48] = [
    "drop_privileges",
    "expirezero_does_not_evict",
    "hash_algorithm",
    "hashpower",
    "hot_lru_pct",
    "hot_max_factor",
    "inline_ascii_response",
    "lru_crawler",
    "lru_crawler_sleep",
    "lru_crawler_tocrawl",
    "lru_maintainer",
    "meta_response_old",
    "modern",
    "no_chunked_items",
    "no_drop_privileges",
    "no_hashexpand",
    "no_inline_ascii_resp",
    "no_lru_crawler",
    "no_lru_maintainer",
    "no_maxconns_fast",
    "no_modern",
    "no_slab_reassign",
    "read_buf_mem_limit",
    "read_obj_mem_limit",
    "relaxed_privileges",
    "resp_obj_mem_limit",
    "slab_automove",
    "slab_automove_freeratio",
    "slab_automove_ratio",
    "slab_automove_window",
    "slab_chunk_max",
    "slab_reassign",
    "slab_sizes",
    "sock_cookie_id",
    "ssl_ciphers",
    "ssl_kernel_tls",
    "ssl_keyformat",
    "ssl_proto",
    "ssl_session_cache",
    "ssl_wbuf_size",
    "tail_repair_time",
    "tcp_backlog",
    "temporary_ttl",
    "track_sizes",
    "warm_lru_pct",
    "warm_max_factor",
    "watcher_logbuf_size",
    "worker_logbuf_size",
];

impl FromStr for Extended {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let given = || value.ok_or_else(|| format!("{name} needs a value: {name}=…"));
        let path = || given().map(PathBuf::from);
        let other = |expected| format!("{name}: {} is not {expected}", value.unwrap_or_default());
        Ok(match name {
            "idle_timeout" => {
                let seconds = given()?.parse().map_err(|_| other("a number of seconds"))?;
                Extended::IdleTimeout(Duration::from_secs(seconds))
            }
            "ssl_chain_cert" => Extended::Certificate(path()?),
            "ssl_key" => Extended::Key(path()?),
            "ssl_ca_cert" => Extended::Authorities(path()?),
            "ssl_verify_mode" => Extended::Verify(match given()? {
                "0" => ClientAuth::None,
                "1" | "3" => ClientAuth::Optional,
                "2" => ClientAuth::Required,
                _ => return Err(other("from 0 to 3")),
            }),
            "ssl_min_version" => Extended::MinVersion(match given()? {
                "tlsv1.0" | "tlsv1.1" | "tlsv1.2" => TlsVersion::Tls12,
                "tlsv1.3" => TlsVersion::Tls13,
                _ => return Err(other("one of tlsv1.0 to tlsv1.3")),
            }),
            "maxconns_fast" => Extended::AsItIs,
            name if name.starts_with("ext_") => {
                return Err(format!("{name}: there is no external storage, items are in memory"));
            }
            name if IDLE.contains(&name) => Extended::Idle(name.to_owned()),
            name => return Err(format!("{name} is no option of memcached's")),
        })
    }
}

impl Extended {
    /// Puts what it says in place of what the file said.
    pub(crate) fn apply(&self, config: &mut Config) {
        let tls = &mut config.tls;
        match self {
            Extended::IdleTimeout(time) => config.server.idle_timeout = Span(*time),
            Extended::Certificate(path) => tls.certificate_chain = Some(path.clone()),
            Extended::Key(path) => tls.private_key = Some(path.clone()),
            Extended::Authorities(path) => tls.ca_file = Some(path.clone()),
            Extended::Verify(auth) => tls.client_auth = *auth,
            Extended::MinVersion(version) => tls.min_version = *version,
            Extended::AsItIs | Extended::Idle(_) => {}
        }
    }

    /// Whether it names the key that TLS needs.
    pub(crate) fn is_key(&self) -> bool {
        matches!(self, Extended::Key(_))
    }

    /// It as it was written, if it changes nothing.
    pub(crate) fn without_effect(&self) -> Option<String> {
        match self {
            Extended::Idle(name) => Some(format!("-o {name}")),
            Extended::IdleTimeout(_)
            | Extended::Certificate(_)
            | Extended::Key(_)
            | Extended::Authorities(_)
            | Extended::Verify(_)
            | Extended::MinVersion(_)
            | Extended::AsItIs => None,
        }
    }
}
