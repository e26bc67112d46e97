// SPDX-License-Identifier: Apache-2.0
//! A Redis replacement for caching: Redis's protocol and commands over a sharded keyspace in memory.
//!
//! This crate is only wiring. The protocol and its commands are in `crates/protocol-resp`, the
//! keyspace in `crates/storage-typed`, the values in `crates/values`. What any server needs that is run as
//! Redis is comes from `crates/server` and `crates/server-resp`.
//!
//! * `config.rs`: the settings. `allocator.rs`: jemalloc.
#![deny(unsafe_code)]

mod allocator;
mod config;
#[cfg(test)]
mod pages;

use crate::allocator::Bins;
use crate::config::{Loaded, PORT};
use clap::Command;
use keyspace::Keyspace;
use protocol_resp::service::{ConfigFile, Host, RespService};
use server::cli;
use server::dialect::redis::{self, Flags};
use server::settings::Configuration;
use server::{Background, Builder};
use server_resp::{Redis, RespProcess};
use std::process::ExitCode;
use std::sync::Arc;
use storage_typed::TypedStore;

const NAME: &str = "rds";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Shards per worker: enough that two workers seldom want the same one.
const SHARDS_PER_WORKER: usize = 64;

/// The smallest address space that is accepted. The allocator and threads reserve it and never use most of
/// it. With less they fail sooner or later, without a usable error message.
const ADDRESS_SPACE_MIN: u64 = 512 << 20;

/// Why the server did not start, or ended.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Config(#[from] redis::Error),
    #[error(transparent)]
    Server(#[from] server::Error),
    #[error("users are defined in the configuration and in an aclfile: only one of them may be")]
    Users,
    #[error("{0}")]
    Nodes(String),
}

fn main() -> ExitCode {
    if !cli::has_address_space(ADDRESS_SPACE_MIN) {
        eprintln!(
            "error: the address space is limited (ulimit -v) to less than the 512 MB that the \
             server needs to start"
        );
        return ExitCode::FAILURE;
    }
    let flags = Flags::parse::<Redis>(program());
    redis::hide_secrets::<Redis>();
    match run(flags) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The command line, but for its flags.
fn program() -> Command {
    Command::new(NAME).version(VERSION).about("A Redis replacement for caching")
}

fn run(flags: Flags) -> Result<(), Error> {
    let common = flags.common;
    let Loaded { mut config, warnings, is_ours } =
        Loaded::load(common.config.as_deref(), flags.directives)?;
    common.apply(&mut config);
    if config.has_users_twice() {
        return Err(Error::Users);
    }
    config.settle();
    let sections = config.sections();
    let builder = Builder::from_settings(NAME, VERSION, sections, PORT, config.request_bytes())?;
    let builder = builder.greetings(redis::greetings(&config.sections())).metrics([
        protocol_resp::COMMAND_METRICS,
        protocol_resp::service::METRICS,
        storage::metrics::METRICS,
    ]);
    // As in Redis: no client is held; clients that hold too much are closed.
    let builder = match config.worker.output_memory {
        Some(_) => builder,
        None => builder.output_memory(usize::MAX),
    };
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
    if let Some(answer) = common.answer(&config)? {
        cli::print(&answer);
        return Ok(());
    }
    let mut builder = if is_ours { builder } else { builder.log_on_stdout() };
    // Must come before any other thread is started.
    if redis::goes_behind(&config.redis, |name| std::env::var_os(name).is_some()) {
        builder = builder.background(Background::enter()?);
    }
    let pid_file = config.redis.get("pidfile");
    if !pid_file.is_empty() {
        builder = builder.pid_file(pid_file);
    }
    config.server.max_connections = builder.fit_connections()?;
    allocator::start();
    let pool = if config.takes_huge_pages() { allocator::huge_pages() } else { None };
    let keeps_small = config.disables_huge_pages();
    builder = builder.on_worker_start(move |_worker| allocator::adopt(pool, keeps_small));
    let workers = config.worker.threads;
    let mut store = TypedStore::builder()
        .shards(if workers == 1 { 1 } else { workers * SHARDS_PER_WORKER })
        .databases(config.databases());
    match Bins::find(pool) {
        Ok(bins) => store = store.slabs(Arc::new(bins)),
        Err(error) => eprintln!("warning: memory between values is not found: {error}"),
    }
    let store = store.build();
    store.settings().set_overhead(metrics::process::own_bytes());
    let host = Arc::new(Host::new(store.databases()));
    host.adopt(store.settings());
    let process = RespProcess::new(builder.controls()).with_peers(config.tls.peers());
    host.set_platform(Box::new(process.with_allocator(allocator::numbers, allocator::purge)));
    if let Some(file) = common.config.filter(|file| file != ::config::STANDARD_INPUT) {
        let file = std::path::absolute(&file).unwrap_or(file);
        let kind = if is_ours { ConfigFile::Other } else { ConfigFile::RedisConf };
        host.set_config_file(kind(file));
    }
    server_resp::configure(&mut config, &host);
    if host.is_in_cluster() {
        builder = server_resp::reread_nodes(builder, &host).map_err(Error::Nodes)?;
    }
    let text = config.text().map_err(redis::Error::from)?;
    let connections = Arc::clone(&host);
    builder.config_text(text).run(
        config.sections(),
        move |_| connections.connection(),
        move |_| RespService::new(store.clone(), Arc::clone(&host)),
    )?;
    Ok(())
}
