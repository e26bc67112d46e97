// SPDX-License-Identifier: Apache-2.0
//! `cacheperf replay`

use super::load::ServerArgs;
use super::output::{OutputArgs, print, provenance};
use crate::live::Live;
use crate::report::html::run_svg;
use crate::report::replay::{misses, page_of};
use crate::report::text;
use crate::{Error, Plan, ReplaySettings, Trace, WarmUp, replay, units};
use std::path::PathBuf;
use std::time::Duration;

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

    /// Send by the times of the trace, so many times as fast: 1 is as it was recorded, 10 ten times
    /// that. An open loop: latencies count from those times. Without it each request waits for those
    /// before
    #[arg(long, value_name = "FACTOR")]
    speed: Option<f64>,

    /// The first records, which fill the cache: 20%, or a number (k, m). Misses are told of the whole
    /// trace, and of what is behind these
    #[arg(short, long, value_name = "RECORDS", default_value = "20%")]
    warm_up: WarmUp,

    /// Connections, of all threads together; each key has its own
    #[arg(short, long, default_value_t = 1)]
    connections: usize,

    /// Threads, each with its share of the connections
    #[arg(short, long, default_value_t = 1)]
    threads: usize,

    /// Requests of a pipeline; with --speed the most that are under way on a connection
    #[arg(short, long, default_value_t = 64)]
    depth: usize,

    /// A connection that breaks is opened again. End when nobody could be reached for so long; 0 is to
    /// open none again
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = units::duration)]
    give_up_after: Duration,

    #[command(flatten)]
    server: ServerArgs,

    #[command(flatten)]
    output: OutputArgs,
}

impl ReplayArgs {
    /// Whether nothing went wrong.
    pub(super) fn execute(&self) -> Result<bool, Error> {
        let plan = Plan {
            more: self.server.more(),
            connections: self.connections,
            threads: self.threads,
            depth: Some(self.depth),
            give_up_after: self.give_up_after,
            ..Plan::new(self.server.target()?)
        };
        let trace = Trace::read(&self.trace, self.max.unwrap_or(u64::MAX))?;
        let provenance = provenance(&plan)?;
        let mut live = Live::of(&plan);
        let settings = ReplaySettings { speed: self.speed, warm_up: self.warm_up };
        let found = replay(&plan, &settings, &trace, &mut |event| live.watch(event))?;
        print(&text::provenance(&provenance));
        print(&text::summary(&found.outcome));
        print(&misses(&found));
        let page = || page_of(&found, &provenance);
        self.output.write(&found, &provenance, page, || run_svg(&found.outcome, &provenance))?;
        Ok(super::is_clean(&found.outcome))
    }
}
