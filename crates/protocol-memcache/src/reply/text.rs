// SPDX-License-Identifier: Apache-2.0
//! [`Text`]: the replies of the classic text protocol, lines that end with `\r\n`.

use super::{Dialect, LoginReply, Refusal, dump};
use crate::op::Get;
use buffer::SendBuf;
use protocol::ErrorReply;
use std::fmt::Display;
use storage::{Item, Version};

pub(super) const END: &[u8] = b"END\r\n";
pub(crate) const TOO_LARGE: &[u8] = b"SERVER_ERROR object too large for cache\r\n";
pub(crate) const TOO_MANY_CONNECTIONS: &[u8] = b"ERROR Too many open connections\r\n";

/// The replies to clients of other protocols, in their own protocol where possible.
pub(crate) const NO_TLS: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR this port does not speak TLS\r\n");
pub(crate) const NO_RESP: ErrorReply =
    ErrorReply::fixed(b"-ERR Protocol error: this port speaks memcache, not RESP\r\n");

/// Rejections of a line.
const ERROR: &[u8] = b"ERROR\r\n";
pub(crate) const UNKNOWN: ErrorReply = ErrorReply::fixed(ERROR);
pub(crate) const BAD_FORMAT_LINE: &[u8] = b"CLIENT_ERROR bad command line format\r\n";
pub(crate) const BAD_FORMAT: ErrorReply = ErrorReply::fixed(BAD_FORMAT_LINE);
pub(crate) const BAD_LINE: &[u8] = b"CLIENT_ERROR bad command line\r\n";
pub(crate) const BAD_CLASS: &[u8] = b"BADCLASS invalid class id\r\n";
pub(crate) const NO_SLAB: &[u8] = b"CLIENT_ERROR Illegal slab id\r\n";
pub(crate) const NO_CRAWL: ErrorReply = ErrorReply::fixed(b"ERROR an unknown error happened\r\n");
pub(crate) const NO_SPARE_PAGE: ErrorReply =
    ErrorReply::fixed(b"NOSPARE source class has no spare pages\r\n");
pub(crate) const SAME_CLASS: ErrorReply =
    ErrorReply::fixed(b"SAME src and dst class are identical\r\n");
pub(crate) const BAD_CLASSES: ErrorReply =
    ErrorReply::fixed(b"BADCLASS invalid src or dst class id\r\n");
pub(crate) const BAD_WINDOW: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR automove window too low or too high\r\n");
pub(crate) const SHARES_TOO_LARGE: ErrorReply =
    ErrorReply::fixed(b"ERROR hot and warm pcts must not exceed 80\r\n");
pub(crate) const FACTOR_TOO_SMALL: ErrorReply =
    ErrorReply::fixed(b"ERROR hot/warm age factors must be greater than 0\r\n");
pub(crate) const CONFIG_READ_ONLY: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR the configuration is a file of the server's\r\n");
pub(crate) const LONG_SLEEP: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR sleep must be one second or less\r\n");
pub(crate) const BAD_DATA: ErrorReply = ErrorReply::fixed(b"CLIENT_ERROR bad data chunk\r\n");
const NO_TIME: &[u8] = b"CLIENT_ERROR invalid exptime argument\r\n";
pub(crate) const BAD_EXPTIME: ErrorReply = ErrorReply::fixed(NO_TIME);
pub(crate) const BAD_DELTA: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR invalid numeric delta argument\r\n");

/// Refusals of clients that have not logged in.
pub(crate) const UNAUTHENTICATED: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR unauthenticated\r\n");
pub(crate) const CREDENTIALS_TOO_LONG: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR auth token too long\r\n");
pub(crate) const BAD_TERMINATION: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR bad command line termination\r\n");
pub(crate) const BAD_CREDENTIALS: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR bad authentication token format\r\n");

/// Room for everything in a value's first and last line but the key: `VALUE `, three numbers with
/// their spaces, two line ends and `END`.
const AROUND_VALUE: usize = 6 + 11 + 21 + 21 + 2 + 2 + END.len();

