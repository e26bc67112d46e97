// SPDX-License-Identifier: Apache-2.0
//! The ping server: tutorial and baseline.
//!
//! A server is wiring. It reads its arguments and its configuration, says which protocol and which
//! service belong together, and hands both to the `server` crate, which owns everything that all
//! servers have in common: sockets, TLS, threads, signals, logs, the admin plane.
//!
//! The protocol and its service are in `crates/protocol-ping`; start reading there.
#![forbid(unsafe_code)]

mod config;

use clap::Parser;
use config::{Config, PORT};
use protocol_ping::{LINE_MAX, PingProtocol, PingService};
use server::cli::{self, CommonArgs};
use server::settings::Configuration;
use server::{Builder, Error};
use std::process::ExitCode;

const NAME: &str = "pingserver";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Answers PING with PONG.
#[derive(Debug, Parser)]
#[command(name = NAME, version = VERSION)]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
}

fn main() -> ExitCode {
    cli::exit_code(run(&cli::parse::<Args>()))
}

fn run(args: &Args) -> Result<(), Error> {
    let mut config: Config = args.common.load()?;
    config.server.port.get_or_insert(PORT);
    // The sections that all servers share become a builder; it refuses what makes no sense.
    let builder = Builder::from_settings(NAME, VERSION, config.sections(), PORT, LINE_MAX)?;
    let builder = builder.metrics([protocol_ping::METRICS]);
    // --check-config and its like are answered once the configuration is known to be good.
    if let Some(answer) = args.common.answer(&config)? {
        cli::print(&answer);
        return Ok(());
    }
    let builder = builder.config_text(::config::print(&config)?);
    // Two closures are the whole difference between this server and any other: one makes the
    // protocol state of a connection, one the service of a worker.
    builder.run(config.sections(), |_tag| PingProtocol, |_worker| PingService)
}
