// SPDX-License-Identifier: Apache-2.0
//! Connections: where they are accepted, and how they are treated.

use super::super::kind::Kind::{Bytes, Choice, Integer, Octal, Special, Text, Words, YesNo};
use super::super::kind::Value;
use super::super::parameter::{Parameter, fixed, ignored, kept, live, start};
use super::super::special::{self, BufferLimits};
use super::{INT_MAX, LONG_MAX};
use crate::session::connection::{BULK_MAX_LEAST, BULK_MAX_MOST};
use std::sync::atomic::Ordering::Relaxed;

pub(super) static ROWS: &[Parameter] = &[
    start("bind", Words(special::words), "127.0.0.1")
        .meaning("Addresses to listen on; with - in front those that may be missing.")
        .at("[server] listen"),
    start("port", Integer(0, 65_535), "6379")
        .meaning("The port to listen on; 0: none.")
        .at("[server] port"),
    start("unixsocket", Text, "")
        .immutable()
        .meaning("A unix socket to listen on.")
        .at("[server] listen"),
    start("unixsocketperm", Octal, "0")
        .immutable()
        .meaning("Its permission bits, in octal; 0: only the server's user.")
        .at("[server] socket_mode"),
    start("tcp-backlog", Integer(0, INT_MAX), "511")
        .immutable()
        .meaning("Connections that may wait to be accepted.")
        .at("[server] backlog"),
    start("io-threads", Integer(1, 256), "1")
        .immutable()
        .meaning("Threads that serve connections.")
        .at("[worker] threads"),
    kept("io-threads-do-reads", YesNo, "no").immutable(),
    live(
        "tcp-keepalive",
        Integer(0, INT_MAX),
        "300",
        |host| host.connection_settings.keepalive_seconds.load(Relaxed).into(),
        |host, value| host.set_keepalive(value.count()),
    )
    .meaning("Seconds without a word from a client after which it is asked whether it is still there; 0: never.")
    .at("[server] keepalive"),
    live(
        "maxclients",
        Integer(1, 1_000_000),
        "10000",
        |host| (host.connection_settings.connections_max.load(Relaxed) as u64).into(),
        |host, value| host.set_connections_max(value.count() as usize),
    )
    .meaning("Connections served at once.")
    .at("[server] max_connections"),
    live(
        "timeout",
        Integer(0, INT_MAX),
        "0",
        |host| host.connection_settings.idle_seconds.load(Relaxed).into(),
        |host, value| host.set_idle_timeout(value.count()),
    )
    .meaning("Seconds after which an idle connection is closed; 0: never.")
    .at("[server] idle_timeout"),
    live(
        "client-output-buffer-limit",
        Words(BufferLimits::canonical),
        "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60",
        |host| Value::Text(host.connection_settings.buffers.lock().to_string().into_bytes()),
        |host, value| host.set_buffer_limits(value.text()),
    )
    .meaning(
        "With how many unread bytes a client is closed: at once, and for so many seconds. `normal` for \
         replies, `pubsub` for clients that have subscribed; 0 is no limit.",
    ),
    live(
        "client-query-buffer-limit",
        Bytes(1 << 20, LONG_MAX),
        "1073741824",
        |host| host.connection_settings.request_max.load(Relaxed).into(),
        |host, value| host.set_request_max(value.count()),
    )
    .meaning("The largest request in bytes."),
    live(
        "proto-max-bulk-len",
        Bytes(BULK_MAX_LEAST as i64, BULK_MAX_MOST),
        "536870912",
        |host| (host.connection_settings.bulk_max.load(Relaxed) as u64).into(),
        |host, value| host.connection_settings.bulk_max.store(value.count() as usize, Relaxed),
    )
    .meaning("The largest argument in bytes."),
    live(
        "requirepass",
        Text,
        "",
        |host| Value::Text(host.password.text()),
        |host, value| host.set_password(value.text()),
    )
    .meaning("The password; none if empty."),
    live(
        "protected-mode",
        YesNo,
        "yes",
        |host| host.connection_settings.is_protected.load(Relaxed).into(),
        |host, value| host.connection_settings.is_protected.store(value.is_yes(), Relaxed),
    )
    .meaning("Without a password, serves clients of this machine only."),
    start("tls-port", Integer(0, 65_535), "0")
        .meaning("The port for TLS; 0: none.")
        .at("[tls] and [server] listen"),
    start("tls-cert-file", Text, "")
        .meaning("The certificate, then its intermediates.")
        .at("[tls] certificate_chain"),
    start("tls-key-file", Text, "")
        .meaning("The key of the certificate, not encrypted.")
        .at("[tls] private_key"),
    start("tls-ca-cert-file", Text, "")
        .meaning("Authorities that clients' certificates are checked against.")
        .at("[tls] ca_file"),
    start("tls-auth-clients", Choice(&["no", "yes", "optional"]), "yes")
        .meaning("Whether clients must show a certificate.")
        .at("[tls] client_auth"),
    start("tls-protocols", Special(special::words), "")
        .meaning("Versions that are spoken: TLSv1.2, TLSv1.3 or both.")
        .at("[tls] min_version"),
    live(
        "tls-replication",
        YesNo,
        "no",
        |host| host.migrations.is_encrypted().into(),
        |host, value| host.migrations.set_encrypted(value.is_yes()),
    )
    .meaning(
        "Whether MIGRATE speaks TLS to the other server, whose certificate must be one of the authorities' in \
         `tls-ca-cert-file`.",
    ),
    fixed("tls-key-file-pass", Text, "", "keys must not be encrypted"),
    fixed("tls-ca-cert-dir", Text, "", "write one file of authorities: tls-ca-cert-file"),
    ignored("tls-dh-params-file", Text, "", "keys are exchanged over elliptic curves"),
    ignored("tls-ciphers", Text, "", "rustls offers no weak ones"),
    ignored("tls-ciphersuites", Text, "", "rustls offers no weak ones"),
    ignored("tls-prefer-server-ciphers", YesNo, "no", "rustls chooses"),
    kept("tls-session-caching", YesNo, "yes"),
    kept("tls-session-cache-size", Integer(0, INT_MAX), "20480"),
    kept("tls-session-cache-timeout", Integer(0, INT_MAX), "300"),
    ignored("socket-mark-id", Integer(0, INT_MAX), "0", "sockets are not marked").immutable(),
    kept("bind-source-addr", Text, ""),
    kept("prefetch-batch-max-size", Integer(0, 128), "16"),
    kept("io-threads-always-active", YesNo, "no").hidden(),
    kept("min-io-threads-avoid-copy-reply", Integer(0, INT_MAX), "7").hidden(),
    kept("min-string-size-avoid-copy-reply", Integer(0, INT_MAX), "16384").hidden(),
    kept("min-string-size-avoid-copy-reply-threaded", Integer(0, INT_MAX), "65536").hidden(),
    ignored("mptcp", YesNo, "no", "connections have one path").immutable(),
    ignored("unixsocketgroup", Text, "", "the socket's group is that of the process").immutable(),
    ignored("tls-auth-clients-user", Choice(&["CN", "URI", "off"]), "off", "users name themselves"),
    ignored("tls-auto-reload-interval", Integer(0, INT_MAX), "0", "SIGHUP has certificates read"),
    kept("max-new-connections-per-cycle", Integer(1, 1000), "10"),
    kept("max-new-tls-connections-per-cycle", Integer(1, 1000), "1"),
];
