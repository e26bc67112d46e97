// SPDX-License-Identifier: Apache-2.0
//! [`run`]: from a [`Plan`] to an [`Outcome`].
//!
//! The calling thread starts the workers, waits until all their connections are ready, tells them to
//! begin, and merges their counts, slice of time by slice of time.

mod merge;

use crate::dialect::{Dialect, Meta, Ping, Resp, Text};
use crate::outcome::{Latency, cdf};
use crate::player::{Pace, Player, Schedule, Setup, Window};
use crate::tally::{Latencies, Tally};
use crate::worker::{Message, Slices, Worker};
use crate::workload::{Filling, Source, Synthetic, scatter};
use crate::{Error, FanOut, GeneratorAbsences, Length, Moment, Outcome, Plan, Protocol, system};
use merge::Merger;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Points of a timeline, about.
const MOMENTS: u32 = 120;
/// The shortest slice of time. To merge one takes some 50 us of the CPU that the workers are on, which must
/// stay below what a p999 shows.
const SLICE_MIN: Duration = Duration::from_millis(100);
/// The longest.
const SLICE_MAX: Duration = Duration::from_secs(1);
/// The length of a slice in a run whose end is not known.
const SLICE_UNKNOWN: Duration = Duration::from_millis(250);

/// Most requests of a pipeline that writes all keys before a run.
const PRELOAD_DEPTH: usize = 64;
/// Bytes of such a pipeline, about.
const PRELOAD_BYTES: usize = 256 << 10;

/// What happens during a run, for those who watch.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Every key is being written.
    Preloading,
    /// The connections are ready, and the warm-up begins.
    WarmingUp,
    /// The measured time begins.
    Started,
    /// A slice of the measured time is over.
    Slice(&'a Moment),
    /// The measured time is over.
    Ended,
}

/// Somebody who watches a run.
pub type Watcher<'a> = dyn FnMut(Event<'_>) + 'a;

/// Runs a load and measures.
///
/// # Errors
///
/// When a setting makes no sense, the server cannot be reached, or no connection is left. Refusals,
/// wrong values and the loss of single connections are no errors here: they are counted in the
/// [`Outcome`].
pub fn run(plan: &Plan, watch: &mut Watcher<'_>) -> Result<Outcome, Error> {
    plan.check()?;
    if plan.preload {
        watch(Event::Preloading);
        preload(plan)?;
    }
    let synthetic = Synthetic::new(plan.workload.clone(), !plan.target.protocol.has_keys());
    let seed = scatter(plan.seed);
    let source = |lane| synthetic.reseeded(seed.wrapping_add(lane as u64));
    play(plan, Pacing::Plan, source, watch).map(|(outcome, _)| outcome)
}

/// Writes every key of the workload once.
///
/// # Errors
///
/// As [`run`], and when the server refuses to store something.
pub fn preload(plan: &Plan) -> Result<(), Error> {
    if !plan.target.protocol.has_keys() {
        return Ok(());
    }
    for target in plan.targets() {
        fill(&Plan { target, more: Vec::new(), ..plan.clone() })?;
    }
    Ok(())
}

/// Writes every key to one server.
fn fill(plan: &Plan) -> Result<(), Error> {
    let fitting = PRELOAD_BYTES / plan.workload.keys.bytes_max().max(1);
    let mut plan = Plan {
        depth: Some(fitting.clamp(1, PRELOAD_DEPTH)),
        rate: None,
        fan_out: None,
        reconnect: None,
        warm_up: Duration::ZERO,
        length: Length::ToEnd,
        // What is under way on a connection that breaks would not be written.
        give_up_after: Duration::ZERO,
        ..plan.clone()
    };
    plan.connections = plan.connections.min(plan.workload.keys.count() as usize);
    plan.threads = plan.threads.min(plan.connections);
    let step = plan.connections as u64;
    let source = |lane| Filling::new(&plan.workload, lane as u64, step);
    let (outcome, _) = play(&plan, Pacing::Plan, source, &mut |_| {})?;
    if outcome.errors > 0 {
        let reason = format!(
            "{} of {} keys could not be written: {}",
            outcome.errors,
            plan.workload.keys.count(),
            outcome.first_errors.first().map_or("", String::as_str)
        );
        return Err(Error::Greeting { address: plan.target.address.to_string(), reason });
    }
    Ok(())
}

/// Who says when requests are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pacing {
    /// The plan: at a rate, or as fast as replies come.
    Plan,
    /// The sources, which have times of their own.
    Sources,
}

