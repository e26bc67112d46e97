// SPDX-License-Identifier: Apache-2.0
//! `cacheperf compare`

use super::load::{TlsArgs, TrafficArgs};
use super::output::{OutputArgs, print};
use crate::live::Live;
use crate::report::compare::{page_of, summary};
use crate::{Address, CompareSettings, Error, Plan, Protocol, ServerSpec, Target, compare, units};

/// Compare servers: start them, and measure them in turns
///
/// For example: cacheperf compare --server 'memcached=memcache,127.0.0.1:22101,memcached -p 22101 -t 1'
/// --server 'ours=memcache,127.0.0.1:22102,segcache -p 22102 -t 1' --preload -d 32
#[derive(Debug, clap::Args)]
pub(super) struct CompareArgs {
    /// NAME=PROTOCOL,ADDRESS,COMMAND: the command stays in the foreground and listens at the address;
    /// `pid:NUMBER` for the command is a server that runs already. May be given several times
    #[arg(long = "server", value_name = "SERVER", required = true)]
    servers: Vec<ServerSpec>,

    /// The name of a server without a store, which answers every get with the same value: what the
    /// kernel alone costs. Nothing is written to it before, and its values are not checked
    #[arg(long = "floor", value_name = "NAME")]
    floors: Vec<String>,

    /// How often each server is measured
    #[arg(long, default_value_t = 5)]
    rounds: usize,

    /// The CPU that servers run on
    #[arg(long, value_name = "CPU", default_value_t = 0)]
    server_cpu: usize,

    /// The CPU that the generator runs on
    #[arg(long, value_name = "CPU", default_value_t = 1)]
    client_cpu: usize,

    /// Bind nobody to a CPU
    #[arg(long)]
    unpinned: bool,

    /// Show what the servers print
    #[arg(long)]
    server_output: bool,

    /// Send so many requests per second: an open loop (k, m)
    #[arg(short, long, value_parser = units::decimal)]
    rate: Option<u64>,

    #[command(flatten)]
    traffic: TrafficArgs,

    #[command(flatten)]
    tls: TlsArgs,

    #[command(flatten)]
    output: OutputArgs,
}

impl CompareArgs {
    /// Whether nothing went wrong.
    pub(super) fn execute(&self) -> Result<bool, Error> {
        let settings = CompareSettings {
            servers: self.servers.clone(),
            floors: self.floors.clone(),
            rounds: self.rounds,
            server_cpu: (!self.unpinned).then_some(self.server_cpu),
            client_cpu: (!self.unpinned).then_some(self.client_cpu),
            server_output: self.server_output,
            tls: self.tls.connector()?,
        };
        // Each server has a target of its own.
        let nowhere = Target::new(Protocol::Memcache, Address::Tcp(String::new()));
        let mut plan = self.traffic.plan(nowhere)?;
        plan.rate = self.rate.map(|rate| rate as f64);
        plan.check()?;
        let plan: Plan = plan;
        let mut live = Live::new("");
        let found = compare(&settings, &plan, &mut |name, round, event| {
            live.label(&format!("round {} of {}, {name}: ", round + 1, self.rounds));
            live.watch(event);
        })?;
        print(&summary(&found));
        self.output.write(&found, || page_of(&found))?;
        let samples = found.contenders.iter().flat_map(|contender| &contender.samples);
        Ok(samples.map(|sample| sample.outcome.errors).sum::<u64>() == 0)
    }
}
