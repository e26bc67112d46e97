// SPDX-License-Identifier: Apache-2.0
//! Counters, gauges and histograms that workers bump without sharing cache lines.
//!
//! A metric is a `static` in the file of the code that bumps it. The macros [`counters!`], [`gauges!`],
//! [`levels!`], [`totals!`], [`families!`] and [`histograms!`] declare it; its doc comment is its help text. The
//! linker gathers all metrics of the process, so nothing is registered by hand and a crate that
//! declares some needs no dependency but this one.
//!
//! ```
//! metrics::counters! {
//!     /// Keys that were found.
//!     pub static GET_KEY_HIT: "get_key_hit";
//! }
//! metrics::histograms! {
//!     /// Nanoseconds from the first byte of a request to the last byte of its reply.
//!     pub static REQUEST_LATENCY: "request_latency";
//! }
//!
//! let mut window = metrics::Window::default(); // owned by the admin thread
//!
//! GET_KEY_HIT.increment();
//! REQUEST_LATENCY.record(12_000);
//! window.tick(); // once a second
//!
//! assert_eq!(metrics::value("get_key_hit"), Some(1));
//! let text = metrics::prometheus(&window);
//! assert!(text.contains("# HELP get_key_hit Keys that were found.\n"));
//! assert!(text.contains("# TYPE get_key_hit counter\nget_key_hit 1\n"));
//! assert!(text.contains("request_latency_bucket{le=\"16383\"} 1\n"));
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
//! | [`Histogram`] | the distribution of a value | every thread | histogram |
//!
//! # Which file next
//!
//! - `block.rs`: the blocks, who owns them and how a finished thread's is reused.
//! - `slot.rs`: how a static finds its cell. `counter.rs` and `gauge.rs` are thin layers over it.
//! - `bucket.rs`: the log-linear buckets; `histogram.rs`: the metric made of them.
//! - `family.rs`: levels with a label. `source.rs`: who copies levels and totals in.
//! - `declare.rs`: the macros; `registry.rs`: everything declared, by name.
//! - `window.rs`: percentiles of the last minute; `prometheus.rs` and `flat.rs`: the text forms.
//! - `process.rs`: the metrics every process has.

#![forbid(unsafe_code)]

mod block;
mod bucket;
mod counter;
mod declare;
mod family;
mod flat;
mod gauge;
mod histogram;
pub mod process;
mod procfs;
mod prometheus;
mod registry;
mod slot;
mod source;
mod window;

pub use counter::{Counter, Total};
pub use family::Family;
pub use flat::{json, stats};
pub use gauge::{Gauge, Level};
pub use histogram::Histogram;
pub use prometheus::prometheus;
pub use registry::{Description, Kind, duplicates, list, value};
pub use source::Source;
pub use window::{Percentile, Window};

#[doc(hidden)]
pub mod __private {
    //! What the declaring macros expand to. Not part of the interface.
    pub use crate::declare::is_valid_name;
    pub use metriken_core;
}
