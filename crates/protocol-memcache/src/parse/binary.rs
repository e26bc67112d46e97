// SPDX-License-Identifier: Apache-2.0
//! The binary protocol: frames of a header of 24 bytes, extras, a key and a value.
//!
//! ```text
//!   0      1       2          4        5        6        8          12       16    24
//!   magic  opcode  key len:16 extras:8 type:8   vbucket  body len:32 opaque  CAS:64  extras key value
//! ```
//!
//! # INV-FRAME
//!
//! A frame ends where its header says: no byte of a frame is ever parsed as another request. What is wrong with
//! the header alone closes the connection. Nothing is waited for that the opcode does not need, and nothing is
//! allocated: a value that is too large is dropped as it arrives.
//!
//! The type and the virtual bucket are ignored, as memcached does.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "sums of lengths of 32 bits at most, checked against the length of the body"
)]

use super::body::Body;
use super::{Position, Sizes, Step, login};
use crate::command::CommandId;
use crate::exptime::Exptime;
use crate::op::{Arith, Detail, Direction, Get, KEY_MAX, Mode, Op, Set, Upload};
use crate::opcode::{self, Opcode, OpcodeRow, Part};
use crate::reply::binary::{Binary, INVALID, Status, UNAUTHENTICATED, UNKNOWN};
use crate::request::Request;
use protocol::{ErrorReply, Malformed, Parsed};

/// The first byte of each request.
pub(crate) const MAGIC: u8 = 0x80;

/// The length of a header.
pub(crate) const HEADER_LEN: usize = 24;

/// memcached refuses a longer body at once, whatever its limit for values.
const BODY_MAX: usize = 1 << 30;

/// What a header says.
struct Header<'a> {
    opcode: u8,
    key_len: usize,
    extras_len: usize,
    body_len: usize,
    opaque: [u8; 4],
    cas: &'a [u8; 8],
}

impl<'a> Header<'a> {
    #[inline]
    fn of(bytes: &'a [u8; HEADER_LEN]) -> Self {
        let [_, opcode, k0, k1, extras, _, _, _, b0, b1, b2, b3, o0, o1, o2, o3, cas @ ..] = bytes;
        Header {
            opcode: *opcode,
            key_len: u16::from_be_bytes([*k0, *k1]).into(),
            extras_len: usize::from(*extras),
            body_len: u32::from_be_bytes([*b0, *b1, *b2, *b3]) as usize,
            opaque: [*o0, *o1, *o2, *o3],
            cas,
        }
    }

    /// What is wrong with the lengths, whatever the opcode.
    #[inline]
    fn lie(&self) -> Option<(Status, &'static str)> {
        if self.body_len < self.extras_len + self.key_len {
            Some(UNKNOWN)
        } else if self.body_len > BODY_MAX || self.key_len > KEY_MAX {
            Some(INVALID)
        } else {
            None
        }
    }

    /// The reply to a request that is not carried out.
    #[cold]
    fn error(&self, status: Status, text: &str) -> ErrorReply {
        let mut reply = Vec::with_capacity(HEADER_LEN + text.len());
        status.write(&mut reply, self.opcode, self.opaque, text);
        ErrorReply::made(reply)
    }

    #[cold]
    fn close<'r>(&self, (status, text): (Status, &str)) -> Step<'r> {
        Err(Malformed::close(self.error(status, text)))
    }
}

/// Finds the next request.
#[inline]
pub(super) fn parse<'a>(position: &mut Position, input: &'a [u8], sizes: &Sizes) -> Step<'a> {
    let Some(header) = input.first_chunk::<HEADER_LEN>() else {
        return unfinished(input);
    };
    let header = Header::of(header);
    if input[0] != MAGIC {
        return Err(Malformed::close(ErrorReply::NONE));
    }
    if let Some(lie) = header.lie() {
        return header.close(lie);
    }
    let value_len = header.body_len - (header.extras_len + header.key_len);
    let Some(row) = opcode::find(header.opcode) else {
        let (status, text) = UNKNOWN;
        let reply = header.error(status, text);
        return Err(Malformed::skip(reply, HEADER_LEN + header.body_len));
    };
    let fits = row.extras.contains(&(header.extras_len as u8))
        && row.key.allows(header.key_len)
        && row.value.allows(value_len);
    if !fits {
        return unusual(position, input, &header, row, sizes);
    }
    frame(position, input, &header, row, value_len, sizes)
}

/// A request that does not fit its row: to log in, or wrong.
#[cold]
fn unusual<'a>(
    position: &mut Position,
    input: &'a [u8],
    header: &Header<'_>,
    row: &OpcodeRow,
    sizes: &Sizes,
) -> Step<'a> {
    let total = HEADER_LEN + header.body_len;
    if row.command != CommandId::Auth || header.extras_len > 0 {
        return header.close(INVALID);
    }
    let value_len = header.body_len - header.key_len;
    if !row.key.allows(header.key_len) || !row.value.allows(value_len) {
        return header.close(INVALID);
    }
    let op = if let Some(refused) = login::unread(header.key_len, value_len, sizes.item_max) {
        refused
    } else if input.len() < total {
        return Ok(Parsed::NeedMore { at_least: total - input.len() });
    } else {
        let (mechanism, credentials) = input[HEADER_LEN..total].split_at(header.key_len);
        login::sasl(mechanism, credentials)
    };
    // Whether the client is one of the users is asked anew.
    *position = Position::GuestFrame;
    let form = Binary { opcode: row.opcode, opaque: header.opaque };
    let request = Request::binary(row.command, Op::Login(op), form);
    Ok(Parsed::Request { request, consumed: total })
}

