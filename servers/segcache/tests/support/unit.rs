// SPDX-License-Identifier: Apache-2.0
//! [`Unit`]: commands as they are sent, and how they are put into batches.

use crate::support::frames;
use crate::support::replies::Seen;

/// The longest key.
const KEY_MAX: usize = 250;

/// What is sent as a whole: mostly one command, with its body.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    pieces: Vec<Piece>,
    pub(crate) dialect: Dialect,
    /// The connection is closed behind it.
    pub(crate) closes: bool,
    /// What came before it is answered before it is sent.
    pub(crate) starts_batch: bool,
    /// It is answered before anything else is sent.
    pub(crate) ends_batch: bool,
}

/// In which a connection goes on as it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Lines; also meta commands, where they do not have a connection of their own.
    Text,
    /// Meta commands on their own connection.
    Meta,
    /// One frame of the binary protocol.
    Binary { opcode: u8, key: Vec<u8> },
}

#[derive(Debug, Clone)]
enum Piece {
    Bytes(Vec<u8>),
    /// The CAS number that the server has last shown for a key, or the one before.
    Cas {
        key: Vec<u8>,
        stale: bool,
    },
    /// The CAS number that the server has last shown for a key, as eight bytes.
    CasBytes(Vec<u8>),
    /// The body of a line, as long as the line says: no line of its own.
    Body(Vec<u8>),
    /// The body of a refused line. Older versions of memcached parse it, so they do not get it.
    Dropped(Vec<u8>),
}

/// Whom bytes are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// memcached of the version whose replies are reproduced.
    Reference,
    /// An older memcached.
    Older,
    Ours,
}

