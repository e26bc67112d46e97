// SPDX-License-Identifier: Apache-2.0
//! A memcached replacement: memcache's text and binary protocol over a choice of storages, and RESP's
//! string commands over the same items.
//!
//! This crate is only wiring: `config.rs` is the table of settings, `args.rs` the flags about the
//! cache. What any server needs that is run as memcached is comes from `crates/server` and
//! `crates/server-memcache`. The protocols and their services are in `crates/protocol-memcache` and
//! `crates/protocol-resp`, the storages in `crates/storage-*`.
#![forbid(unsafe_code)]

mod args;
mod config;
#[cfg(test)]
mod pages;

use args::{NAME, VERSION};
use config::{Config, PORT, Storage};
use protocol::{Either, Sharing};
use protocol_memcache::{Memcache, MemcacheService};
use protocol_resp::strings::{self, Commands, Connection};
use server::cli;
use server::dialect::memcached::Arguments;
use server::settings::Configuration;
use server::{Builder, Error};
use server_memcache::{Files, MemcacheProcess};
use std::process::ExitCode;
use std::sync::Arc;
use storage::{Receive, Scan};
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
    args.exit_code(run(&args))
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
    let files = Files::read(&config.memcache)?;
    let builder = Builder::from_settings(NAME, VERSION, config.sections(), PORT, request_max)?;
    let builder = builder
        .listen_on(RESP, &resp, config.server.socket_mode)
        .datagrams(MEMCACHE, config.udp.addresses(&config.server), config.udp.limits())
        .output_memory(config.output_memory())
        .greetings(args.notice().into_iter().collect())
        .metrics(metric_sets(&config));
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

/// The metrics of what is in use.
fn metric_sets(config: &Config) -> Vec<metrics::MetricSet> {
    let mut sets = vec![protocol_memcache::metrics::METRICS, storage::metrics::METRICS];
    sets.push(match config.cache.storage {
        Storage::Seg => storage_seg::METRICS,
        Storage::HashMap => storage_hashmap::METRICS,
    });
    if !config.resp_listen().is_empty() {
        sets.extend([protocol_resp::COMMAND_METRICS, strings::metrics::METRICS]);
    }
    sets
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
fn serve<S>(store: S, config: &Config, files: Files, builder: Builder) -> Result<(), Error>
where
    S: Scan + Receive + Clone + Send + 'static,
{
    let value_max = config.cache.value_max().0 as usize;
    let codec = Memcache::new(value_max).forms(config.memcache.forms());
    let (builder, codec, options) =
        files.follow(builder, codec, config.service_options(NAME, VERSION));
    let (level, shown) = (config.debug.log_level.into(), config.clone());
    let text = move |memory| shown.text_with_memory(memory);
    let process = Arc::new(MemcacheProcess::new(builder.controls(), level, text));
    let memcache = MemcacheService::within(process, store, options);
    let codec = codec.crowd(memcache.crowd());
    if config.resp_listen().is_empty() {
        let services = builder.clones(memcache);
        return builder.run(config.sections(), move |_tag| codec.clone(), services);
    }
    let resp = Commands::new(config.resp_options(format!("{NAME} {VERSION}")));
    let connection = move |tag| match tag {
        RESP => Either::B(Connection::new(value_max)),
        _ => Either::A(codec.clone()),
    };
    let services = builder.clones(Sharing::new(memcache, resp));
    builder.run(config.sections(), connection, services)
}
