// SPDX-License-Identifier: Apache-2.0
//! Dialects: how programs that a server takes the place of say what the settings say.
//!
//! The settings are the tables of [`crate::settings`] and a server's own; TOML is read straight into
//! them. A dialect is a second table, whose rows say by which name another program knows a setting and
//! what its values mean:
//!
//! * [`memcached`]: flags of the command line.
//! * [`redis`]: `redis.conf`, and its parameters as flags.

pub mod memcached;
pub mod redis;
