// SPDX-License-Identifier: Apache-2.0
//! [`Settings`]: a configuration such as a cache server's.

use config::{ByteSize, Span};
use serde::{Deserialize, Serialize};
use server::settings::{Admin, DebugLog, Klog, Server, Tls, Worker};
use std::collections::BTreeMap;

/// The sections that all servers share, and one with every other shape a setting can have.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    server: Server,
    worker: Worker,
    admin: Admin,
    tls: Tls,
    debug: DebugLog,
    klog: Klog,
    store: Store,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Store {
    memory: ByteSize,
    max_value: Option<ByteSize>,
    lifetime: Span,
    load: f64,
    shards: u8,
    offset: i64,
    prefix: char,
    eviction: Eviction,
    names: Vec<String>,
    tiers: Vec<Tier>,
    pair: (u16, bool),
    quotas: BTreeMap<String, ByteSize>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Eviction {
    #[default]
    None,
    RandomFifo,
    Merge,
}

#[derive(Debug, Serialize, Deserialize)]
struct Tier {
    path: String,
    size: ByteSize,
    #[serde(default)]
    inner: Option<Box<Tier>>,
}
