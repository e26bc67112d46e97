// SPDX-License-Identifier: Apache-2.0
//! Servers in this process and others beside it, and plans of small loads.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(unreachable_pub, reason = "a module of several test binaries")]

pub mod oracle;

use cacheperf::{
    Address, KeySpace, Length, Outcome, Plan, Protocol, Spread, Target, Workload, run,
};
use protocol_memcache::{Memcache, MemcacheService, ServiceOptions};
use protocol_ping::{PingProtocol, PingService};
use protocol_resp::strings::{Connection, RespStrings, StringsOptions};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use server::{Builder, Endpoint, Process, TlsAcceptor, TlsOptions};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use storage_hashmap::HashMapStore;

/// Bytes of the largest value.
const VALUE_MAX: usize = 1 << 20;

/// A place on this machine that the system chooses.
pub fn anywhere() -> Endpoint {
    Endpoint::Tcp(([127, 0, 0, 1], 0).into())
}

pub fn store() -> HashMapStore {
    HashMapStore::builder().memory(64 << 20).shards(4).build()
}

/// Serves memcache as `builder` says where.
pub fn memcache_with(builder: Builder) -> Process {
    let service = MemcacheService::new(store(), ServiceOptions::new());
    builder.spawn(|_| Memcache::new(VALUE_MAX), |_| service.clone()).unwrap()
}

pub fn memcache() -> Process {
    memcache_with(Builder::new("test", "0").listen(anywhere(), false))
}

pub fn resp() -> Process {
    let service = RespStrings::new(store(), StringsOptions::new());
    Builder::new("test", "0")
        .listen(anywhere(), false)
        .spawn(|_| Connection::new(VALUE_MAX), |_| service.clone())
        .unwrap()
}

pub fn ping() -> Process {
    ping_at(([127, 0, 0, 1], 0).into())
}

pub fn ping_at(address: SocketAddr) -> Process {
    let builder = Builder::new("test", "0").listen(Endpoint::Tcp(address), false);
    builder.spawn(|_| PingProtocol, |_| PingService).unwrap()
}

/// A certificate for localhost, as a file of `folder` and for a server.
pub fn certified(folder: &Path) -> (PathBuf, TlsAcceptor) {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (chain, key) = (folder.join("server.pem"), folder.join("server.key"));
    fs::write(&chain, cert.pem()).unwrap();
    fs::write(&key, signing_key.serialize_pem()).unwrap();
    let acceptor = TlsAcceptor::new(TlsOptions::new(&chain, &key)).unwrap();
    (chain, acceptor)
}

/// The server, in the clear.
pub fn target(protocol: Protocol, process: &Process) -> Target {
    Target::new(protocol, Address::Tcp(process.address().unwrap().to_string()))
}

/// 500 keys with values of many sizes.
pub fn workload(mix: &str) -> Workload {
    let sizes: Spread = "lognormal:100:1:4k".parse().unwrap();
    Workload {
        keys: KeySpace::new(500, "8-40".parse().unwrap(), sizes).unwrap(),
        mix: mix.parse().unwrap(),
        popularity: "zipf:0.9".parse().unwrap(),
        ..Plan::new(Target::new(Protocol::Ping, Address::Tcp(String::new()))).workload
    }
}

/// 3,000 requests of all kinds by two threads, after every key was written.
pub fn plan(target: Target) -> Plan {
    Plan {
        connections: 6,
        threads: 2,
        depth: Some(5),
        warm_up: Duration::ZERO,
        length: Length::Requests(3_000),
        preload: target.protocol.has_keys(),
        workload: workload("get=60,set=20,delete=10,multiget=10"),
        ..Plan::new(target)
    }
}

/// Runs the plan.
pub fn outcome(plan: &Plan) -> Outcome {
    run(plan, &mut |_| {}).unwrap()
}

/// The figures of [`plan`] are those of a cache that works.
pub fn assert_sound(outcome: &Outcome) {
    assert_eq!((outcome.errors, outcome.unanswered), (0, 0), "{:?}", outcome.first_errors);
    assert_eq!((outcome.answered, outcome.latency.count), (3_000, 3_000));
    // A multi-get has ten keys.
    let requests = outcome.gets - 9 * (outcome.gets.saturating_sub(1_800) / 10);
    assert!((1_800..2_500).contains(&requests), "{} gets", outcome.gets);
    assert!((480..720).contains(&outcome.sets), "{} sets", outcome.sets);
    assert!((210..390).contains(&outcome.deletes), "{} deletes", outcome.deletes);
    // What is deleted is missed until it is written again.
    let ratio = outcome.hit_ratio.unwrap();
    assert!((0.5..0.99).contains(&ratio), "{ratio}");
}
