// SPDX-License-Identifier: Apache-2.0
//! ACL: users and what they may do.
//!
//! * `users.rs`: makes, changes, describes and removes users. `file.rs`: the file of users.
//! * `log.rs`: what was denied. `dryrun.rs`: what would be.
//! * `facts.rs`: categories, random passwords.

mod dryrun;
mod facts;
mod file;
mod log;
mod users;

pub(crate) use dryrun::dryrun;
pub(crate) use facts::{cat, genpass};
pub(crate) use file::{load, save};
pub(crate) use log::log;
pub(crate) use users::{deluser, getuser, list, setuser, users, whoami};
