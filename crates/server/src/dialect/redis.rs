// SPDX-License-Identifier: Apache-2.0
//! Redis's parameters: in a `redis.conf`, as flags, and by their names in a TOML file.
//!
//! A server has a table of parameters ([`ParameterTable`]). A parameter that sets the same as a key of a
//! shared section is stored in the section: those about listening by `redis/listening.rs`, all others by a
//! row of `redis/shared.rs`. The remaining parameters are kept by name ([`Parameters`]).
//!
//! * `redis/names.rs`: the contract of a table of parameters.
//! * `redis/conf.rs`: lines of a `redis.conf`. `redis/flags.rs`: the command line.
//! * `redis/parameters.rs`: the section of a TOML file.
//! * `redis/load.rs`: from files and flags to a configuration.
//! * `redis/start.rs`: going to the background, and the first lines of the log.

mod conf;
mod elsewhere;
mod flags;
mod listening;
mod load;
mod names;
mod parameters;
mod shared;
mod start;

pub use conf::{Directive, Error, Place, Unknown};
pub use flags::{Flags, command, hide_secrets};
pub use load::{Loaded, RedisConfiguration};
pub use names::{Name, ParameterTable};
pub use parameters::Parameters;
pub use shared::shown;
pub use start::{goes_behind, greetings};

#[cfg(test)]
mod tests;
