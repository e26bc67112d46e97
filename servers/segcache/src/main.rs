// SPDX-License-Identifier: Apache-2.0
//! A memcached replacement: memcache's text and binary protocol over a choice of storages, and RESP's
//! string commands over the same items.
//!
//! This crate is only wiring: `config.rs` is the table of settings, `args.rs` the flags about the
//! cache. The protocols and their services are in `crates/protocol-memcache` and `crates/protocol-resp`, the storages in `crates/storage-*`.
#![forbid(unsafe_code)]

mod args;
mod config;
#[cfg(test)]
mod pages;
mod process;

use args::{NAME, VERSION};
use config::{Config, PORT, Storage};
use process::ServerProcess;
use protocol::{Either, Sharing};
use protocol_memcache::{ClusterFile, Memcache, MemcacheService, UserFile};
use protocol_resp::strings::{Commands, Connection};
use server::cli;
use server::dialect::memcached::Arguments;
use server::settings::Configuration;
use server::{Builder, Error};
use std::process::ExitCode;
use std::sync::Arc;
use storage::Scan;
use storage_hashmap::HashMapStore;
use storage_seg::SegStore;
use storage_seg::settings::refusal;

/// Shards per worker: enough that two workers seldom need the same one at once.
const SHARDS_PER_WORKER: usize = 16;

/// The tag of memcache's listeners and datagrams.
const MEMCACHE: u16 = 0;

/// The tag of the listeners for RESP.
const RESP: u16 = 1;

fn main() -> ExitCode {
    let args = Arguments::parse(args::command(), args::flags());
    cli::exit_code(run(&args).map_err(|error| args.named(error)))
}

fn run(args: &Arguments<Config>) -> Result<(), Error> {
    let mut config: Config = args.common.load()?;
    let start = args.apply(&mut config, PORT)?;
    let mut config = config.settled();
    config.check()?;
    let (value_max, resp) = (config.cache.value_max().0 as usize, config.resp_listen());
    // The largest request of the protocols in use.
    let mut request_max = Memcache::request_max(value_max);
    if !resp.is_empty() {
        request_max = request_max.max(Connection::request_max(value_max));
    }
    let files = Files {
        users: config.memcache.users().map_err(Error::setting)?,
        cluster: config.memcache.cluster().map_err(Error::setting)?,
    };
    let builder = Builder::from_settings(NAME, VERSION, config.sections(), PORT, request_max)?;
    let builder = builder
        .listen_on(RESP, &resp, config.server.socket_mode)
        .datagrams(MEMCACHE, config.udp.addresses(&config.server), config.udp.limits())
        .output_memory(config.output_memory())
        .greetings(args.notice().into_iter().collect());
    for warning in config.warnings() {
        eprintln!("warning: {warning}");
    }
    if let Some(answer) = args.common.answer(&config)? {
        cli::print(&answer);
        return Ok(());
    }
    // Must come before any other thread is started.
    let mut builder = start.begin(builder)?;
    config.server.max_connections = builder.fit_connections()?;
    let builder = builder.config_text(::config::print(&config)?);
    match config.cache.storage {
        Storage::Seg => serve(segments(&config)?, &config, files, builder),
        Storage::HashMap => serve(hash_map(&config), &config, files, builder),
    }
}

/// The files that are read again while the server runs, besides those that all servers have.
struct Files {
    users: Option<Arc<UserFile>>,
    cluster: Option<Arc<ClusterFile>>,
}

fn segments(config: &Config) -> Result<SegStore, Error> {
    let builder = SegStore::builder()
        .memory(config.cache.memory.0)
        .value_max(config.cache.value_max().0)
        .workers(config.worker.threads);
    // `[cache] evict` comes before the section's policy.
    config
        .seg
        .apply(builder)
        .eviction(config.eviction())
        .build()
        .map_err(|error| Error::setting(refusal(&error)))
}

fn hash_map(config: &Config) -> HashMapStore {
    HashMapStore::builder()
        .memory(config.cache.memory.0)
        .item_max(config.cache.value_max().0)
        .shards(config.worker.threads.next_power_of_two() * SHARDS_PER_WORKER)
        .evict(config.evicts())
        .build()
}

/// Serves `store` until the process is told to stop. Without RESP listeners, memcache is served alone, so
/// RESP costs nothing.
fn serve<S>(store: S, config: &Config, files: Files, mut builder: Builder) -> Result<(), Error>
where
    S: Scan + Clone + Send + 'static,
{
    let value_max = config.cache.value_max().0 as usize;
    let mut codec = Memcache::new(value_max).forms(config.memcache.forms());
    let mut options = config.service_options(VERSION);
    let Files { users, cluster } = files;
    if let Some(cluster) = cluster {
        options = options.cluster(Arc::clone(&cluster));
        let stamp = Arc::clone(&cluster);
        let reread = move || cluster.reread().map_err(|e| e.to_string());
        builder = builder.rereads_when_changed("nodes", reread, move || stamp.has_changed());
    }
    if let Some(users) = users {
        codec = codec.with_login();
        options = options.users(Arc::clone(&users));
        builder = builder.rereads("users", move || users.reread().map_err(|e| e.to_string()));
    }
    let process = Arc::new(ServerProcess::new(builder.controls(), config));
    let memcache = MemcacheService::within(process, store, options);
    if config.resp_listen().is_empty() {
        let services = builder.clones(memcache);
        return builder.run(config.sections(), move |_tag| codec, services);
    }
    let resp = Commands::new(config.resp_options(format!("{NAME} {VERSION}")));
    let connection = move |tag| match tag {
        RESP => Either::B(Connection::new(value_max)),
        _ => Either::A(codec),
    };
    let services = builder.clones(Sharing::new(memcache, resp));
    builder.run(config.sections(), connection, services)
}
