// SPDX-License-Identifier: Apache-2.0
//! A memcached replacement: memcache's text protocol over the hash table store.
//!
//! The wiring and nothing else: `args.rs` is the command line, `config.rs` the file. The protocol and
//! its service are in `crates/protocol-memcache`, the store in `crates/storage-hashmap`.
#![forbid(unsafe_code)]

mod args;
mod config;

use args::{Args, NAME, VERSION};
use clap::Parser;
use config::{Config, PORT};
use protocol_memcache::{Memcache, MemcacheService};
use server::cli;
use server::{Builder, Error};
use std::process::ExitCode;
use storage_hashmap::HashMapStore;

/// Shards per worker: enough that two workers seldom want the same one.
const SHARDS_PER_WORKER: usize = 16;

fn main() -> ExitCode {
    cli::exit_code(run(&Args::parse()))
}

fn run(args: &Args) -> Result<(), Error> {
    let config: Config = args.common.load(|config| args.apply(config))?;
    config.check()?;
    let value_max = config.cache.value_max.0 as usize;
    let request_max = Memcache::request_max(value_max);
    let builder = Builder::from_settings(NAME, VERSION, config.sections(), PORT, request_max)?;
    if let Some(answer) = args.common.answer(&config)? {
        cli::print(&answer);
        return Ok(());
    }
    let builder = builder.config_text(::config::print(&config)?);

    let store = HashMapStore::builder()
        .memory(config.cache.memory.0)
        .item_max(config.cache.value_max.0)
        .shards(config.worker.threads.next_power_of_two() * SHARDS_PER_WORKER)
        .evict(config.cache.evict)
        .build();
    let service = MemcacheService::new(store, config.service_options(VERSION));
    builder.run(config.sections(), move || Memcache::new(value_max), |_worker| service.clone())
}
