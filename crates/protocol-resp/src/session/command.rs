// SPDX-License-Identifier: Apache-2.0
//! [`Command`]: a request, and the command its name stands for.

use crate::table::{self, CommandId, Places};
use crate::wire::parse::Request;
use protocol::{ErrorReply, Foreign, Malformed, Parsed};

/// A request, and the command its name stands for.
#[derive(Clone, Debug)]
pub struct Command<'a> {
    pub(crate) request: Request<'a>,
    /// `None`: there is no such command.
    pub(crate) id: Option<CommandId>,
}

impl<'a> Command<'a> {
    /// The command that a request means. A line of HTTP closes the connection, as in Redis: behind it
    /// come others, and a body, which a web page may have made its reader's browser send.
    #[inline]
    pub(crate) fn of(parsed: Parsed<Request<'a>>) -> Result<Parsed<Self>, Malformed> {
        let (request, consumed) = match parsed {
            Parsed::Request { request, consumed } => (request, consumed),
            Parsed::NeedMore { at_least } => return Ok(Parsed::NeedMore { at_least }),
        };
        let id = table::find(request.name());
        if id.is_none() && is_of_http(request.name()) {
            return Err(Malformed::foreign(ErrorReply::NONE, Foreign::Http));
        }
        Ok(Parsed::Request { request: Command { request, id }, consumed })
    }

    /// The key, if there is only one and it is the first argument: what is looked ahead for.
    #[inline]
    pub(crate) fn only_key(&self) -> Option<&[u8]> {
        let has = self.id?.places() == Places::First && self.request.len() > 1;
        has.then(|| self.request.arg(1))
    }

    /// The element of the key's collection that it asks for.
    #[inline]
    pub(crate) fn element(&self) -> Option<&[u8]> {
        self.request.get(self.id?.element()?)
    }
}

/// Whether a name is the beginning of a line of HTTP.
fn is_of_http(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"post") || name.eq_ignore_ascii_case(b"host:")
}