/// Which part of a reply in the text protocol a request gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// The whole reply. For a read of one key, that is the value, if there is one, and `END`.
    Whole,
    /// The value of one key in a list, if there is one. `END` follows after the list.
    Listed,
    /// None: `noreply`.
    Quiet,
}

impl Text {
    /// [`Text::Quiet`] for a line that says `noreply`.
    #[inline]
    #[must_use]
    pub const fn unless(noreply: bool) -> Self {
        if noreply { Text::Quiet } else { Text::Whole }
    }

    #[inline]
    fn line(self, out: &mut SendBuf, line: &'static [u8]) {
        match self {
            Text::Whole | Text::Listed => out.put(line),
            Text::Quiet => {}
        }
    }

    /// Why a memory limit is not set.
    fn memory_limit(self, out: &mut SendBuf, why: std::fmt::Arguments<'_>) {
        use std::io::Write;
        match self {
            Text::Whole | Text::Listed => out.put_with(|bytes| {
                // Writing to a vector cannot fail.
                let _ = write!(bytes, "MEMLIMIT_{why}\r\n");
            }),
            Text::Quiet => {}
        }
    }

    #[inline]
    fn end(self, bytes: &mut Vec<u8>) {
        match self {
            Text::Whole => bytes.extend_from_slice(END),
            Text::Listed | Text::Quiet => {}
        }
    }
}

impl Dialect for Text {
    fn is_text(self) -> bool {
        true
    }

    #[inline]
    fn is_listed(self) -> bool {
        self == Text::Listed
    }

    #[inline]
    fn sends_value(self) -> bool {
        true
    }

