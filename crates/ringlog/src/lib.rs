// SPDX-License-Identifier: Apache-2.0
//! Logging that never blocks its caller: a bounded ring of reusable buffers.
//!
//! A thread that serves requests must not wait for a disk when it logs. Here it
//! takes an empty buffer from a queue, formats its line into it and puts it into a second queue.
//! Another thread, the one that owns the [`Drain`], writes the lines out and returns the buffers.
//!
//! ```text
//!  log::info!(..)     ┌──── free buffers ◄────┐
//!  klog::command(..)  ▼                       │       ┌─► stderr, stdout
//!   any thread ── format ──► filled buffers ──┴─ Drain┼─► server.log, server.log.1, …
//!                                         its thread  └─► one output per routed target
//! ```
//!
//! # What is promised
//!
//! * **The caller never waits.** It takes no lock and makes no system call except reading the time,
//!   and waking the thread that writes if that sleeps by a [`Bell`] because there was nothing to write.
//!   The worst case is a retry while another thread finishes the few instructions of its own push
//!   or pop. When no buffer is free the line is dropped and counted: [`dropped`].
//! * **The caller never allocates.** All buffers are made at start and never grow. A longer line
//!   is cut and ends in `...[truncated]`. `tests/allocations.rs` counts.
//! * **A line is a line.** Line breaks and other control characters in messages are escaped, so
//!   whatever a client sends cannot forge a line.
//! * **Every line is accounted for.** It is [`written`], [`dropped`] or [`failed`]; failures are
//!   also reported to stderr, at most once a minute.
//!
//! # Where to read on
//!
//! [`Builder`] makes the pair of [`RingLogger`] (`logger.rs`, the caller's half) and [`Drain`]
//! (`drain.rs`, the writer's half). Between them is `ring.rs`; a buffer is a `line.rs`. Behind the
//! drain, `sink.rs` gathers lines into batches and `file.rs` rotates. [`klog`] is the command log:
//! the same ring and the same drain with another line format.
//!
//! # Example
//!
//! ```
//! use ringlog::{Builder, FileOptions, Output};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("server.log");
//! let (logger, mut drain) = Builder::new()
//!     .level(log::LevelFilter::Debug)
//!     .output(Output::File(FileOptions::new(&path).max_bytes(64 << 20).keep(5)))
//!     .route("tls", Output::Stderr)
//!     .sample("session", 100)
//!     .build()?;
//! logger.install()?;
//!
//! log::info!(target: "reactor", "listening on port {}", 11211);
//! drain.run_once();
//!
//! let text = std::fs::read_to_string(&path)?;
//! assert!(text.ends_with("Z INFO  reactor: listening on port 11211\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod bell;
mod builder;
mod counts;
mod drain;
mod error;
mod file;
pub mod klog;
mod ledger;
mod line;
mod logger;
mod output;
mod ring;
mod sink;
mod targets;
mod timestamp;

pub use bell::Bell;
pub use builder::Builder;
pub use counts::{Counts, dropped, failed, written};
pub use drain::Drain;
pub use error::Error;
pub use logger::RingLogger;
pub use output::{FileOptions, Output};
