// SPDX-License-Identifier: Apache-2.0
//! How commands run: checks, locks, execution, blocking.
//!
//! ```text
//!  Command ──▶ admit ──▶ scope ──▶ view ──▶ Call ──▶ Commands::run
//!              may it run?  its keys  locks           the room above
//!                  │
//!                  └──▶ queued (MULTI) · deferred (CLIENT PAUSE) · refused with a fault
//! ```
//!
//! * `service.rs`: [`Engine`](service::Engine), one per worker. `admit.rs`: the checks before a command runs.
//!   `run.rs`: its locks. `execution.rs`: its call under them, and what is noted of it. `exec.rs`: EXEC.
//! * `call.rs`, `keys.rs`: the arguments of a command function. `any_call.rs`: the part of them that both
//!   services have. `function.rs`: the trait through which the engine calls the functions.
//! * `blocking.rs`: blocked clients, and how they are served. `worker.rs`: the state of a worker.
//! * `cluster.rs`: sends clients to other nodes, and removes what is theirs.
//! * `script.rs`: scripts, and the commands that they run. `unknown.rs`: errors for unknown commands. `journal.rs`:
//!   the command log. `key_sizes.rs`: counting the sizes of values.
//!   `migrate.rs`: the end of migrations.
//!
//! # Atomicity
//!
//! A command locks the shards of all its keys before it reads any of them. It holds the locks until
//! its reply is written and the clients that waited for its keys are served. EXEC locks the shards
//! of all its commands. There are no deadlocks: the keyspace takes locks in one fixed order, and
//! the tables of watches, waiters and channels have locks of their own, which are taken only after
//! those of shards and released before anything else is locked.

pub(crate) mod admit;
pub(crate) mod any_call;
pub(crate) mod blocking;
pub(crate) mod call;
mod cluster;
mod exec;
mod execution;
pub(crate) mod function;
mod journal;
pub(crate) mod key_sizes;
pub(crate) mod keys;
mod migrate;
mod rights;
mod run;
#[cfg(feature = "scripts")]
pub(crate) mod script;
pub(crate) mod service;
pub(crate) mod unknown;
pub(crate) mod worker;
