// SPDX-License-Identifier: Apache-2.0
//! Connections: commands on the client's own connection, and on those of others.
//!
//! * `simple.rs`: PING, ECHO, SELECT, QUIT, RESET. `auth.rs`: authentication: AUTH, HELLO.
//! * `names.rs`: its names. `mode.rs`: its modes.
//! * `selection.rs`: all connections; `filter.rs`: conditions on them; `list.rs`: their descriptions; `kill.rs`: closing
//!   them.
//! * `hold.rs`: pausing all clients, and unblocking one. `tracking.rs`: caches of clients.

mod auth;
mod filter;
mod hold;
mod kill;
mod list;
mod mode;
mod names;
mod selection;
mod simple;
mod tracking;

pub(crate) use auth::{auth, hello};
pub(crate) use hold::{client_pause, client_unblock, client_unpause};
pub(crate) use kill::{client_kill, kill as close};
pub(crate) use list::{client_info, client_list};
pub(crate) use mode::{
    client_capa, client_import_source, client_no_evict, client_no_touch, client_reply,
};
pub(crate) use names::{client_getname, client_id, client_setinfo, client_setname};
pub(crate) use selection::all_clients;
pub(crate) use simple::{echo, ping, quit, reset, reset_session, select};
pub(crate) use tracking::{client_caching, client_getredir, client_tracking, client_trackinginfo};
