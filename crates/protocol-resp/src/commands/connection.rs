// SPDX-License-Identifier: Apache-2.0
//! Connections: what a client asks for itself, and what it does to others.
//!
//! * `simple.rs`: PING, ECHO, SELECT, QUIT, RESET. `auth.rs`: who the client is: AUTH, HELLO.
//! * `names.rs`: what it is called. `mode.rs`: how it is treated.
//! * `selection.rs`: all connections, and which of them are meant; `list.rs`: how they are described;
//!   `kill.rs`: closing them.
//! * `hold.rs`: letting all clients wait, and letting one wait no longer.

mod auth;
mod hold;
mod kill;
mod list;
mod mode;
mod names;
mod selection;
mod simple;

pub(crate) use auth::{auth, hello};
pub(crate) use hold::{client_pause, client_unblock, client_unpause};
pub(crate) use kill::client_kill;
pub(crate) use list::{client_info, client_list};
pub(crate) use mode::{client_no_evict, client_no_touch, client_reply};
pub(crate) use names::{client_getname, client_id, client_setinfo, client_setname};
pub(crate) use simple::{echo, ping, quit, reset, select};
