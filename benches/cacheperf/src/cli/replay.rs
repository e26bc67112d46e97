// SPDX-License-Identifier: Apache-2.0
//! `cacheperf replay`

use super::load::ServerArgs;
use super::output::{OutputArgs, print};
use crate::live::Live;
use crate::{Error, Plan, Trace, replay, units};
use std::path::PathBuf;

/// Replay a trace: what a get does not find is written
///
/// A trace is a file of records of 24 bytes, little-endian: u32 time in ms, u64 key, u32 bytes of the
/// value, u32 ms to live (0 for ever), u16 bytes of the key, u8 kind (0 get, 1 set, 2 delete), u8 0.
#[derive(Debug, clap::Args)]
pub(super) struct ReplayArgs {
    /// The trace
    trace: PathBuf,

    /// Replay the first records only (k, m)
    #[arg(long, value_name = "COUNT", value_parser = units::decimal)]
    max: Option<u64>,

    /// Connections, of all threads together; each key has its own
    #[arg(short, long, default_value_t = 1)]
    connections: usize,

    /// Threads, each with its share of the connections
    #[arg(short, long, default_value_t = 1)]
    threads: usize,

    /// Requests of a pipeline
    #[arg(short, long, default_value_t = 64)]
    depth: usize,

    #[command(flatten)]
    server: ServerArgs,

    #[command(flatten)]
    output: OutputArgs,
}

impl ReplayArgs {
    /// Whether nothing went wrong.
    pub(super) fn execute(&self) -> Result<bool, Error> {
        let plan = Plan {
            connections: self.connections,
            threads: self.threads,
            depth: Some(self.depth),
            ..Plan::new(self.server.target()?)
        };
        let trace = Trace::read(&self.trace, self.max.unwrap_or(u64::MAX))?;
        let mut live = Live::new("");
        let outcome = replay(&plan, &trace, &mut |event| live.watch(event))?;
        self.output.tell(&outcome)?;
        let percent = |ratio: Option<f64>| {
            ratio.map_or("–".to_owned(), |ratio| format!("{:.2} %", 100.0 * (1.0 - ratio)))
        };
        print(&format!(
            "misses       {} of the keys, {} of the bytes; {} sets refused\n",
            percent(outcome.hit_ratio),
            percent(outcome.byte_hit_ratio),
            outcome.set_errors
        ));
        Ok(super::is_clean(&outcome))
    }
}
