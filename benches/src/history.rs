// SPDX-License-Identifier: Apache-2.0
//! Checks that what concurrent clients see of a server can be explained: every operation happened at one
//! moment between its call and its answer, one after the other ("linearizable").
//!
//! ```text
//!   plan ──▶ wire ──▶ server ──▶ wire ──▶ record ──▶ check ──▶ show
//!   operations  bytes           answers   events     verdict   text
//!                                              ╲      ╱
//!                                               model
//! ```
//!
//! * [`text`]: values that identify their writer, so that a torn value is detected at once.
//! * [`model`]: what operations do to keys: the specification.
//! * [`check`](mod@check): the search for an order that explains a history. Its tests plant faults in
//!   histories and compare the search with one that tries every order.
//! * [`plan`]: random operations. [`wire`]: the two protocols. [`record`]: clients and their clock.
//! * [`runs`]: servers, engines, storages and memory, and one run of each.
//! * `show`: what is printed of a violation.

pub mod check;
pub mod model;
pub mod plan;
pub mod record;
pub mod runs;
mod show;
#[cfg(test)]
mod tests;
pub mod text;
pub mod wire;

pub use check::{Event, Verdict, Violation, check};