/// Runs with a source for each connection; what was found, and what was counted.
pub(crate) fn play<S: Source + Send + 'static>(
    plan: &Plan,
    pacing: Pacing,
    source: impl FnMut(usize) -> S,
    watch: &mut Watcher<'_>,
) -> Result<(Outcome, Tally), Error> {
    match plan.target.protocol {
        Protocol::Memcache => play_in(Text, plan, pacing, source, watch),
        Protocol::Meta => play_in(Meta, plan, pacing, source, watch),
        Protocol::Resp2 => play_in(Resp { three: false }, plan, pacing, source, watch),
        Protocol::Resp3 => play_in(Resp { three: true }, plan, pacing, source, watch),
        Protocol::Ping => play_in(Ping, plan, pacing, source, watch),
    }
}

/// The measured time of a plan.
fn window(plan: &Plan) -> Window {
    let start = plan.warm_up.as_nanos() as u64;
    let end = match plan.length {
        Length::Time(time) => start + time.as_nanos() as u64,
        Length::Requests(_) | Length::ToEnd => u64::MAX,
    };
    Window { start, end }
}

fn slices(plan: &Plan, window: Window) -> Slices {
    let len = match plan.length {
        Length::Time(time) => (time / MOMENTS).clamp(SLICE_MIN, SLICE_MAX),
        Length::Requests(_) | Length::ToEnd => SLICE_UNKNOWN,
    };
    Slices { origin_ns: window.start, len_ns: len.as_nanos() as u64 }
}

fn play_in<D: Dialect, S: Source + Send + 'static>(
    dialect: D,
    plan: &Plan,
    pacing: Pacing,
    mut source: impl FnMut(usize) -> S,
    watch: &mut Watcher<'_>,
) -> Result<(Outcome, Tally), Error> {
    system::raise_file_limit();
    let window = window(plan);
    let slices = slices(plan, window);
    let (to_us, from_workers) = channel();
    let mut starts = Vec::new();
    let mut lane = 0;
    for number in 0..plan.threads {
        let share = |all: usize| all / plan.threads + usize::from(number < all % plan.threads);
        let lanes = share(plan.connections);
        let sessions = (lane..lane + lanes).map(|lane| plan.target_of(lane).connect());
        let sessions = sessions.collect::<Result<_, _>>()?;
        let quota = match plan.length {
            Length::Requests(all) => Some(share(all as usize) as u64),
            Length::Time(_) | Length::ToEnd => None,
        };
        let sources = (lane..lane + lanes).map(&mut source);
        let pace = if pacing == Pacing::Plan { pace(plan, number) } else { Pace::Recorded };
        let (depth, verify) = (plan.effective_depth(), plan.verify);
        let reconnect = plan.reconnect;
        let fan_out = plan.fan_out;
        let setup = Setup { pace, depth, window, quota, verify, reconnect, fan_out };
        let player = Player::new(dialect, sources, setup);
        let worker = Worker::new(number, player, plan, lane, sessions)
            .map_err(|error| Error::system("cannot make an event loop", error))?;
        lane += lanes;
        starts.push(start_worker(worker, slices, to_us.clone())?);
    }
    drop(to_us);
    get_ready(plan, &from_workers)?;
    watch(Event::WarmingUp);
    let start = Instant::now();
    // A worker that is gone says so by its silence.
    for go in &starts {
        let _ = go.send(start);
    }
    conduct(plan, window, slices, &from_workers, start, watch)
}

/// When the requests of one thread are sent. The threads of an open loop take turns.
fn pace(plan: &Plan, number: usize) -> Pace {
    let Some(rate) = plan.rate else { return Pace::Closed };
    let threads = plan.threads as f64;
    let offset = number as f64 / threads;
    let seed = scatter(plan.seed ^ number as u64);
    // What is scheduled are users' requests, where each is several requests.
    let rate = rate / plan.fan_out.unwrap_or(1) as f64;
    Pace::Open(Schedule::new(rate / threads, offset, plan.arrivals, seed))
}

/// Starts a worker's thread; what is sent back to it is the moment of the start.
fn start_worker<D: Dialect, S: Source + Send + 'static>(
    worker: Worker<D, S>,
    slices: Slices,
    to_us: Sender<Message>,
) -> Result<Sender<Instant>, Error> {
    let (go, start) = channel();
    let thread = thread::Builder::new().name("worker".to_owned());
    let spawned = thread.spawn(move || worker.run(slices, &to_us, &start));
    spawned.map_err(|error| Error::system("cannot start a thread", error))?;
    Ok(go)
}

