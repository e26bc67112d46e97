// SPDX-License-Identifier: Apache-2.0
//! [`Binary`]: the replies of the binary protocol, a header of 24 bytes and a body.

use super::{Dialect, LoginReply, Refusal, text};
use crate::op::Get;
use crate::opcode::Opcode;
use crate::parse::binary::{HEADER_LEN, MAGIC as REQUEST_MAGIC};
use buffer::SendBuf;
use protocol::ErrorReply;
use std::fmt::Display;
use storage::{Item, Version};

/// The first byte of each reply.
const MAGIC: u8 = 0x81;

/// The name of the counts by prefix.
const DETAILED: &[u8] = b"detailed";

/// The bytes of flags before a value.
const FLAGS_LEN: usize = 4;

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Status {
    Ok = 0,
    NotFound = 1,
    Exists = 2,
    TooLarge = 3,
    Invalid = 4,
    NotStored = 5,
    NotANumber = 6,
    NotAllowed = 0x20,
    GoOn = 0x21,
    Unknown = 0x81,
    OutOfMemory = 0x82,
}

/// A status with its text.
type Failure = (Status, &'static str);

pub(crate) const UNKNOWN: Failure = (Status::Unknown, "Unknown command");
pub(crate) const INVALID: Failure = (Status::Invalid, "Invalid arguments");
pub(crate) const UNAUTHENTICATED: Failure = (Status::NotAllowed, "Auth failure.");
const NOT_FOUND: Failure = (Status::NotFound, "Not found");
const EXISTS: Failure = (Status::Exists, "Data exists for key.");
const TOO_LARGE: Failure = (Status::TooLarge, "Too large.");
const NOT_STORED: Failure = (Status::NotStored, "Not stored.");
const NOT_A_NUMBER: Failure =
    (Status::NotANumber, "Non-numeric server-side value for incr or decr");

impl Status {
    /// Appends a whole reply of nothing but a status and its text.
    pub(crate) fn write(self, bytes: &mut Vec<u8>, opcode: u8, opaque: [u8; 4], text: &str) {
        let head = Head { status: self, extras: 0, key: 0, body: text.len(), version: 0 };
        bytes.extend_from_slice(&head.bytes(opcode, opaque));
        bytes.extend_from_slice(text.as_bytes());
    }
}

/// The reply in place of an answer that is too long for datagrams, if `request` is binary.
#[cold]
pub(crate) fn too_large_for(request: &[u8]) -> Option<ErrorReply> {
    let header = request.first_chunk::<HEADER_LEN>().filter(|header| header[0] == REQUEST_MAGIC)?;
    let (status, text) = TOO_LARGE;
    let mut bytes = Vec::new();
    let opaque = [header[12], header[13], header[14], header[15]];
    status.write(&mut bytes, header[1], opaque, text);
    Some(ErrorReply::made(bytes))
}

/// What a header says besides what it echoes.
struct Head {
    status: Status,
    extras: usize,
    key: usize,
    /// The length of all behind the header.
    body: usize,
    version: u64,
}

impl Head {
    #[inline(always)]
    fn bytes(&self, opcode: u8, opaque: [u8; 4]) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[0] = MAGIC;
        bytes[1] = opcode;
        bytes[2..4].copy_from_slice(&(self.key as u16).to_be_bytes());
        bytes[4] = self.extras as u8;
        bytes[6..8].copy_from_slice(&(self.status as u16).to_be_bytes());
        bytes[8..12].copy_from_slice(&(self.body as u32).to_be_bytes());
        bytes[12..16].copy_from_slice(&opaque);
        bytes[16..].copy_from_slice(&self.version.to_be_bytes());
        bytes
    }
}

/// The reply to a request of the binary protocol.
///
/// A quiet request is not told of what its client expects: a value that is not there, or a change that was
/// made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binary {
    /// The opcode, which each reply repeats.
    pub opcode: Opcode,
    /// What the client calls the request by; each reply repeats it.
    pub opaque: [u8; 4],
}

impl Binary {
    #[inline]
    fn is_quiet(self) -> bool {
        self.opcode.row().quiet
    }

