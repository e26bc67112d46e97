// SPDX-License-Identifier: Apache-2.0
//! `cacheperf compare`

use super::line::{self, OfferArgs};
use super::load::{TlsArgs, TrafficArgs};
use super::output::{OutputArgs, print};
use crate::live::Live;
use crate::report::compare::{Emblem, page_of, summary, svg_of};
use crate::report::text;
use crate::{
    CompareSettings, Comparison, Error, Load, Provenance, ServerFacts, ServerSpec, Turn, compare,
};
use serde::Serialize;

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

    /// NAME=FLAGS, as 'big=-s 1k -d 32': a load of several, with the flags of the load that it has in place
    /// of those of the command line. May be given several times: loads take turns within a round
    #[arg(long = "load", value_name = "LOAD")]
    loads: Vec<String>,

    #[command(flatten)]
    offers: OfferArgs,

    #[command(flatten)]
    traffic: TrafficArgs,

    #[command(flatten)]
    tls: TlsArgs,

    #[command(flatten)]
    output: OutputArgs,

    /// What --svg shows against throughput: p999, or the server's CPU time per request
    #[arg(long, value_name = "PLOT", value_enum, default_value_t, help_heading = "Results")]
    svg_plot: Emblem,
}

/// What several loads, or rates, have found, as a file has it.
#[derive(Debug, Serialize)]
struct All<'a> {
    loads: &'a [Comparison],
}

/// What is known of the servers that were compared.
fn servers(found: &[Comparison]) -> Vec<ServerFacts> {
    let contenders = found.first().map_or(&[][..], |comparison| &comparison.contenders);
    let facts = contenders.iter();
    facts.map(|one| ServerFacts { name: one.name.clone(), version: one.version.clone() }).collect()
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
        let loads = self.loads()?;
        let provenance = Provenance::gather();
        let mut live = Live::new("");
        let found = compare(&settings, &loads, &mut |turn, event| {
            live.label(&self.label(turn));
            live.watch(event);
        })?;
        let provenance = provenance.with_servers(servers(&found));
        print(&text::provenance(&provenance));
        print(&summary(&found));
        let page = || page_of(&found, &provenance);
        let svg = || svg_of(&found, self.svg_plot, &provenance);
        match &found[..] {
            [one] if self.loads.is_empty() => self.output.write(one, &provenance, page, svg)?,
            all => self.output.write(&All { loads: all }, &provenance, page, svg)?,
        }
        let samples = found.iter().flat_map(|found| &found.contenders);
        let samples = samples.flat_map(|contender| &contender.samples);
        Ok(samples.map(|sample| sample.outcome.errors).sum::<u64>() == 0)
    }

    fn loads(&self) -> Result<Vec<Load>, Error> {
        if self.loads.is_empty() {
            return Ok(vec![line::load("", &self.traffic, &self.offers)?]);
        }
        let named = self.loads.iter().map(|text| line::named(text, &self.traffic, &self.offers));
        named.collect()
    }

    fn label(&self, turn: Turn<'_>) -> String {
        let load = if turn.load.is_empty() { String::new() } else { format!("{}, ", turn.load) };
        match turn.round {
            Some(round) => {
                format!("round {} of {}, {load}{}: ", round + 1, self.rounds, turn.server)
            }
            None => format!("{load}{}: ", turn.server),
        }
    }
}
