// SPDX-License-Identifier: Apache-2.0
//! One connection: what its requests have set up, and what others may know of it.
//!
//! * [`connection`]: the state, and the codec over it. [`command`]: a request and its command.
//! * [`user`]: who the client is.
//! * [`replies`]: which replies it wants (CLIENT REPLY).
//! * [`transaction`]: commands between MULTI and EXEC. [`watching`]: the keys watched for them.
//! * [`subscriptions`]: the channels it listens to. [`waiting`], [`blocked_command`]: what it waits for after a
//!   blocking command, and what is counted then.
//! * [`client`]: what others see. [`memory`]: the memory it makes the server use.

pub(crate) mod blocked_command;
pub(crate) mod client;
pub(crate) mod command;
pub(crate) mod connection;
pub(crate) mod memory;
pub(crate) mod replies;
pub(crate) mod subscriptions;
pub(crate) mod transaction;
pub(crate) mod user;
pub(crate) mod waiting;
pub(crate) mod watching;
