// SPDX-License-Identifier: Apache-2.0
//! One connection: the state that its requests have set up, and the part of it that others may
//! read.
//!
//! * [`connection`]: the state, and the codec over it. [`command`]: a request with its command.
//! * [`user`]: who the client is. [`marks`]: what makes its commands need more checks.
//! * [`replies`]: which replies it wants (CLIENT REPLY).
//! * [`transaction`]: commands between MULTI and EXEC. [`watching`]: the keys watched for them.
//! * [`subscriptions`]: the channels it is subscribed to. [`waiting`], [`blocked_command`]: the keys that a
//!   blocking command waits for, and what is counted when the wait ends.
//! * [`client`]: the part that other connections see. [`listed_client`]: how they see it. [`memory`]: the memory it makes the server
//!   use.

pub(crate) mod blocked_command;
pub(crate) mod client;
pub(crate) mod command;
pub(crate) mod connection;
pub(crate) mod fieldsets;
pub(crate) mod listed_client;
pub(crate) mod marks;
pub(crate) mod memory;
pub(crate) mod replies;
pub(crate) mod subscriptions;
pub(crate) mod transaction;
pub(crate) mod user;
pub(crate) mod waiting;
pub(crate) mod watching;
