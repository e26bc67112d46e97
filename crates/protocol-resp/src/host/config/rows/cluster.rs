// SPDX-License-Identifier: Apache-2.0
//! Clusters: whether this server is a node of one, and which.

use super::super::kind::Kind::{Bytes, Choice, Integer, Special, Text, YesNo};
use super::super::kind::Value;
use super::super::parameter::{Parameter, ignored, kept, live};
use super::super::special;
use super::{INT_MAX, LONG_MAX};
use std::sync::atomic::Ordering::Relaxed;

const ONE_ADDRESS: &str = "clients and other nodes are told one address";

pub(super) static ROWS: &[Parameter] = &[
    live(
        "cluster-enabled",
        YesNo,
        "no",
        |host| host.cluster().is_on().into(),
        |host, value| host.cluster().settings.is_on.store(value.is_yes(), Relaxed),
    )
    .immutable()
    .meaning("Whether this server is a node of a cluster."),
    live(
        "cluster-config-file",
        Text,
        "nodes.conf",
        |host| Value::Text(host.cluster().settings.file.lock().clone()),
        |host, value| *host.cluster().settings.file.lock() = value.text().to_vec(),
    )
    .immutable()
    .meaning("The file of nodes, which is read again when it changes and never written."),
    live(
        "cluster-announce-ip",
        Text,
        "",
        |host| Value::Text(host.cluster().settings.announced[0].lock().clone()),
        |host, value| *host.cluster().settings.announced[0].lock() = value.text().to_vec(),
    )
    .meaning("The address of this server in the file of nodes, by which it finds itself there."),
    live(
        "cluster-announce-hostname",
        Special(special::hostname),
        "",
        |host| Value::Text(host.cluster().settings.announced[1].lock().clone()),
        |host, value| *host.cluster().settings.announced[1].lock() = value.text().to_vec(),
    )
    .meaning("Its host name there; the same."),
    live(
        "cluster-announce-human-nodename",
        Text,
        "",
        |host| Value::Text(host.cluster().settings.announced[2].lock().clone()),
        |host, value| *host.cluster().settings.announced[2].lock() = value.text().to_vec(),
    )
    .meaning("Its `nodename` there; the same."),
    live(
        "cluster-announce-port",
        Integer(0, 65_535),
        "0",
        |host| u64::from(host.cluster().settings.announced_ports[0].load(Relaxed)).into(),
        |host, value| {
            host.cluster().settings.announced_ports[0].store(value.count() as u16, Relaxed);
        },
    )
    .meaning("Its port there; 0: that of `port`."),
    live(
        "cluster-announce-tls-port",
        Integer(0, 65_535),
        "0",
        |host| u64::from(host.cluster().settings.announced_ports[1].load(Relaxed)).into(),
        |host, value| {
            host.cluster().settings.announced_ports[1].store(value.count() as u16, Relaxed);
        },
    )
    .meaning("Its port for TLS there; 0: that of `tls-port`."),
    live(
        "cluster-preferred-endpoint-type",
        Choice(&["ip", "hostname", "unknown-endpoint"]),
        "ip",
        |host| u64::from(host.cluster().settings.endpoint.load(Relaxed)).into(),
        |host, value| host.cluster().settings.endpoint.store(value.count() as u8, Relaxed),
    )
    .meaning("How clients are told where nodes are."),
    live(
        "cluster-require-full-coverage",
        YesNo,
        "yes",
        |host| host.cluster().settings.needs_all_slots.load(Relaxed).into(),
        |host, value| host.cluster().settings.needs_all_slots.store(value.is_yes(), Relaxed),
    )
    .meaning("Serves no keys while some slot has no owner, or one with the flag `fail`."),
    live(
        "cluster-allow-reads-when-down",
        YesNo,
        "no",
        |host| host.cluster().settings.serves_reads_when_down.load(Relaxed).into(),
        |host, value| {
            host.cluster().settings.serves_reads_when_down.store(value.is_yes(), Relaxed);
        },
    )
    .meaning("Serves reads even then."),
    live(
        "cluster-allow-pubsubshard-when-down",
        YesNo,
        "yes",
        |host| host.cluster().settings.serves_channels_when_down.load(Relaxed).into(),
        |host, value| {
            host.cluster().settings.serves_channels_when_down.store(value.is_yes(), Relaxed);
        },
    )
    .meaning("Serves shard channels even then."),
    // Of nodes that talk to each other, which these do not.
    kept("cluster-node-timeout", Integer(0, LONG_MAX), "15000"),
    kept("cluster-port", Integer(0, 65_535), "0").immutable(),
    kept("cluster-announce-bus-port", Integer(0, 65_535), "0"),
    ignored("cluster-announce-client-ipv4", Text, "", ONE_ADDRESS),
    ignored("cluster-announce-client-ipv6", Text, "", ONE_ADDRESS),
    ignored("cluster-announce-client-port", Integer(0, 65_535), "0", ONE_ADDRESS),
    ignored("cluster-announce-client-tls-port", Integer(0, 65_535), "0", ONE_ADDRESS),
    ignored("cluster-databases", Integer(1, INT_MAX), "1", "a node of a cluster has one database")
        .immutable(),
    ignored("cluster-slot-stats-enabled", YesNo, "no", "what slots take is not measured"),
    kept("cluster-blacklist-ttl", Integer(0, LONG_MAX), "60"),
    kept("cluster-config-save-behavior", Choice(&["sync", "best-effort"]), "sync"),
    kept("cluster-manual-failover-timeout", Integer(1, INT_MAX), "5000"),
    kept("cluster-slot-migration-log-max-len", Integer(0, LONG_MAX), "1000"),
    kept("slot-migration-max-failover-repl-bytes", Bytes(0, LONG_MAX), "0"),
    kept("cluster-migration-barrier", Integer(0, INT_MAX), "1"),
    kept("cluster-allow-replica-migration", YesNo, "yes"),
    kept("cluster-link-sendbuf-limit", Bytes(0, LONG_MAX), "0"),
    kept("cluster-replica-no-failover", YesNo, "no").or("cluster-slave-no-failover"),
    kept("cluster-replica-validity-factor", Integer(0, INT_MAX), "10")
        .or("cluster-slave-validity-factor"),
    kept("tls-cluster", YesNo, "no"),
    kept("cluster-compatibility-sample-ratio", Integer(0, 100), "0"),
];
