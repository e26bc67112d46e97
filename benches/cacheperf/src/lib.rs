// SPDX-License-Identifier: Apache-2.0
//! A load generator for caches: memcache, RESP and ping, over TCP, unix sockets and TLS.
//!
//! The program `cacheperf` is this library behind a command line; `docs/cacheperf.md` says how to use
//! it and what its numbers mean.
//!
//! ```text
//!                        ┌──────────────── worker (a thread) ────────────────┐
//!  Plan ──▶ run ──▶ start│  Source ──▶ Player ──▶ Dialect ──▶ Session ──▶ socket
//!             ▲          │  keys,      due, sent, requests,   mio, TLS       │
//!             │          │  kinds      answered   replies                    │
//!             │          └──────────────┬────────────────────────────────────┘
//!             └── slices of time ◀── Tally ──▶ Outcome ──▶ text, JSON, HTML
//! ```
//!
//! # Where to look
//!
//! * [`Plan`] (`plan.rs`), [`Target`] (`target.rs`), [`Workload`] (`workload/`): the settings of a run.
//! * `player/`: one thread's share of a load, without sockets or a clock. INV-INTENDED, by which a stall
//!   shows in all requests that fell into it, is stated and tested there.
//! * `dialect/`: the protocols, by the client sides of the `protocol-*` crates.
//! * `worker.rs`: the event loop. `run.rs`: threads, start, end, merging.
//! * `worker/attendance.rs`, [`GeneratorAbsences`] (`absences.rs`): when the generator itself did not run. `nothing.rs`: a
//!   server that does nothing, which shows the latencies of the machine alone.
//! * `tally.rs`, [`Outcome`] (`outcome.rs`): the counts of a run, and its results.
//! * [`report`]: text, JSON, the page with its plots. [`Live`] (`live.rs`): the line on a terminal.
//! * [`sweep()`] (`sweep.rs`): the highest rate under a bound. [`compare()`] (`compare/`): servers in turns.
//!   [`replay()`] (`replay/`): a trace.
//! * [`identify()`] (`identify.rs`): what a server is, and speaks. [`Provenance`] (`provenance.rs`): where and
//!   with what something was measured.
//! * [`fan_out()`] (`fan_out.rs`, `player/fan.rs`): the slowest of several requests at once.
//! * [`cli`]: the command line. `system.rs`: CPU time, affinity, open files.
//!
//! # Costs
//!
//! A request costs no allocation, and no system call beyond those of its pipeline: one write,
//! one read and, for many connections, one poll. A value is written directly into the send buffer, and
//! checked in the receive buffer. Recording a latency is one increment in a histogram of the thread.
//!
//! ```no_run
//! use cacheperf::{Address, Plan, Protocol, Target, run};
//!
//! # fn main() -> Result<(), cacheperf::Error> {
//! let target = Target::new(Protocol::Memcache, Address::Tcp("127.0.0.1:11211".into()));
//! let plan = Plan { preload: true, rate: Some(50_000.0), ..Plan::new(target) };
//! let outcome = run(&plan, &mut |_event| {})?;
//! println!("p999: {} ns at {} requests/s", outcome.latency.p999, outcome.rate);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod absences;
pub mod cli;
mod compare;
mod dialect;
mod error;
mod fan_out;
mod identify;
mod live;
mod nothing;
mod outcome;
mod percentile;
mod plan;
mod player;
mod provenance;
mod replay;
pub mod report;
mod run;
mod sweep;
mod system;
mod tally;
mod target;
pub mod units;
mod worker;
mod workload;

pub use absences::GeneratorAbsences;
pub use compare::{
    CompareSettings, Comparison, Contender, Launch, Load, Offer, Peak, Sample, ServerSpec, Spreads,
    Turn, TurnWatcher, compare,
};
pub use error::Error;
pub use fan_out::{FanOut, FanOuts, fan_out};
pub use identify::identify;
pub use live::Live;
pub use outcome::{Latency, Moment, Outcome};
pub use percentile::Percentile;
pub use plan::{Length, Plan};
pub use player::Arrivals;
pub use provenance::{Provenance, ServerFacts};
pub use replay::{
    KEY_DIGITS, Misses, RECORD_BYTES, Record, RecordedOp, ReplaySettings, Replayed, Trace, WarmUp,
    replay,
};
pub use run::{Event, Watcher, preload, run};
pub use sweep::{Step, Sweep, SweepSettings, Verdict, rate_min, sweep};
pub use target::{Address, Protocol, Target};
pub use workload::{KEY_MAX, Key, KeySpace, MULTI_MAX, Mix, Popularity, Spread, Workload};
