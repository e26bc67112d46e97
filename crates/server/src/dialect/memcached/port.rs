// SPDX-License-Identifier: Apache-2.0
//! [`Port`]: the port of `-p` and of `-U`.

use clap::builder::TypedValueParser;
use clap::{Arg, Command, Error, value_parser};
use std::ffi::OsStr;

/// Reads a port; `None` for 0. With -1, as with memcached, the system chooses one, which is the port 0 of an address.
#[derive(Clone, Copy, Debug)]
pub struct Port;

impl TypedValueParser for Port {
    type Value = Option<u16>;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Option<u16>, Error> {
        if value == "-1" {
            return Ok(Some(0));
        }
        let port = value_parser!(u16).parse_ref(command, arg, value)?;
        Ok((port != 0).then_some(port))
    }
}