/// Finds the next request of a client that has not logged in.
pub(super) fn of_guest<'a>(position: &mut Position, input: &'a [u8], sizes: &Sizes) -> Step<'a> {
    let Some(bytes) = input.first_chunk::<HEADER_LEN>().filter(|bytes| bytes[0] == MAGIC) else {
        return parse(position, input, sizes);
    };
    let header = Header::of(bytes);
    let command = opcode::find(header.opcode).map(|row| row.command);
    match (header.lie(), command) {
        (None, Some(CommandId::Auth | CommandId::Version)) => parse(position, input, sizes),
        (lie, _) => header.close(lie.unwrap_or(UNAUTHENTICATED)),
    }
}

/// Makes the request of a frame whose parts are those of its row.
#[inline]
fn frame<'a>(
    position: &mut Position,
    input: &'a [u8],
    header: &Header<'_>,
    row: &OpcodeRow,
    value_len: usize,
    sizes: &Sizes,
) -> Step<'a> {
    let total = HEADER_LEN + header.body_len;
    if row.value != Part::Maybe {
        // A value that nobody needs is not waited for.
        let op = |parts: &Parts<'a>| parts.op(row.opcode);
        return request(input, header, row, (total - value_len, total), op);
    }
    // An item that may be too large, if all that is beside its value makes it so.
    let is_doubtful = sizes.refuse(0, u32::MAX, header.body_len);
    if is_doubtful || sizes.is_large(value_len) {
        return large(position, input, header, row, value_len, sizes);
    }
    request(input, header, row, (total, total), |parts| parts.op(row.opcode))
}

/// The request to store a value that is not collected, or may be too large: its flags, too, decide that.
#[cold]
fn large<'a>(
    position: &mut Position,
    input: &'a [u8],
    header: &Header<'_>,
    row: &OpcodeRow,
    value_len: usize,
    sizes: &Sizes,
) -> Step<'a> {
    let total = HEADER_LEN + header.body_len;
    let value_at = total - value_len;
    let Some(extras) = input.get(HEADER_LEN..HEADER_LEN + header.extras_len) else {
        return Ok(Parsed::NeedMore { at_least: value_at - input.len() });
    };
    if sizes.refuse(header.key_len, word(extras, 0), value_len) {
        let op = |parts: &Parts<'a>| parts.oversized(row.opcode);
        return request(input, header, row, (value_at, total), op);
    }
    if !sizes.is_large(value_len) {
        return request(input, header, row, (total, total), |parts| parts.op(row.opcode));
    }
    let announced = value_len as u32;
    let step = request(input, header, row, (value_at, value_at), |parts| {
        Op::Upload(parts.upload(row.opcode, announced))
    });
    if let Ok(Parsed::Request { .. }) = step {
        *position = Position::Body(Body::new(announced, false));
    }
    step
}

/// The request that `op` makes of a frame of which `needed` bytes have to arrive, and `consumed` are taken.
#[inline]
fn request<'a>(
    input: &'a [u8],
    header: &Header<'_>,
    row: &OpcodeRow,
    (needed, consumed): (usize, usize),
    op: impl FnOnce(&Parts<'a>) -> Op<'a>,
) -> Step<'a> {
    if input.len() < needed {
        return Ok(Parsed::NeedMore { at_least: needed - input.len() });
    }
    let key_at = HEADER_LEN + header.extras_len;
    let value_at = key_at + header.key_len;
    let op = op(&Parts {
        extras: &input[HEADER_LEN..key_at],
        key: &input[key_at..value_at],
        value: &input[value_at..needed],
        cas: u64::from_be_bytes(*header.cas),
    });
    let form = Binary { opcode: row.opcode, opaque: header.opaque };
    let command = match op {
        Op::Set(Set { mode: Mode::Cas, .. }) | Op::Upload(Upload { mode: Mode::Cas, .. }) => {
            CommandId::Cas
        }
        _ => row.command,
    };
    Ok(Parsed::Request { request: Request::binary(command, op, form), consumed })
}

/// The header has not arrived as a whole.
#[cold]
fn unfinished<'a>(input: &[u8]) -> Step<'a> {
    match input.first() {
        Some(&MAGIC) | None => Ok(Parsed::NeedMore { at_least: HEADER_LEN - input.len() }),
        // The end of what is no request need not be waited for.
        Some(_) => Err(Malformed::close(ErrorReply::NONE)),
    }
}