impl Unit {
    /// Lines.
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Unit::of(vec![Piece::Bytes(bytes)])
    }

    /// Lines, the last of which announces `body`.
    pub(crate) fn with_body(lines: Vec<u8>, body: Vec<u8>) -> Self {
        Unit::of(vec![Piece::Bytes(lines), Piece::Body(body)])
    }

    /// The same with more lines.
    pub(crate) fn and_lines(mut self, lines: &[u8]) -> Self {
        self.pieces.push(Piece::Bytes(lines.to_vec()));
        self
    }

    /// A unit with the CAS number that was last seen for `key`, or with a stale one, between `head` and
    /// `tail`, which is the end of the line and the body.
    pub(crate) fn with_cas(head: Vec<u8>, key: Vec<u8>, stale: bool, tail: Vec<u8>) -> Self {
        Unit::of(vec![Piece::Body(head), Piece::Cas { key, stale }, Piece::Body(tail)])
    }

    /// A frame, with the CAS number that was last seen for its key if it `demands` that.
    pub(crate) fn frame(bytes: &[u8], opcode: u8, key: &[u8], demands: bool) -> Self {
        let (head, body) = bytes.split_at(frames::HEADER_LEN);
        let (head, cas) = head.split_at(frames::CAS_AT);
        let key = key.to_vec();
        let cas = if demands { Piece::CasBytes(key.clone()) } else { Piece::Body(cas.to_vec()) };
        let pieces = vec![Piece::Body(head.to_vec()), cas, Piece::Body(body.to_vec())];
        Unit { dialect: Dialect::Binary { opcode, key }, ..Unit::of(pieces) }
    }

    /// The same on the connection of meta commands.
    pub(crate) fn of_meta(mut self) -> Self {
        self.dialect = Dialect::Meta;
        self
    }

    /// The same with the body of its line, which is refused.
    pub(crate) fn dropping(mut self, body: Vec<u8>) -> Self {
        self.pieces.push(Piece::Dropped(body));
        self
    }

    fn of(pieces: Vec<Piece>) -> Self {
        let dialect = Dialect::Text;
        Unit { pieces, dialect, closes: false, starts_batch: false, ends_batch: false }
    }

    /// Its lines, without their `\n`.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().flat_map(|piece| {
            let lines: &[u8] = if let Piece::Bytes(bytes) = piece { bytes } else { b"" };
            lines.split_inclusive(|&byte| byte == b'\n').map(|line| &line[..line.len() - 1])
        })
    }

    /// Whether it reads values.
    pub(crate) fn reads(&self) -> bool {
        match &self.dialect {
            Dialect::Binary { opcode, .. } => frames::READS.contains(opcode),
            Dialect::Text | Dialect::Meta => self.begins_with(&[b"get", b"gat", b"mg "]),
        }
    }

    /// Whether it changes numbers.
    fn counts(&self) -> bool {
        match &self.dialect {
            Dialect::Binary { opcode, .. } => frames::ARITH.contains(opcode),
            Dialect::Text | Dialect::Meta => self.begins_with(&[b"incr", b"decr", b"ma "]),
        }
    }

    /// The connection that it is for: 0, 1 or 2.
    pub(crate) fn connection(&self) -> usize {
        match self.dialect {
            Dialect::Text => 0,
            Dialect::Meta => 1,
            Dialect::Binary { .. } => 2,
        }
    }

    /// Whether one of its lines begins with one of `names`.
    fn begins_with(&self, names: &[&[u8]]) -> bool {
        self.lines().any(|line| names.iter().any(|name| line.starts_with(name)))
    }

    /// Whether it may only come when everything in `batch` is answered.
    fn waits_for(&self, batch: &[Unit]) -> bool {
        // memcached pads a number that gets shorter, but not while a reply holds on to it.
        let is_padded = self.counts() && batch.iter().any(Unit::reads);
        let is_elsewhere = batch.iter().any(|unit| unit.connection() != self.connection());
        self.starts_batch || is_padded || is_elsewhere
    }

    /// Whether a word of it is too long for a key.
    pub(crate) fn has_long_key(&self) -> bool {
        let long =
            |bytes: &Vec<u8>| bytes.split(u8::is_ascii_whitespace).any(|word| word.len() > KEY_MAX);
        self.pieces.iter().any(|piece| matches!(piece, Piece::Bytes(bytes) if long(bytes)))
    }

    /// Whether its first line says `noreply` at its end.
    pub(crate) fn wants_no_reply(&self) -> bool {
        self.lines().next().is_some_and(|line| line.trim_ascii_end().ends_with(b" noreply"))
    }

    /// The bytes for the server on this `side`, which has shown `seen`.
    pub(crate) fn bytes(&self, side: Side, seen: &Seen) -> Vec<u8> {
        let mut bytes = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Bytes(more) | Piece::Body(more) => bytes.extend_from_slice(more),
                Piece::Cas { key, stale } => {
                    bytes.extend_from_slice(seen.cas(key, *stale).to_string().as_bytes());
                }
                Piece::CasBytes(key) => {
                    bytes.extend_from_slice(&seen.cas(key, false).to_be_bytes());
                }
                Piece::Dropped(body) => {
                    if side != Side::Older {
                        bytes.extend_from_slice(body);
                    }
                }
            }
        }
        bytes
    }

    /// The unit as a line of a report.
    pub(crate) fn show(&self) -> String {
        let show = |piece: &Piece| match piece {
            Piece::Bytes(bytes) | Piece::Body(bytes) if bytes.len() > 2000 => {
                let (head, tail) = (&bytes[..200], &bytes[bytes.len() - 40..]);
                let left_out = bytes.len() - 240;
                format!("{}<{left_out} bytes>{}", head.escape_ascii(), tail.escape_ascii())
            }
            Piece::Bytes(bytes) | Piece::Body(bytes) => bytes.escape_ascii().to_string(),
            Piece::Cas { key, stale } => {
                format!("<{} cas of {}>", if *stale { "older" } else { "last" }, key.escape_ascii())
            }
            Piece::CasBytes(key) => format!("<last cas of {}>", key.escape_ascii()),
            Piece::Dropped(body) => format!("<dropped: {}>", body.escape_ascii()),
        };
        self.pieces.iter().map(show).collect()
    }
}

/// Cuts `units` into batches, each of which is sent at once.
pub(crate) fn batches(mut units: &[Unit]) -> Vec<&[Unit]> {
    let mut batches = Vec::new();
    while !units.is_empty() {
        let joins = |at: &usize| !(units[at - 1].ends_batch || units[*at].waits_for(&units[..*at]));
        let len = 1 + (1..units.len()).take_while(joins).count();
        let (batch, rest) = units.split_at(len);
        batches.push(batch);
        units = rest;
    }
    batches
}
