// SPDX-License-Identifier: Apache-2.0
//! [`replay`]: sends the requests of a recorded trace, as a client with a cache in front of a database
//! would: a key that a get misses is written.
//!
//! All requests for a key use the same connection, so they stay in order. At most one request for a key is in
//! flight, and a missed key is written before any other request; so hits and misses are those of a client
//! that sends one request at a time.
//!
//! A replay goes as fast as replies come, or by the times of the trace. The latter is an open loop: latencies
//! count from the moment at which a request was due to be sent (INV-INTENDED), whatever delayed it.

mod record;
mod source;
mod times;
mod trace;
mod warm;

pub use record::{KEY_DIGITS, Op as RecordedOp, RECORD_BYTES, Record};
pub use trace::Trace;
pub use warm::WarmUp;

use crate::run::{Pacing, play};
use crate::tally::Finds;
use crate::units::show_rate;
use crate::workload::scatter;
use crate::{Error, Length, Outcome, Plan, Watcher};
use serde::Serialize;
use source::{Recorded, Whole};
use std::time::Duration;

/// How a trace is replayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplaySettings {
    /// How many times as fast as it was recorded; `None` is as fast as replies come.
    pub speed: Option<f64>,
    /// The first records, which fill the cache.
    pub warm_up: WarmUp,
}

impl Default for ReplaySettings {
    /// As fast as replies come, with a fifth of the records as the warm-up.
    fn default() -> Self {
        ReplaySettings { speed: None, warm_up: WarmUp::Share(0.2) }
    }
}

/// The misses of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Misses {
    /// Keys that were asked for.
    pub gets: u64,
    /// Keys that were not found.
    pub misses: u64,
    /// Their share; `None` if none was asked for.
    pub miss_ratio: Option<f64>,
    /// The share of bytes of keys and values that were not found, of those that were asked for.
    pub byte_miss_ratio: Option<f64>,
}

impl Misses {
    fn of(finds: &Finds) -> Self {
        Misses {
            gets: finds.gets,
            misses: finds.gets - finds.hits,
            miss_ratio: finds.hit_ratio().map(|found| 1.0 - found),
            byte_miss_ratio: finds.byte_hit_ratio().map(|found| 1.0 - found),
        }
    }
}

/// The results of a replay.
#[derive(Clone, Debug, Serialize)]
pub struct Replayed {
    /// Of the whole trace, as of any run.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Records of the trace.
    pub records: usize,
    /// Records of the warm-up.
    pub warm_up_records: usize,
    /// How many times as fast as it was recorded; `None` is as fast as replies came.
    pub speed: Option<f64>,
    /// The misses of the whole trace.
    pub whole: Misses,
    /// The misses of the records after the warm-up.
    pub behind_warm_up: Misses,
}

/// Replays a trace; the plan says how, and its workload, rate, warm-up and length are not used.
///
/// # Errors
///
/// As [`run`](crate::run()).
pub fn replay(
    plan: &Plan,
    settings: &ReplaySettings,
    trace: &Trace,
    watch: &mut Watcher<'_>,
) -> Result<Replayed, Error> {
    check(plan, settings, trace)?;
    let plan = Plan { rate: None, warm_up: Duration::ZERO, length: Length::ToEnd, ..plan.clone() };
    plan.check()?;
    let lanes = plan.connections as u64;
    let mut parts = vec![Vec::new(); plan.connections];
    for (index, record) in trace.records().iter().enumerate() {
        parts[(scatter(record.key) % lanes) as usize].push(index as u32);
    }
    let times = settings.speed.map(|speed| times::times(trace.records(), speed));
    let sizes = trace.records().iter().map(|record| {
        let key = usize::from(record.key_len).max(record::KEY_DIGITS);
        key + record.value_len as usize
    });
    let warm_at = settings.warm_up.of(trace.len());
    let bytes_max = sizes.max().unwrap_or(0);
    let whole = Whole { records: trace.records.clone(), bytes_max, warm_at };
    let source = |lane: usize| {
        Recorded::new(whole.clone(), std::mem::take(&mut parts[lane]), times.as_deref())
    };
    let pacing = if times.is_some() { Pacing::Sources } else { Pacing::Plan };
    let (outcome, tally) = play(&plan, pacing, source, watch)?;
    let offered_rate = times.as_deref().and_then(rate);
    let load = load(&plan, settings, trace, offered_rate);
    Ok(Replayed {
        records: trace.len(),
        warm_up_records: warm_at,
        speed: settings.speed,
        whole: Misses::of(&tally.finds),
        behind_warm_up: Misses::of(&tally.warm),
        outcome: Outcome { load, offered_rate, ..outcome },
    })
}

/// The settings that make the load, in a line.
fn load(plan: &Plan, settings: &ReplaySettings, trace: &Trace, rate: Option<f64>) -> String {
    let pace = match (settings.speed, rate) {
        (Some(speed), Some(rate)) => {
            format!("open loop by its times x {speed}: {} requests/s, ", show_rate(rate))
        }
        (Some(_), None) => "open loop, all at once, ".to_owned(),
        (None, _) => "closed loop, ".to_owned(),
    };
    format!(
        "{} records, {pace}{} connections, {} threads, depth {}",
        trace.len(),
        plan.connections,
        plan.threads,
        plan.effective_depth()
    )
}

fn check(plan: &Plan, settings: &ReplaySettings, trace: &Trace) -> Result<(), Error> {
    let refuse = |words: String| Err(Error::Setting(words));
    if !plan.target.protocol.has_keys() {
        return refuse(format!("--protocol {}: it has no keys", plan.target.protocol));
    }
    if trace.is_empty() {
        return refuse("the trace is empty".to_owned());
    }
    if let Some(speed) = settings.speed
        && !(speed > 0.0 && speed <= 1e6)
    {
        return refuse(format!(
            "--speed {speed}: write 1 for the trace's own, 10 for ten times that"
        ));
    }
    Ok(())
}

/// Requests per second of the trace; `None` where all are due at once.
fn rate(times: &[u64]) -> Option<f64> {
    let last = times.last().copied().filter(|last| *last > 0)?;
    Some((times.len() - 1) as f64 * 1e9 / last as f64)
}
