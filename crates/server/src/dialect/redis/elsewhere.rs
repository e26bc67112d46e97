// SPDX-License-Identifier: Apache-2.0
//! Parameters of other servers that have no place in our table: they are accepted in files, and have no effect.

/// Those of Redis 8.0 and Valkey 9.1, sorted.
static NAMES: [&str; 36] = [
    "active-defrag-cycle-us",
    "availability-zone",
    "cluster-announce-client-ipv4",
    "cluster-announce-client-ipv6",
    "cluster-announce-client-port",
    "cluster-announce-client-tls-port",
    "cluster-blacklist-ttl",
    "cluster-config-save-behavior",
    "cluster-databases",
    "cluster-manual-failover-timeout",
    "cluster-ping-interval",
    "cluster-slot-migration-log-max-len",
    "cluster-slot-stats-enabled",
    "dual-channel-replication-enabled",
    "extended-redis-compatibility",
    "hash-seed",
    "import-mode",
    "io-threads-always-active",
    "locale-collate",
    "log-format",
    "log-timestamp-format",
    "min-io-threads-avoid-copy-reply",
    "mptcp",
    "prefetch-batch-max-size",
    "primaryauth",
    "primaryuser",
    "rdb-version-check",
    "rdma-bind",
    "rdma-completion-vector",
    "rdma-port",
    "rdma-rx-size",
    "repl-mptcp",
    "slot-migration-max-failover-repl-bytes",
    "tls-auth-clients-user",
    "tls-auto-reload-interval",
    "unixsocketgroup",
];

/// Whether a name is a parameter of Redis or Valkey, though none here.
pub(super) fn has(name: &str) -> bool {
    NAMES.binary_search(&name.to_ascii_lowercase().as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case() {
        assert!(NAMES.is_sorted());
        assert!(has("Locale-Collate") && !has("maxmemory"));
    }
}
