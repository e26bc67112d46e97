// SPDX-License-Identifier: Apache-2.0
//! [`Body`]: a large value that is taken in pieces, as they arrive.
//!
//! The request that announces it ends with its line, or before its value, and each piece is a request of its own. The
//! rules of bodies hold all the same (INV-BODY, INV-FRAME): nothing of one is ever parsed as a command.

use super::{Position, Step};
use crate::command::CommandId;
use crate::op::{Op, Piece};
use crate::reply::Text;
use crate::request::Request;
use protocol::Parsed;

/// The largest piece in bytes, so that one alone does not take long.
const PIECE_MAX: usize = 128 * 1024;

const LINE_END: &[u8] = b"\r\n";

/// Where the parser is inside a large value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Body {
    /// Bytes of the value that are still to come.
    left: u32,
    /// A line end follows.
    in_text: bool,
}

impl Body {
    /// At the beginning of a value of so many bytes.
    pub(super) fn new(value_len: u32, in_text: bool) -> Self {
        Body { left: value_len, in_text }
    }

    /// How many of the next bytes are the value's alone, and not those that end the request.
    pub(super) fn left(self) -> usize {
        (self.left as usize).saturating_sub(usize::from(!self.in_text))
    }

    /// Behind the next `n` bytes.
    pub(super) fn behind(self, n: usize) -> Self {
        Body { left: self.left.saturating_sub(u32::try_from(n).unwrap_or(u32::MAX)), ..self }
    }

    /// The next piece.
    pub(super) fn next<'a>(self, position: &mut Position, input: &'a [u8]) -> Step<'a> {
        if self.left == 0 {
            return end(position, input);
        }
        let piece = &input[..input.len().min(self.left as usize).min(PIECE_MAX)];
        if piece.is_empty() {
            return Ok(Parsed::NeedMore { at_least: 1 });
        }
        let left = self.left.saturating_sub(piece.len() as u32);
        let is_last = left == 0 && !self.in_text;
        *position = if is_last { Position::Frame } else { Position::Body(Body { left, ..self }) };
        let op = if is_last { Piece::Last(piece) } else { Piece::More(piece) };
        Ok(Parsed::Part { request: request(op), consumed: piece.len() })
    }
}

/// What stands behind a value of a text request.
fn end<'a>(position: &mut Position, input: &'a [u8]) -> Step<'a> {
    let Some(end) = input.get(..LINE_END.len()) else {
        return Ok(Parsed::NeedMore { at_least: LINE_END.len().saturating_sub(input.len()) });
    };
    *position = Position::Line;
    let request = request(Piece::End(end == LINE_END));
    Ok(Parsed::Request { request, consumed: LINE_END.len() })
}

/// The reply has the form of the request that announced the value, and that has been counted.
fn request(piece: Piece<'_>) -> Request<'_> {
    Request::text(CommandId::Set, Op::Piece(piece), Text::Listed)
}
