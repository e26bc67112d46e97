// SPDX-License-Identifier: Apache-2.0
//! [`UdpPort`]: the port of `-U`.

use clap::builder::TypedValueParser;
use clap::{Arg, Command, Error, value_parser};
use std::ffi::OsStr;

/// Reads a port for datagrams. 0 is none. With -1, as with memcached, the system chooses one, which is the port 0 of an
/// address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UdpPort;

impl TypedValueParser for UdpPort {
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
