// SPDX-License-Identifier: Apache-2.0
//! What a server that speaks memcache's protocol needs besides the protocol, a storage and [`server`].
//!
//! * [`MemcacheConfiguration`], [`options`], [`udp_problem`] (`configuration.rs`): the sections `[memcache]` and
//!   `[udp]` beside those that all servers share, and what follows from them.
//! * [`flags`] (`flags.rs`): memcached's flags for these sections.
//! * [`Files`] (`files.rs`): users, and the servers of the cluster.
//! * [`MemcacheProcess`] (`process.rs`): the process, as commands see and change it.
//!
//! ```
//! use protocol_memcache::settings::Memcache;
//! use server::dialect::memcached::{self, Arguments};
//! use server::settings::Udp;
//! use server_memcache::MemcacheConfiguration;
//!
//! server::configuration! {
//!     /// The whole file.
//!     struct Config {
//!         memcache: Memcache,
//!         udp: Udp,
//!     }
//! }
//!
//! impl MemcacheConfiguration for Config {
//!     const PORT: u16 = 11211;
//!
//!     fn memcache(&self) -> (&Memcache, &Udp) {
//!         (&self.memcache, &self.udp)
//!     }
//!
//!     fn memcache_mut(&mut self) -> (&mut Memcache, &mut Udp) {
//!         (&mut self.memcache, &mut self.udp)
//!     }
//! }
//!
//! let words = ["mine", "-B", "ascii", "-U", "11212"].map(Into::into);
//! let flags = memcached::flags(server_memcache::flags());
//! let arguments = Arguments::try_parse(clap::Command::new("mine"), flags, words);
//! let mut config = Config::default();
//! let _start = arguments.expect("flags that are known").apply(&mut config, Config::PORT)?;
//! let options = server_memcache::options(&config, "mine", "1.0.0");
//! assert_eq!((options.udp_port, &options.software[..]), (11212, "mine 1.0.0"));
//! # Ok::<(), server::Error>(())
//! ```
#![forbid(unsafe_code)]

mod configuration;
mod files;
mod flags;
mod process;

pub use configuration::{MemcacheConfiguration, options, udp_problem};
pub use files::Files;
pub use flags::flags;
pub use process::MemcacheProcess;
