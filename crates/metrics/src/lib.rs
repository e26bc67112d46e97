// SPDX-License-Identifier: Apache-2.0
//! Counters, gauges and histograms that workers bump without sharing cache lines.
//!
//! A metric is a `static` in the file of the code that bumps it. The macros [`counters!`], [`gauges!`],
//! [`levels!`], [`totals!`], [`families!`] and [`histograms!`] declare it, in one row: its name as Prometheus has it,
//! its labels, its unit, and as a doc comment its help text. The
//! linker gathers all metrics of the process, so nothing is registered by hand and a crate that
//! declares some needs no dependency but this one.
//!
//! ```standalone_crate
//! metrics::counters! {
//!     /// Keys that were looked up.
//!     "example_lookups_total" {
//!         pub static HIT: result = "hit";
//!         pub static MISS: result = "miss";
//!     }
//! }
//! metrics::histograms! {
//!     /// Time from the first byte of a request to the last byte of its reply.
//!     pub static DURATION: "example_request_duration_seconds" in nanoseconds;
//! }
//!
//! let mut window = metrics::Window::default(); // owned by the admin thread
//!
//! HIT.increment();
//! DURATION.record(12_000);
//! window.tick(); // once a second
//!
//! assert_eq!(metrics::value("example_lookups_total{result=\"hit\"}"), Some(1));
//! let text = metrics::prometheus(&window);
//! assert!(text.contains("# HELP example_lookups_total Keys that were looked up.\n"));
//! assert!(text.contains("# TYPE example_lookups_total counter\n"));
//! assert!(text.contains("\nexample_lookups_total{result=\"hit\"} 1\n"));
//! assert!(text.contains("example_request_duration_seconds_bucket{le=\"0.000016383\"} 1\n"));
//! ```
//!
//! # How a bump travels
//!
//! ```text
//!  worker 0  GET.increment() ──▶ its own block  ┐
//!  worker 1  GET.increment() ──▶ its own block  ├──▶ sum ──▶ prometheus / json / stats / value
//!  worker N  GET.increment() ──▶ its own block  ┘            (the reader adds up)
//! ```
//!
//! Each thread owns a **block**: a cell per counter and gauge, and a table of buckets per
//! histogram. A bump reads the thread-local pointer to the block, indexes it with the number kept
//! in the static and does one relaxed load and one relaxed store: no read-modify-write, no lock,
//! no allocation (except on the thread's first bump, and its first record of each histogram). No
//! cache line is written by two threads. When a thread ends, its block keeps its values and goes to
//! the next thread that needs one. Readers see every bump that happened before the read, such as
//! those of a joined thread; other bumps as soon as the hardware makes them visible.
//!
//! # One moment
//!
//! The text forms first let every [`Source`] copy in the numbers that are kept elsewhere, then read all
//! values, and only then write. So all values of one text are of the same moment, to within the
//! microseconds that reading takes; no metric is older because it is updated at an interval of its own.
//!
//! # Which type
//!
//! | type | what it holds | bumped by | Prometheus type |
//! |---|---|---|---|
//! | [`Counter`] | events since the start | every thread | counter |
//! | [`Total`] | a count kept elsewhere, copied in | one thread | counter |
//! | [`Gauge`] | how many there are, as ups and downs | every thread | gauge |
//! | [`Level`] | how many there are, as a value | one thread | gauge |
//! | [`Family`] | a level for each value of a label | one thread | gauge |
//! | [`TotalFamily`] | a count for each value of a label, copied in | one thread | counter |
//! | [`HistogramFamily`] | a distribution for each value of a label, copied in | one thread | histogram |
//! | [`Histogram`] | the distribution of a value | every thread | histogram |
//!
//! Histograms that labels tell apart are shown from their first value on.
//!
//! # What is shown
//!
//! A program shows what it uses: the linker also finds the metrics of code that never runs in it. A crate names what
//! belongs together as a [`MetricSet`], and a server calls [`show_only`] with those sets that are in use.
//!
//! # Which file next
//!
//! - `block.rs`: the blocks, who owns them and how a finished thread's is reused.
//! - `slot.rs`: how a static finds its cell. `counter.rs` and `gauge.rs` are thin layers over it.
//! - `bucket.rs`: the log-linear buckets; `histogram.rs`: the metric made of them.
//! - `family.rs`: figures with a label. `distribution.rs`: a histogram as it is shown. `source.rs`: who copies figures
//!   in.
//! - `declare.rs`: the macros; `registry.rs`: everything declared, by name. `unit.rs`: base units. `metric_set.rs`: what is
//!   shown.
//! - `window.rs`: percentiles of the last minute. `exposition.rs`: what all text forms show; `prometheus.rs` and
//!   `flat.rs`: the forms. `build.rs`: what was built.
//! - `process.rs`: the metrics every process has.

#![forbid(unsafe_code)]

mod block;
mod bucket;
mod build;
mod counter;
mod declare;
mod distribution;
mod exposition;
mod family;
mod flat;
mod gauge;
mod histogram;
mod metric_set;
pub mod process;
mod procfs;
mod prometheus;
mod registry;
mod slot;
mod source;
mod unit;
mod window;

pub use build::set_build_info;
pub use counter::{Counter, Total};
pub use distribution::Distribution;
pub use family::{Family, FamilyOf, Figure, HistogramFamily, TotalFamily};
pub use flat::{json, vars};
pub use gauge::{Gauge, Level};
pub use histogram::Histogram;
pub use metric_set::{MetricSet, show_only};
pub use prometheus::{OPENMETRICS_TYPE, PROMETHEUS_TYPE, openmetrics, prometheus};
pub use registry::{Description, Kind, duplicates, list, value};
pub use source::{Source, refresh};
pub use unit::Unit;
pub use window::{Percentile, Window};

#[doc(hidden)]
pub mod __private {
    //! What the declaring macros expand to. Not part of the interface.
    pub use crate::declare::{is_plain, is_unit, is_valid_name};
    pub use metriken_core;
}
