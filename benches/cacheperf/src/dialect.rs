// SPDX-License-Identifier: Apache-2.0
//! How requests are written and replies are read in each protocol: thin layers over the client sides
//! of the `protocol-*` crates, so that one player drives them all.

mod memcache;
mod meta;
mod ping;
mod resp;

pub(crate) use memcache::Text;
pub(crate) use meta::Meta;
pub(crate) use ping::Ping;
pub(crate) use resp::Resp;

use protocol_resp::client::Items;

/// The kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Read one key.
    Get,
    /// Read several keys by one request.
    GetMany,
    /// Write one key.
    Set,
    /// Remove one key.
    Delete,
    /// Answer.
    Ping,
    /// What a connection begins with.
    Greeting,
}

/// A part of a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Piece<'a> {
    /// A value.
    Value {
        /// Its key, where the protocol says it.
        key: Option<&'a [u8]>,
        /// Its bytes.
        value: &'a [u8],
        /// The reply is over.
        last: bool,
    },
    /// No more values: the reply is over.
    End,
    /// The whole reply to a multi-get: its values, null for a key that was not found.
    Values(Items<'a>),
    /// Done: the reply is over.
    Done,
    /// There was nothing to delete: the reply is over.
    NotFound,
    /// The request was refused.
    Refused {
        /// The server's words.
        why: &'a [u8],
        /// The reply is over.
        last: bool,
    },
}

/// The server sent something that is no reply to what was asked: nothing that follows can be
/// understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// One protocol, from the client's side.
pub(crate) trait Dialect: Copy + Send + 'static {
    /// Writes what a connection begins with; whether that is answered.
    fn greet(&self, out: &mut Vec<u8>) -> bool {
        let _ = out;
        false
    }

    /// Asks for the values of one key, or of several.
    fn get(&self, out: &mut Vec<u8>, keys: &[&[u8]]);

    /// Writes a value of `len` bytes, which `value` appends, to live for `ttl_s` seconds, or for ever
    /// with 0.
    fn set(
        &self,
        out: &mut Vec<u8>,
        key: &[u8],
        ttl_s: u32,
        len: usize,
        value: impl FnOnce(&mut Vec<u8>),
    );

    /// Removes a key.
    fn delete(&self, out: &mut Vec<u8>, key: &[u8]);

    /// Asks for a sign of life.
    fn ping(&self, out: &mut Vec<u8>);

    /// Reads the next part of the reply to a request of kind `op`, and how many bytes it takes up.
    /// `None` while it has not arrived. Copies and allocates nothing.
    fn read<'a>(&self, op: Op, input: &'a [u8]) -> Result<Option<(Piece<'a>, usize)>, Unreadable>;
}
