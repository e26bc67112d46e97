// SPDX-License-Identifier: Apache-2.0
//! [`compare`]: several servers under the same load in one run, in turns: A, B, C, A, B, C.
//!
//! A machine drifts within minutes, so servers that are measured one after the other cannot be compared.
//! Here each round measures all of them, every round in another order, and ratios are taken within
//! rounds. While one server is measured, the others are stopped by a signal. Each runs on the CPU that
//! it is given, and the generator on another.

mod guard;
mod server;
mod stats;

pub use server::{Launch, ServerSpec};
pub use stats::Spreads;

use crate::{Error, Event, Outcome, Plan, Target, Watcher, run, system};
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
    /// In the order of the rounds.
    pub samples: Vec<Sample>,
}

/// What a comparison has found.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The load.
    pub load: String,
    /// The servers, as they were given.
    pub contenders: Vec<Contender>,
}

/// Starts the servers, measures them in turns, and stops them. Of `plan` the target is not used; with
/// `preload` every key is written once to each server before the first round.
///
/// # Errors
///
/// When a setting makes no sense, a server does not start, or a run fails. The servers are ended in
/// any case, also when a signal ends this process.
pub fn compare(
    settings: &CompareSettings,
    plan: &Plan,
    watch: &mut dyn FnMut(&str, usize, Event<'_>),
) -> Result<Comparison, Error> {
    check(settings)?;
    let before = system::Cpus::current()?;
    let compared = compare_pinned(settings, plan, watch);
    before.pin()?;
    compared
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

fn compare_pinned(
    settings: &CompareSettings,
    plan: &Plan,
    watch: &mut dyn FnMut(&str, usize, Event<'_>),
) -> Result<Comparison, Error> {
    let mut servers = Vec::new();
    let guard = Guard::new()?;
    for spec in &settings.servers {
        let target = Target { tls: settings.tls.clone(), ..spec.target() };
        let floor = settings.floors.contains(&spec.name);
        let preload = plan.preload && !floor;
        let plan = Plan { target, preload, verify: !floor, ..plan.clone() };
        if let Some(cpu) = settings.server_cpu {
            system::Cpus::only(cpu)?.pin()?;
        }
        let server = Server::start(spec, &plan.target, settings.server_output, &guard)?;
        if let Some(cpu) = settings.client_cpu {
            system::Cpus::only(cpu)?.pin()?;
        }
        if plan.preload {
            watch(&spec.name, 0, Event::Preloading);
            crate::preload(&plan)?;
        }
        server.freeze()?;
        servers.push((server, Plan { preload: false, ..plan }));
    }
    let contenders = settings.servers.iter().map(|spec| Contender {
        name: spec.name.clone(),
        command: spec.launch.to_string(),
        samples: Vec::new(),
    });
    let mut contenders: Vec<Contender> = contenders.collect();
    for round in 0..settings.rounds {
        for turn in 0..servers.len() {
            let at = (turn + round) % servers.len();
            let (server, plan) = &servers[at];
            let name = &contenders[at].name;
            server.thaw()?;
            let (outcome, server_cpu) =
                measure(server, plan, &mut |event| watch(name, round, event))?;
            server.freeze()?;
            let server_cpu_ns = server_cpu.map(|ns| ns as f64 / outcome.answered.max(1) as f64);
            contenders[at].samples.push(Sample { round, server_cpu_ns, outcome });
        }
    }
    Ok(Comparison { load: plan.load(), contenders })
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
