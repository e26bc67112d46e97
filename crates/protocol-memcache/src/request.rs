// SPDX-License-Identifier: Apache-2.0
//! [`Request`]: the codec's result, which the service executes.

use crate::command::CommandId;
use crate::op::{Meta, Op};
use crate::reply::{Binary, Text};

/// One request, borrowed from the receive buffer: its operation and the form of its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The operation.
    pub op: Op<'a>,
    /// How the reply is written.
    pub form: Form,
    /// The command by which it was requested: its row of the table.
    pub command: CommandId,
}

/// The dialect of a request, with everything that the form of the reply depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The classic text commands.
    Text(Text),
    /// The binary protocol.
    Binary(Binary),
    /// The meta commands: what the reply shows is in the flags of [`Op::Meta`].
    Meta,
}

// A batch of requests lies on the stack, and each request is moved there as a whole.
const _: () = assert!(size_of::<Request<'_>>() <= 64);

impl<'a> Request<'a> {
    /// A request of the text protocol.
    #[inline]
    #[must_use]
    pub const fn text(command: CommandId, op: Op<'a>, text: Text) -> Self {
        Request { op, form: Form::Text(text), command }
    }

    /// A request of the binary protocol.
    #[inline]
    #[must_use]
    pub const fn binary(command: CommandId, op: Op<'a>, binary: Binary) -> Self {
        Request { op, form: Form::Binary(binary), command }
    }

    /// A meta command on one key.
    #[inline]
    #[must_use]
    pub const fn meta(command: CommandId, meta: Meta<'a>) -> Self {
        Request { op: Op::Meta(meta), form: Form::Meta, command }
    }

    /// The key it concerns, if it concerns one.
    #[inline]
    #[must_use]
    pub fn key(&self) -> Option<&'a [u8]> {
        self.op.key()
    }
}