/// The parts of a frame.
struct Parts<'a> {
    extras: &'a [u8],
    key: &'a [u8],
    value: &'a [u8],
    cas: u64,
}

impl<'a> Parts<'a> {
    #[inline]
    fn op(&self, opcode: Opcode) -> Op<'a> {
        let Parts { key, cas, .. } = *self;
        match opcode {
            Opcode::Get | Opcode::GetQ | Opcode::GetK | Opcode::GetKQ => self.get(None),
            Opcode::Set | Opcode::SetQ => self.set(Mode::Set),
            Opcode::Add | Opcode::AddQ => self.set(Mode::Add),
            Opcode::Replace | Opcode::ReplaceQ => self.set(Mode::Replace),
            Opcode::Append | Opcode::AppendQ => self.extend(Mode::Append),
            Opcode::Prepend | Opcode::PrependQ => self.extend(Mode::Prepend),
            Opcode::Delete | Opcode::DeleteQ => Op::Delete { key, cas },
            Opcode::Increment | Opcode::IncrementQ => self.arith(Direction::Up),
            Opcode::Decrement | Opcode::DecrementQ => self.arith(Direction::Down),
            Opcode::Touch => Op::Touch { key, exptime: exptime(self.extras, 0) },
            Opcode::Gat | Opcode::GatQ | Opcode::GatK | Opcode::GatKQ => {
                self.get(Some(exptime(self.extras, 0)))
            }
            Opcode::Flush | Opcode::FlushQ => {
                let delay = (!self.extras.is_empty()).then(|| exptime(self.extras, 0));
                Op::FlushAll { delay }
            }
            Opcode::Stat => stats(key),
            Opcode::Version => Op::Version,
            Opcode::Noop => Op::Noop,
            Opcode::Quit | Opcode::QuitQ => Op::Quit,
            Opcode::SaslList | Opcode::SaslAuth | Opcode::SaslStep => {
                unreachable!("nothing fits their rows")
            }
        }
    }

    #[inline]
    fn get(&self, touch: Option<Exptime>) -> Op<'a> {
        Op::Get(Get { key: self.key, cas: true, touch })
    }

    /// Whatever the opcode, a CAS number asks for just that: that the item has it.
    #[inline]
    fn set(&self, mode: Mode) -> Op<'a> {
        let Parts { key, value, cas, .. } = *self;
        let mode = if cas == 0 { mode } else { Mode::Cas };
        let flags = word(self.extras, 0);
        Op::Set(Set { key, value, cas, flags, exptime: exptime(self.extras, 4), mode })
    }

    #[inline]
    fn extend(&self, mode: Mode) -> Op<'a> {
        Op::Set(Set { cas: self.cas, mode, ..Set::new(self.key, self.value) })
    }

    /// As [`Parts::set`], for a value that follows.
    fn upload(&self, opcode: Opcode, value_len: u32) -> Upload<'a> {
        Upload::of(&self.stored(opcode), value_len)
    }

    fn arith(&self, direction: Direction) -> Op<'a> {
        let [delta, initial] = [0, 8].map(|at| {
            u64::from(word(self.extras, at)) << 32 | u64::from(word(self.extras, at + 4))
        });
        Op::Arith(Arith {
            key: self.key,
            delta,
            direction,
            cas: self.cas,
            initial,
            exptime: word(self.extras, 16),
        })
    }

    /// The old value goes if the opcode would have replaced it, whatever the CAS number.
    #[cold]
    fn oversized(&self, opcode: Opcode) -> Op<'a> {
        let is_set = matches!(opcode, Opcode::Set | Opcode::SetQ);
        let mode = if is_set { Mode::Set } else { self.stored(opcode).mode };
        Op::Oversized { key: self.key, mode }
    }

    /// What is stored, and how.
    fn stored(&self, opcode: Opcode) -> Set<'a> {
        match self.op(opcode) {
            Op::Set(set) => set,
            _ => unreachable!("only storing has values"),
        }
    }
}

/// A number of 32 bits in the extras; 0 if they are shorter, which the row rules out.
#[inline]
fn word(extras: &[u8], at: usize) -> u32 {
    let bytes = extras.get(at..).and_then(|rest| rest.first_chunk());
    bytes.map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

/// An expiry time, which is never negative here.
#[inline]
fn exptime(extras: &[u8], at: usize) -> Exptime {
    Exptime(word(extras, at).into())
}

/// What is asked of statistics. memcached looks only at the beginning of these topics.
fn stats(key: &[u8]) -> Op<'_> {
    if let Some(rest) = key.strip_prefix(b"detail") {
        let words = [(&b" dump"[..], Detail::Dump), (b" on", Detail::On), (b" off", Detail::Off)];
        let meant = words.into_iter().find(|(word, _)| rest.starts_with(word));
        return Op::Detail(meant.map_or(Detail::Unknown, |(_, detail)| detail));
    }
    let begins = [&b"reset"[..], b"settings"].into_iter().find(|name| key.starts_with(name));
    Op::Stats { topic: begins.map_or(key, |name| &key[..name.len()]) }
}