/// Waits until all connections are ready.
fn get_ready(plan: &Plan, from_workers: &Receiver<Message>) -> Result<(), Error> {
    for _ in 0..plan.threads {
        let reason = match from_workers.recv() {
            Ok(Message::Ready(Ok(()))) => continue,
            Ok(Message::Ready(Err(reason))) => reason,
            _ => "a thread has failed".to_owned(),
        };
        return Err(Error::Greeting { address: plan.target.address.to_string(), reason });
    }
    Ok(())
}

/// Merges what the workers deliver, and tells who watches.
fn conduct(
    plan: &Plan,
    window: Window,
    slices: Slices,
    from_workers: &Receiver<Message>,
    start: Instant,
    watch: &mut Watcher<'_>,
) -> Result<(Outcome, Tally), Error> {
    let mut merger = Merger::new(plan.threads, window, slices);
    let (mut begun_cpu, mut ended_cpu) = (None, None);
    while !merger.is_done() {
        let next = match (begun_cpu, ended_cpu) {
            (None, _) => window.start,
            (_, None) => window.end,
            _ => u64::MAX,
        };
        let left = Duration::from_nanos(next).saturating_sub(start.elapsed());
        match from_workers.recv_timeout(left.min(PATIENCE_MAX)) {
            Ok(message) => {
                merger.take(message);
                merger.finish_slices(|moment| watch(Event::Slice(moment)));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        let now = start.elapsed().as_nanos() as u64;
        if begun_cpu.is_none() && now >= window.start {
            watch(Event::Started);
            begun_cpu = Some(system::own_ns());
        }
        if ended_cpu.is_none() && now >= window.end {
            ended_cpu = Some(system::own_ns());
            watch(Event::Ended);
        }
    }
    if ended_cpu.is_none() {
        watch(Event::Ended);
    }
    let cpu_ns = ended_cpu.unwrap_or_else(system::own_ns) - begun_cpu.unwrap_or_default();
    finish(plan, merger, cpu_ns)
}

/// No wait is so long that the system would not take it.
const PATIENCE_MAX: Duration = Duration::from_secs(3600);

fn finish(plan: &Plan, merger: Merger, cpu_ns: u64) -> Result<(Outcome, Tally), Error> {
    let (tally, measured) = merger.into_parts();
    match measured {
        Some((seconds, timeline)) if tally.answered > 0 || tally.errors == 0 => {
            Ok((outcome(plan, &tally, seconds, timeline, cpu_ns), tally))
        }
        _ => {
            let unknown = || "a thread has failed".to_owned();
            let reason = tally.told.first().cloned().unwrap_or_else(unknown);
            Err(Error::Lost { address: plan.target.address.to_string(), reason })
        }
    }
}

fn outcome(
    plan: &Plan,
    tally: &Tally,
    seconds: f64,
    timeline: Vec<Moment>,
    cpu_ns: u64,
) -> Outcome {
    Outcome {
        target: plan.servers(),
        load: plan.load(),
        seconds,
        offered_rate: plan.rate,
        rate: tally.answered as f64 / seconds,
        answered: tally.answered,
        lost_connections: tally.lost,
        reconnected: tally.reconnected,
        gets: tally.finds.gets,
        hits: tally.finds.hits,
        hit_ratio: tally.finds.hit_ratio(),
        byte_hit_ratio: tally.finds.byte_hit_ratio(),
        sets: tally.sets,
        set_errors: tally.set_errors,
        deletes: tally.deletes,
        errors: tally.errors,
        wrong_values: tally.wrong,
        unanswered: tally.unanswered,
        first_errors: tally.told.clone(),
        latency: Latency::of(&tally.latencies),
        client_cpu_ns: cpu_ns as f64 / tally.answered.max(1) as f64,
        client_busy: cpu_ns as f64 / (seconds * 1e9 * plan.threads as f64),
        fan_out: fan_out(plan, tally),
        generator_absences: GeneratorAbsences::of(&tally.absences, seconds, plan.threads),
        timeline,
        cdf: cdf(&tally.latencies),
    }
}

/// What users' requests took, where each is several requests.
fn fan_out(plan: &Plan, tally: &Tally) -> Option<FanOut> {
    let width = plan.fan_out?;
    let nothing = Latencies::new();
    let latencies = tally.fan_out.as_ref().unwrap_or(&nothing);
    let rate = plan.rate.unwrap_or_default() / width as f64;
    Some(FanOut { width, rate, latency: Latency::of(latencies), cdf: cdf(latencies) })
}
