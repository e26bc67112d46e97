// SPDX-License-Identifier: Apache-2.0
//! What a server that speaks Redis's protocol needs besides the protocol, a keyspace and [`server`].
//!
//! * [`Redis`] (`parameters.rs`): the parameters of `protocol-resp` as a table for reading a `redis.conf` and flags.
//!   [`configure`] sets them on the service.
//! * [`reread_nodes`] (`nodes.rs`): the nodes of a cluster, which are read again when their file changes.
//! * [`RespProcess`] (`process.rs`): the process, as commands see and change it.
//!
//! ```
//! use server::dialect::redis::{Loaded, Parameters, RedisConfiguration};
//! use server_resp::Redis;
//!
//! server::configuration! {
//!     /// The whole file.
//!     struct Config {
//!         redis: Parameters<Redis>,
//!     }
//! }
//!
//! impl RedisConfiguration for Config {
//!     type Table = Redis;
//!
//!     const PORT: u16 = 6379;
//!
//!     fn parameters_mut(&mut self) -> &mut Parameters<Redis> {
//!         &mut self.redis
//!     }
//! }
//!
//! let mut loaded = Loaded::<Config>::load(None, Vec::new())?;
//! let host = protocol_resp::service::Host::new(16);
//! server_resp::configure(&mut loaded.config, &host);
//! # Ok::<(), server::dialect::redis::Error>(())
//! ```
#![forbid(unsafe_code)]

mod nodes;
mod parameters;
mod process;

pub use nodes::reread_nodes;
pub use parameters::{Redis, configure};
pub use process::RespProcess;