    /// Appends `VALUE <key> <flags> <len> [<cas>]`.
    #[inline]
    fn hit(self, bytes: &mut Vec<u8>, get: &Get<'_>, item: &impl Item, copied: bool) {
        let (flags, len) = (item.flags(), item.value().len());
        bytes.reserve(AROUND_VALUE + get.key.len() + if copied { len } else { 0 });
        bytes.extend_from_slice(b"VALUE ");
        bytes.extend_from_slice(get.key);
        let mut digits = itoa::Buffer::new();
        if flags == 0 {
            bytes.extend_from_slice(b" 0 ");
        } else {
            bytes.push(b' ');
            bytes.extend_from_slice(digits.format(flags).as_bytes());
            bytes.push(b' ');
        }
        bytes.extend_from_slice(digits.format(len).as_bytes());
        if get.cas {
            bytes.push(b' ');
            bytes.extend_from_slice(digits.format(item.version().get()).as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
    }

    #[inline]
    fn behind_value(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(b"\r\n");
        self.end(bytes);
    }

    #[inline]
    fn miss(self, bytes: &mut Vec<u8>, _: &Get<'_>) {
        self.end(bytes);
    }

    fn list_end(self, out: &mut SendBuf) {
        self.line(out, END);
    }

    #[inline]
    fn stored(self, out: &mut SendBuf, _: Version) {
        self.line(out, b"STORED\r\n");
    }

    fn not_stored(self, out: &mut SendBuf) {
        self.line(out, b"NOT_STORED\r\n");
    }

    fn exists(self, out: &mut SendBuf) {
        self.line(out, b"EXISTS\r\n");
    }

    #[inline]
    fn not_found(self, out: &mut SendBuf) {
        self.line(out, b"NOT_FOUND\r\n");
    }

    #[inline]
    fn deleted(self, out: &mut SendBuf) {
        self.line(out, b"DELETED\r\n");
    }

    #[inline]
    fn touched(self, out: &mut SendBuf, _: u32, _: Version) {
        self.line(out, b"TOUCHED\r\n");
    }

    fn number(self, out: &mut SendBuf, number: u64, _: Version) {
        match self {
            Text::Whole | Text::Listed => {
                out.put(itoa::Buffer::new().format(number).as_bytes());
                out.put(b"\r\n");
            }
            Text::Quiet => {}
        }
    }

    fn not_a_number(self, out: &mut SendBuf) {
        self.line(out, b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n");
    }

    fn too_large(self, out: &mut SendBuf) {
        self.line(out, TOO_LARGE);
    }

    fn out_of_memory(self, out: &mut SendBuf) {
        self.line(out, b"SERVER_ERROR out of memory storing object\r\n");
    }

    fn ok(self, out: &mut SendBuf) {
        self.line(out, b"OK\r\n");
    }

    fn version(self, out: &mut SendBuf, version: &str) {
        out.put(b"VERSION ");
        out.put(version.as_bytes());
        out.put(b"\r\n");
    }

    fn stat(self, out: &mut SendBuf, name: &str, value: &dyn Display) {
        use std::io::Write;
        out.put_with(|bytes| {
            // Writing to a vector cannot fail.
            let _ = write!(bytes, "STAT {name} {value}\r\n");
        });
    }

    fn stats_end(self, out: &mut SendBuf) {
        out.put(END);
    }

    fn stats_reset(self, out: &mut SendBuf) {
        out.put(b"RESET\r\n");
    }

    fn no_topic(self, out: &mut SendBuf) {
        out.put(ERROR);
    }

    fn no_keys(self, out: &mut SendBuf) {
        out.put(b"CLIENT_ERROR stats cachedump not allowed\r\n");
    }

    fn detail_switched(self, out: &mut SendBuf) {
        self.ok(out);
    }

    fn prefixes(self, out: &mut SendBuf, lines: &[u8]) {
        out.put(lines);
        out.put(END);
    }

    fn no_prefixes(self, out: &mut SendBuf) {
        out.put(b"CLIENT_ERROR stats detail not allowed\r\n");
    }

    fn refused(self, out: &mut SendBuf, refusal: Refusal) {
        let line: &[u8] = match refusal {
            Refusal::Flush => b"CLIENT_ERROR flush_all not allowed\r\n",
            Refusal::FlushDelay => NO_TIME,
            Refusal::Shutdown => b"SERVER_ERROR: shutdown not enabled\r\n",
            Refusal::NoTls => b"Error TLS not enabled\r\n",
            Refusal::ShutdownMode => b"CLIENT_ERROR invalid shutdown mode\r\n",
            Refusal::Wrong(reply) => reply,
            Refusal::Detail => b"CLIENT_ERROR usage: stats detail on|off|dump\r\n",
            Refusal::MemoryTooSmall(mebibytes) => {
                let limit = format_args!("TOO_SMALL cannot set maxbytes to less than {mebibytes}m");
                return self.memory_limit(out, limit);
            }
            Refusal::MemoryTooLarge(mebibytes) => {
                let limit =
                    format_args!("ADJUST_FAILED cannot set maxbytes to more than {mebibytes}m");
                return self.memory_limit(out, limit);
            }
            Refusal::MemoryInBytes => {
                b"MEMLIMIT_ADJUST_FAILED input value is megabytes not bytes\r\n"
            }
            Refusal::Dump(listing) => dump::not_allowed(listing),
            Refusal::Busy => b"BUSY currently processing crawler request\r\n",
            Refusal::Watch => b"CLIENT_ERROR watch commands not allowed\r\n",
            Refusal::TooManyWatchers => b"WATCHER_TOO_MANY log watcher limit reached\r\n",
            Refusal::Datagram => b"SERVER_ERROR not available over UDP\r\n",
        };
        self.line(out, line);
    }

    /// Text has no SASL: what only SASL asks for is never replied to.
    fn login(self, out: &mut SendBuf, step: LoginReply) {
        let line: &[u8] = match step {
            LoginReply::Admitted => b"STORED\r\n",
            LoginReply::Denied
            | LoginReply::Mechanisms
            | LoginReply::GoOn
            | LoginReply::LongMechanism
            | LoginReply::NoUsers => b"CLIENT_ERROR authentication failure\r\n",
        };
        out.put(line);
    }

    /// Nothing: a client that says `quit` waits for the end of the connection.
    fn closed(self, _: &mut SendBuf) {}
}
