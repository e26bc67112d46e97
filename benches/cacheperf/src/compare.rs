// SPDX-License-Identifier: Apache-2.0
//! [`compare`]: several servers under the same loads in one run, in turns: A, B, C, A, B, C.
//!
//! A machine's speed drifts within minutes, so servers that are measured one after the other cannot be
//! compared. Here each round measures all of them, every round in another order, and ratios are taken
//! within rounds. Several loads take turns as well: a round measures each server under each load, so that
//! loads can be compared, too, and the points of a curve. While one server is measured, the others are
//! stopped by a signal. Each runs on the CPU that it is given, and the generator on another.

mod guard;
mod load;
mod server;
mod stats;

pub use load::{Load, Offer};
pub use server::{Launch, ServerSpec};
pub use stats::Spreads;

use crate::{Error, Event, KeySpace, Outcome, Plan, Target, Watcher, identify, run, system};
use guard::Guard;
use serde::Serialize;
use server::Server;
use session::TlsConnector;

/// How servers are compared.
#[derive(Clone, Debug)]
pub struct CompareSettings {
    /// Who. The first is what the others are compared with.
    pub servers: Vec<ServerSpec>,
    /// The names of those without a store, which answer every get with the same value: nothing is
    /// written to them before, and what they answer is not checked.
    pub floors: Vec<String>,
    /// How often each is measured.
    pub rounds: usize,
    /// The CPU that servers run on; `None` is wherever the system likes.
    pub server_cpu: Option<usize>,
    /// The CPU that the generator runs on.
    pub client_cpu: Option<usize>,
    /// Shows what the servers print.
    pub server_output: bool,
    /// Encrypts the connections.
    pub tls: Option<TlsConnector>,
}

/// One measurement of one server.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// The number of its round, from 0.
    pub round: usize,
    /// CPU time of the server for a request, in nanoseconds; `None` where it cannot be read.
    pub server_cpu_ns: Option<f64>,
    /// What was measured.
    pub outcome: Outcome,
}

/// All measurements of one server.
#[derive(Clone, Debug, Serialize)]
pub struct Contender {
    /// Its name.
    pub name: String,
    /// How it was started.
    pub command: String,
    /// Its version in its own words; `None` if it does not tell.
    pub version: Option<String>,
    /// In the order of the rounds.
    pub samples: Vec<Sample>,
}

/// What a comparison has found under one load at one rate.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The name of the load.
    pub name: String,
    /// The load.
    pub load: String,
    /// Requests per second that the first server answered in a closed loop, where the rate is a share of
    /// that.
    pub peak: Option<Peak>,
    /// The servers, as they were given.
    pub contenders: Vec<Contender>,
}

/// What the first server answers in a closed loop.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Peak {
    /// Requests per second: the median of some measurements.
    pub rate: f64,
    /// The share of it that was offered.
    pub share: f64,
    /// The share of its CPU time that the generator used meanwhile. Near 1 the peak is the generator's own.
    pub client_busy: f64,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// The name of the load.
    pub load: &'a str,
    /// The name of the server.
    pub server: &'a str,
    /// The number of the round, from 0; `None` before the first.
    pub round: Option<usize>,
}

/// Somebody who watches a comparison.
pub type TurnWatcher<'a> = dyn FnMut(Turn<'_>, Event<'_>) + 'a;

/// How often the peak is measured.
const PEAK_RUNS: usize = 3;

/// Starts the servers, measures them in turns under each load, and stops them. What was found, load by load
/// and rate by rate. Loads of different sizes have different keys, and the servers hold them all.
///
/// # Errors
///
/// When a setting makes no sense, a server does not start, or a run fails. The servers are ended in
/// any case, also when a signal ends this process.
pub fn compare(
    settings: &CompareSettings,
    loads: &[Load],
    watch: &mut TurnWatcher<'_>,
) -> Result<Vec<Comparison>, Error> {
    check(settings)?;
    let mut loads = loads.to_vec();
    check_loads(&loads)?;
    load::keep_apart(&mut loads)?;
    let before = system::Cpus::current()?;
    let compared = compare_pinned(settings, &loads, watch);
    before.pin()?;
    compared
}

fn check_loads(loads: &[Load]) -> Result<(), Error> {
    if loads.is_empty() {
        return Err(Error::Setting("--load: there must be one at least".to_owned()));
    }
    for (at, load) in loads.iter().enumerate() {
        load.check()?;
        if loads[..at].iter().any(|other| other.name == load.name) {
            return Err(Error::Setting(format!("--load {}: two loads have this name", load.name)));
        }
    }
    Ok(())
}

fn check(settings: &CompareSettings) -> Result<(), Error> {
    let refuse = |words: String| Err(Error::Setting(words));
    if settings.servers.is_empty() {
        return refuse("--server: there must be one at least".to_owned());
    }
    if settings.rounds == 0 {
        return refuse("--rounds 0: there must be one at least".to_owned());
    }
    for floor in &settings.floors {
        if !settings.servers.iter().any(|server| server.name == *floor) {
            return refuse(format!("--floor {floor}: no server has this name"));
        }
    }
    for (at, server) in settings.servers.iter().enumerate() {
        if settings.servers[..at].iter().any(|other| other.name == server.name) {
            return refuse(format!("--server {}: two servers have this name", server.name));
        }
    }
    Ok(())
}

/// A server that runs, and how it is asked.
struct Runner<'a> {
    name: &'a str,
    server: Server,
    target: Target,
    is_floor: bool,
    version: Option<String>,
}