    #[inline]
    fn shows_key(self) -> bool {
        matches!(self.opcode, Opcode::GetK | Opcode::GetKQ | Opcode::GatK | Opcode::GatKQ)
    }

    #[inline]
    fn head(self, head: &Head) -> [u8; HEADER_LEN] {
        head.bytes(self.opcode as u8, self.opaque)
    }

    /// A success: extras and value, or nothing.
    #[inline]
    fn success(self, out: &mut SendBuf, version: Option<Version>, extras: &[u8], body: &[u8]) {
        if self.is_quiet() {
            return;
        }
        let head = Head {
            status: Status::Ok,
            extras: extras.len(),
            key: 0,
            body: extras.len().saturating_add(body.len()),
            version: version.map_or(0, Version::get),
        };
        out.put(&self.head(&head));
        out.put(extras);
        out.put(body);
    }

    /// A failure, which a quiet request is told of too.
    fn failure(self, out: &mut SendBuf, (status, text): Failure) {
        out.put_with(|bytes| status.write(bytes, self.opcode as u8, self.opaque, text));
    }
}

impl Dialect for Binary {
    fn is_text(self) -> bool {
        false
    }

    fn is_listed(self) -> bool {
        false
    }

    fn sends_value(self) -> bool {
        true
    }

    #[inline]
    fn hit(self, bytes: &mut Vec<u8>, get: &Get<'_>, item: &impl Item, copied: bool) {
        let key = if self.shows_key() { get.key } else { b"" };
        let value_len = item.value().len();
        let before_value = FLAGS_LEN.saturating_add(key.len());
        let head = Head {
            status: Status::Ok,
            extras: FLAGS_LEN,
            key: key.len(),
            body: before_value.saturating_add(value_len),
            version: item.version().get(),
        };
        let room = HEADER_LEN.saturating_add(before_value);
        bytes.reserve(room.saturating_add(if copied { value_len } else { 0 }));
        bytes.extend_from_slice(&self.head(&head));
        bytes.extend_from_slice(&item.flags().to_be_bytes());
        bytes.extend_from_slice(key);
    }

    #[inline]
    fn behind_value(self, _: &mut Vec<u8>) {}

    /// A miss that shows its key has no text.
    fn miss(self, bytes: &mut Vec<u8>, get: &Get<'_>) {
        if self.is_quiet() {
            return;
        }
        if !self.shows_key() {
            let (status, text) = NOT_FOUND;
            return status.write(bytes, self.opcode as u8, self.opaque, text);
        }
        let len = get.key.len();
        let head = Head { status: Status::NotFound, extras: 0, key: len, body: len, version: 0 };
        bytes.extend_from_slice(&self.head(&head));
        bytes.extend_from_slice(get.key);
    }

    fn list_end(self, _: &mut SendBuf) {
        unreachable!("there are no lists in the binary protocol");
    }

    #[inline]
    fn stored(self, out: &mut SendBuf, version: Version) {
        self.success(out, Some(version), b"", b"");
    }

    /// Why nothing was stored follows from what was asked.
    fn not_stored(self, out: &mut SendBuf) {
        let failure = match self.opcode {
            Opcode::Add | Opcode::AddQ => EXISTS,
            Opcode::Replace | Opcode::ReplaceQ => NOT_FOUND,
            _ => NOT_STORED,
        };
        self.failure(out, failure);
    }

    fn exists(self, out: &mut SendBuf) {
        self.failure(out, EXISTS);
    }

    fn not_found(self, out: &mut SendBuf) {
        self.failure(out, NOT_FOUND);
    }

    fn deleted(self, out: &mut SendBuf) {
        self.success(out, None, b"", b"");
    }

    fn touched(self, out: &mut SendBuf, flags: u32, version: Version) {
        self.success(out, Some(version), &flags.to_be_bytes(), b"");
    }

    fn number(self, out: &mut SendBuf, number: u64, version: Version) {
        self.success(out, Some(version), b"", &number.to_be_bytes());
    }

    fn not_a_number(self, out: &mut SendBuf) {
        self.failure(out, NOT_A_NUMBER);
    }

