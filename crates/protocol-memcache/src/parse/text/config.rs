// SPDX-License-Identifier: Apache-2.0
//! `config get <what>`, for clients that discover the servers of a cluster. What would change a configuration is
//! refused, and the body that its line announces is dropped.

use super::found;
use super::words::Words;
use crate::command::CommandId;
use crate::op::Op;
use crate::parse::{Step, number};
use crate::reply::Text;
use crate::reply::text as reply;
use crate::request::Request;
use protocol::{ErrorReply, Malformed};

/// The longest body that is dropped. A longer one is no configuration, and its line is refused alone.
const BODY_MAX: usize = 1 << 20;

/// `get <what>`, `set <what> <flags> <bytes>` with a body, `delete <what>`.
pub(super) fn parse<'a>(words: &Words<'a>, consumed: usize) -> Step<'a> {
    match (words.get(0), words.count) {
        (b"get", 2) => {
            let op = Op::Config { what: words.get(1) };
            found(Request::text(CommandId::Config, op, Text::Whole), consumed)
        }
        (b"set" | b"add" | b"replace", 4..) => {
            let len = number::digits_u32(words.get(3)).map(|len| len as usize);
            let body = len.filter(|&len| len <= BODY_MAX).map_or(0, |len| len.saturating_add(2));
            Err(Malformed::skip(reply::CONFIG_READ_ONLY, consumed.saturating_add(body)))
        }
        (b"delete", 2..) => Err(Malformed::skip(reply::CONFIG_READ_ONLY, consumed)),
        _ => Err(Malformed::skip(refusal(words), consumed)),
    }
}

fn refusal(words: &Words<'_>) -> ErrorReply {
    if words.say_noreply() { ErrorReply::NONE } else { reply::UNKNOWN }
}
