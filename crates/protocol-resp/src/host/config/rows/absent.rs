// SPDX-License-Identifier: Apache-2.0
//! What this server does not do: files, replicas, modules.

use super::super::kind::Kind::{Bytes, Choice, Integer, Special, Text, Words, YesNo};
use super::super::parameter::{Parameter, directive, fixed, ignored, kept, unheeded};
use super::super::special;
use super::{INT_MAX, INT_MIN, LONG_MAX};

const DISK: &str = "this server keeps nothing on disk";
const REPLICAS: &str = "this server does not replicate";
const MODULES: &str = "this server loads no modules";

pub(super) static ROWS: &[Parameter] = &[
    // Files.
    unheeded("save", Words(special::save), "", DISK),
    fixed("appendonly", YesNo, "no", DISK),
    kept("appendfilename", Text, "appendonly.aof").immutable(),
    kept("appenddirname", Text, "appendonlydir").immutable(),
    kept("appendfsync", Choice(&["everysec", "always", "no"]), "everysec"),
    kept("no-appendfsync-on-rewrite", YesNo, "no"),
    kept("auto-aof-rewrite-percentage", Integer(0, INT_MAX), "100"),
    kept("auto-aof-rewrite-min-size", Bytes(0, LONG_MAX), "67108864"),
    kept("aof-load-truncated", YesNo, "yes"),
    kept("aof-use-rdb-preamble", YesNo, "yes"),
    kept("aof-timestamp-enabled", YesNo, "no"),
    kept("aof-rewrite-incremental-fsync", YesNo, "yes"),
    kept("aof-disable-auto-gc", YesNo, "no"),
    kept("dbfilename", Text, "dump.rdb").protected(),
    kept("rdbcompression", YesNo, "yes"),
    kept("rdbchecksum", YesNo, "yes").immutable(),
    kept("rdb-key-save-delay", Integer(INT_MIN, INT_MAX), "0").hidden(),
    kept("key-load-delay", Integer(INT_MIN, INT_MAX), "0").hidden(),
    kept("loading-process-events-interval-bytes", Integer(1024, INT_MAX), "2097152").hidden(),
    kept("rdb-del-sync-files", YesNo, "no"),
    kept("rdb-save-incremental-fsync", YesNo, "yes"),
    kept("sanitize-dump-payload", Choice(&["no", "yes", "clients"]), "no"),
    kept("stop-writes-on-bgsave-error", YesNo, "yes"),
    kept("rdb-version-check", Choice(&["strict", "relaxed"]), "strict"),
    ignored("import-mode", YesNo, "no", "keys expire at their time, whoever has written them"),
    // Replicas.
    fixed("replicaof", Words(special::primary), "", REPLICAS).immutable().or("slaveof"),
    kept("masterauth", Text, "").or("primaryauth"),
    kept("masteruser", Text, "").or("primaryuser"),
    kept("replica-serve-stale-data", YesNo, "yes").or("slave-serve-stale-data"),
    kept("replica-read-only", YesNo, "yes").or("slave-read-only"),
    kept("replica-ignore-maxmemory", YesNo, "yes").or("slave-ignore-maxmemory"),
    kept("replica-ignore-disk-write-errors", YesNo, "no"),
    kept("replica-lazy-flush", YesNo, "no").or("slave-lazy-flush"),
    kept("replica-priority", Integer(0, INT_MAX), "100").or("slave-priority"),
    kept("replica-announced", YesNo, "yes"),
    kept("replica-announce-ip", Text, "").or("slave-announce-ip"),
    kept("replica-announce-port", Integer(0, 65_535), "0").or("slave-announce-port"),
    kept("repl-diskless-sync", YesNo, "yes"),
    kept("repl-diskless-sync-delay", Integer(0, INT_MAX), "5"),
    kept("repl-diskless-sync-max-replicas", Integer(0, INT_MAX), "0"),
    kept("repl-diskless-load", Choice(&["disabled", "on-empty-db", "swapdb"]), "disabled"),
    kept("repl-disable-tcp-nodelay", YesNo, "no"),
    kept("repl-ping-replica-period", Integer(1, INT_MAX), "10").or("repl-ping-slave-period"),
    kept("replica-full-sync-buffer-limit", Bytes(0, LONG_MAX), "0"),
    kept("dual-channel-replication-enabled", YesNo, "no"),
    kept("repl-mptcp", YesNo, "no").immutable(),
    kept("repl-timeout", Integer(1, INT_MAX), "60"),
    kept("repl-backlog-size", Special(special::backlog), "1048576"),
    kept("repl-backlog-ttl", Integer(0, LONG_MAX), "3600"),
    ignored("min-replicas-to-write", Integer(0, INT_MAX), "0", REPLICAS).or("min-slaves-to-write"),
    kept("min-replicas-max-lag", Integer(0, INT_MAX), "10").or("min-slaves-max-lag"),
    kept("tls-client-cert-file", Text, ""),
    kept("tls-client-key-file", Text, ""),
    kept("tls-client-key-file-pass", Text, ""),
    // Users, modules, types of values.
    directive(
        "rename-command",
        "commands keep their names: leave the line out, and deny them to users (ACL)",
    ),
    directive("loadmodule", MODULES),
    kept("lua-enable-deprecated-api", YesNo, "no")
        .or("lua-enable-insecure-api")
        .immutable()
        .hidden(),
    kept("enable-module-command", Choice(&["no", "yes", "local"]), "no").immutable(),
];