    fn too_large(self, out: &mut SendBuf) {
        self.failure(out, TOO_LARGE);
    }

    fn out_of_memory(self, out: &mut SendBuf) {
        let text = match self.opcode {
            Opcode::Increment | Opcode::IncrementQ | Opcode::Decrement | Opcode::DecrementQ => {
                "Out of memory incrementing value"
            }
            Opcode::SaslAuth | Opcode::SaslStep => "Out of memory",
            _ => "Out of memory allocating item",
        };
        self.failure(out, (Status::OutOfMemory, text));
    }

    fn ok(self, out: &mut SendBuf) {
        self.success(out, None, b"", b"");
    }

    fn version(self, out: &mut SendBuf, version: &str) {
        self.success(out, None, b"", version.as_bytes());
    }

    /// A packet with the name as its key.
    fn stat(self, out: &mut SendBuf, name: &str, value: &dyn Display) {
        use std::io::Write;
        out.put_with(|bytes| {
            let start = bytes.len();
            bytes.extend_from_slice(&[0; HEADER_LEN]);
            bytes.extend_from_slice(name.as_bytes());
            // Writing to a vector cannot fail.
            let _ = write!(bytes, "{value}");
            let body = bytes.len().saturating_sub(start).saturating_sub(HEADER_LEN);
            let head = Head { status: Status::Ok, extras: 0, key: name.len(), body, version: 0 };
            if let Some(place) = bytes[start..].first_chunk_mut() {
                *place = self.head(&head);
            }
        });
    }

    /// A packet without a name ends the statistics.
    fn stats_end(self, out: &mut SendBuf) {
        self.success(out, None, b"", b"");
    }

    fn stats_reset(self, out: &mut SendBuf) {
        self.stats_end(out);
    }

    fn no_topic(self, out: &mut SendBuf) {
        self.failure(out, NOT_FOUND);
    }

    fn no_keys(self, out: &mut SendBuf) {
        self.failure(out, NOT_FOUND);
    }

    fn detail_switched(self, out: &mut SendBuf) {
        self.stats_end(out);
    }

    /// One packet with all of them, as the text protocol has them.
    fn prefixes(self, out: &mut SendBuf, lines: &[u8]) {
        let body = DETAILED.len().saturating_add(lines.len()).saturating_add(text::END.len());
        let head = Head { status: Status::Ok, extras: 0, key: DETAILED.len(), body, version: 0 };
        out.put(&self.head(&head));
        out.put(DETAILED);
        out.put(lines);
        out.put(text::END);
        self.stats_end(out);
    }

    fn no_prefixes(self, out: &mut SendBuf) {
        self.failure(out, NOT_FOUND);
    }

    /// What there are no opcodes for is asked for in text.
    fn refused(self, out: &mut SendBuf, refusal: Refusal) {
        let failure = match refusal {
            Refusal::Flush => UNAUTHENTICATED,
            Refusal::FlushDelay | Refusal::Wrong(_) => INVALID,
            Refusal::Detail => NOT_FOUND,
            Refusal::NoTls
            | Refusal::Shutdown
            | Refusal::ShutdownMode
            | Refusal::MemoryTooSmall(_)
            | Refusal::MemoryTooLarge(_)
            | Refusal::MemoryInBytes
            | Refusal::Dump(_)
            | Refusal::Busy
            | Refusal::Watch
            | Refusal::TooManyWatchers
            | Refusal::Datagram => UNKNOWN,
        };
        self.failure(out, failure);
    }

    fn login(self, out: &mut SendBuf, step: LoginReply) {
        match step {
            LoginReply::Admitted => self.success(out, None, b"", b"Authenticated"),
            LoginReply::Denied => self.failure(out, UNAUTHENTICATED),
            LoginReply::Mechanisms => self.success(out, None, b"", b"PLAIN"),
            LoginReply::GoOn => self.failure(out, (Status::GoOn, "")),
            LoginReply::LongMechanism => self.failure(out, INVALID),
            LoginReply::NoUsers => self.failure(out, UNKNOWN),
        }
    }

    fn closed(self, out: &mut SendBuf) {
        self.success(out, None, b"", b"");
    }
}
