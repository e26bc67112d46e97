// SPDX-License-Identifier: Apache-2.0
//! [`Port`]: the port of `-p`.

use clap::builder::TypedValueParser;
use clap::{Arg, Command, Error, value_parser};
use std::ffi::OsStr;

/// Reads a port. 0 lets the system choose one, and so does -1, which is how memcached is asked for that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Port;

impl TypedValueParser for Port {
    type Value = u16;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<u16, Error> {
        if value == "-1" {
            return Ok(0);
        }
        value_parser!(u16).parse_ref(command, arg, value)
    }
}
