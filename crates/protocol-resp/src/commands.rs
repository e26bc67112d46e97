// SPDX-License-Identifier: Apache-2.0
//! The command functions, with one file or folder for each group of the [table](crate::table).
//!
//! A function gets a [`Call`](crate::engine::call::Call). One that is also compiled over a store (`strings/`) gets
//! what the calls of both services have: [`AnyCall`](crate::engine::any_call::AnyCall), or what `access.rs` says of
//! strings and keys. `run.rs` finds the function of a command.
//! `dispatch.rs` is shared by the containers of sub-commands, `named.rs` by commands that name elements of a collection. `options.rs`, `deadline.rs`, `ranges.rs`,
//! `random_count.rs`, `double.rs` and `long_double.rs` parse arguments that many commands have.

pub(crate) mod access;
pub(crate) mod acl;
pub(crate) mod bitmaps;
pub(crate) mod cluster;
pub(crate) mod connection;
pub(crate) mod deadline;
pub(crate) mod dispatch;
mod double;
#[cfg(feature = "scripts")]
pub(crate) mod functions;
pub(crate) mod generic;
pub(crate) mod geo;
pub(crate) mod hashes;
pub(crate) mod hyperloglog;
pub(crate) mod lists;
mod long_double;
pub(crate) mod monitor;
mod named;
mod options;
pub(crate) mod other;
pub(crate) mod pubsub;
mod random_count;
mod ranges;
pub(crate) mod run;
pub(crate) mod scripts;
pub(crate) mod server;
pub(crate) mod sets;
pub(crate) mod sorted_sets;
pub(crate) mod streams;
pub(crate) mod strings;
pub(crate) mod transactions;
#[cfg(not(feature = "scripts"))]
pub(crate) mod without_functions;

#[cfg(not(feature = "scripts"))]
pub(crate) use without_functions as functions;