impl Runner<'_> {
    /// A plan for this server.
    fn plan(&self, plan: &Plan) -> Plan {
        let (target, verify) = (self.target.clone(), !self.is_floor);
        Plan { target, verify, preload: false, ..plan.clone() }
    }

    /// Lets it run alone, under a load once.
    fn measure(
        &self,
        plan: &Plan,
        watch: &mut Watcher<'_>,
    ) -> Result<(Outcome, Option<u64>), Error> {
        self.server.thaw()?;
        let measured = measure(&self.server, &self.plan(plan), watch)?;
        self.server.freeze()?;
        Ok(measured)
    }
}

fn compare_pinned(
    settings: &CompareSettings,
    loads: &[Load],
    watch: &mut TurnWatcher<'_>,
) -> Result<Vec<Comparison>, Error> {
    let guard = Guard::new()?;
    let mut runners = Vec::new();
    for spec in &settings.servers {
        runners.push(start(settings, spec, loads, &guard, watch)?);
    }
    let mut found = Vec::new();
    let mut plans = Vec::new();
    for load in loads {
        let peak = if load.needs_peak() { Some(peak(&runners[0], load, watch)?) } else { None };
        let offers = load.offers.iter().map(|offer| match (*offer, peak) {
            (Offer::OfPeak(share), Some((rate, client_busy))) => {
                (load.at((rate * share).round().max(1.0)), Some(Peak { rate, share, client_busy }))
            }
            (Offer::OfPeak(rate) | Offer::Rate(rate), _) => (load.at(rate), None),
        });
        let mut offers: Vec<_> = offers.collect();
        if offers.is_empty() {
            offers.push((load.plan.clone(), None));
        }
        for (plan, peak) in offers {
            let plan = Plan { target: runners[0].target.clone(), ..plan };
            found.push(empty(settings, &runners, load, &plan, peak));
            plans.push(plan);
        }
    }
    for round in 0..settings.rounds {
        for load in (0..plans.len()).map(|turn| (turn + round) % plans.len()) {
            for at in (0..runners.len()).map(|turn| (turn + round) % runners.len()) {
                let (runner, comparison) = (&runners[at], &mut found[load]);
                let turn = Turn { load: &comparison.name, server: runner.name, round: Some(round) };
                let (outcome, cpu) =
                    runner.measure(&plans[load], &mut |event| watch(turn, event))?;
                let server_cpu_ns = cpu.map(|ns| ns as f64 / outcome.answered.max(1) as f64);
                comparison.contenders[at].samples.push(Sample { round, server_cpu_ns, outcome });
            }
        }
    }
    Ok(found)
}

/// A comparison without samples.
fn empty(
    settings: &CompareSettings,
    runners: &[Runner<'_>],
    load: &Load,
    plan: &Plan,
    peak: Option<Peak>,
) -> Comparison {
    let contenders = settings.servers.iter().zip(runners).map(|(spec, runner)| Contender {
        name: spec.name.clone(),
        command: spec.launch.to_string(),
        version: runner.version.clone(),
        samples: Vec::new(),
    });
    let contenders = contenders.collect();
    Comparison { name: load.name.clone(), load: plan.load(), peak, contenders }
}

/// Starts a server, and writes the keys of all loads to it.
fn start<'a>(
    settings: &CompareSettings,
    spec: &'a ServerSpec,
    loads: &[Load],
    guard: &Guard,
    watch: &mut TurnWatcher<'_>,
) -> Result<Runner<'a>, Error> {
    let target = Target { tls: settings.tls.clone(), ..spec.target() };
    if let Some(cpu) = settings.server_cpu {
        system::Cpus::only(cpu)?.pin()?;
    }
    let server = Server::start(spec, &target, settings.server_output, guard)?;
    if let Some(cpu) = settings.client_cpu {
        system::Cpus::only(cpu)?.pin()?;
    }
    let is_floor = settings.floors.contains(&spec.name);
    let version = identify(&target)?;
    let runner = Runner { name: &spec.name, server, target, is_floor, version };
    let mut written: Vec<&KeySpace> = Vec::new();
    for load in loads.iter().filter(|load| load.plan.preload && !is_floor) {
        let keys = &load.plan.workload.keys;
        if !written.contains(&keys) {
            watch(Turn { load: &load.name, server: runner.name, round: None }, Event::Preloading);
            crate::preload(&runner.plan(&load.plan))?;
            written.push(keys);
        }
    }
    runner.server.freeze()?;
    Ok(runner)
}

/// What a server answers in a closed loop, and how busy the generator was.
fn peak(
    runner: &Runner<'_>,
    load: &Load,
    watch: &mut TurnWatcher<'_>,
) -> Result<(f64, f64), Error> {
    let turn = Turn { load: &load.name, server: runner.name, round: None };
    let mut found = Vec::new();
    for _ in 0..PEAK_RUNS {
        let (outcome, _) = runner.measure(&load.plan, &mut |event| watch(turn, event))?;
        found.push((outcome.rate, outcome.client_busy));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(found[PEAK_RUNS / 2])
}

/// Runs the load once; what was measured, and the server's CPU time in the measured time.
fn measure(
    server: &Server,
    plan: &Plan,
    watch: &mut Watcher<'_>,
) -> Result<(Outcome, Option<u64>), Error> {
    let (mut begun, mut ended) = (None, None);
    let outcome = run(plan, &mut |event| {
        match event {
            Event::Started => begun = system::process_ns(server.pid()),
            Event::Ended => ended = system::process_ns(server.pid()),
            _ => {}
        }
        watch(event);
    })?;
    Ok((outcome, begun.zip(ended).map(|(begun, ended)| ended.saturating_sub(begun))))
}
