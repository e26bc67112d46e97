// SPDX-License-Identifier: Apache-2.0
//! Dialects: the settings in the words of the programs that our servers replace.
//!
//! The settings are the tables of [`crate::settings`] and a server's own; TOML is read straight into
//! them. A dialect is a second table. Its rows say which name another program has for a setting and
//! what its values mean:
//!
//! * [`memcached`]: flags of the command line.
//! * [`redis`]: `redis.conf`, and its parameters as flags.

pub mod memcached;
pub mod redis;
