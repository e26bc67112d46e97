// SPDX-License-Identifier: Apache-2.0
//! How a command runs, whichever it is.
//!
//! ```text
//!  Command ──▶ admit ──▶ scope ──▶ view ──▶ Call ──▶ Commands::run
//!              may it run?  its keys  locks           the room above
//!                  │
//!                  └──▶ queued (MULTI) · deferred (CLIENT PAUSE) · refused with a fault
//! ```
//!
//! * `service.rs`: [`Engine`](service::Engine), what one worker has. `admit.rs`: whether a command may run.
//!   `run.rs`: its locks, its call, and what comes after. `exec.rs`: EXEC.
//! * `call.rs`, `keys.rs`: what a command function works with. `caller.rs`: the part that both services
//!   have. `function.rs`: what the engine asks of the functions.
//! * `blocking.rs`: clients that wait, and how they are served. `worker.rs`: what a worker keeps.
//! * `unknown.rs`: names that are no command. `journal.rs`: the command log.
//!
//! # Atomicity
//!
//! A command locks the shards of all its keys before it looks at one of them, and keeps them until
//! its reply is written and those who waited for its keys are served. EXEC locks those of all its
//! commands. The keyspace takes locks in one order, so nobody waits in a circle; the tables of
//! watches, waiters and channels have locks of their own, which are only ever taken after those and
//! given back before anything else is locked.

pub(crate) mod admit;
pub(crate) mod blocking;
pub(crate) mod call;
pub(crate) mod caller;
mod exec;
pub(crate) mod function;
mod journal;
pub(crate) mod keys;
mod run;
pub(crate) mod service;
pub(crate) mod unknown;
pub(crate) mod worker;
