// SPDX-License-Identifier: Apache-2.0
//! [`Command`]: a request, and the command that its name means.

use crate::table::{self, CommandId, Places};
use crate::wire::parse::Request;
use protocol::{ErrorReply, Foreign, Malformed, Parsed};

/// A request, and the command that its name means.
#[derive(Clone, Debug)]
pub struct Command<'a> {
    pub(crate) request: Request<'a>,
    /// `None` if there is no such command.
    pub(crate) id: Option<CommandId>,
}

impl<'a> Command<'a> {
    /// The command that a request means. An HTTP request line closes the connection, as in Redis: a web page
    /// may have made a browser send it, and commands could follow in its headers and body.
    #[inline]
    pub(crate) fn of(parsed: Parsed<Request<'a>>) -> Result<Parsed<Self>, Malformed> {
        let (request, consumed) = match parsed {
            Parsed::Request { request, consumed } => (request, consumed),
            Parsed::NeedMore { at_least } => return Ok(Parsed::NeedMore { at_least }),
            Parsed::Part { .. } => unreachable!("requests of RESP are collected"),
        };
        let id = table::find(request.name());
        if id.is_none() && is_of_http(request.name()) {
            return Err(Malformed::foreign(ErrorReply::NONE, Foreign::Http));
        }
        Ok(Parsed::Request { request: Command { request, id }, consumed })
    }

    /// The key to prefetch, if the command has only one and it is the first argument.
    #[inline]
    pub(crate) fn only_key(&self) -> Option<&[u8]> {
        let has = self.id?.places() == Places::First && self.request.len() > 1;
        has.then(|| self.request.arg(1))
    }

    /// The key to prefetch, if the command has one where it is quickly found: [the only one](Self::only_key), or the
    /// first of a script.
    #[inline]
    pub(crate) fn first_key(&self) -> Option<&[u8]> {
        match self.id?.places() {
            Places::First => self.request.get(1),
            Places::Counted if self.request.get(2) != Some(b"0") => self.request.get(3),
            Places::Counted | Places::Nowhere | Places::Elsewhere => None,
        }
    }

    /// The element of the key's collection that the command accesses, to prefetch.
    #[inline]
    pub(crate) fn element(&self) -> Option<&[u8]> {
        self.request.get(self.id?.element()?)
    }
}

/// Whether a name is the beginning of an HTTP line.
fn is_of_http(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"post") || name.eq_ignore_ascii_case(b"host:")
}
