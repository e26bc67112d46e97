// SPDX-License-Identifier: Apache-2.0
//! The replies: fixed lines, and values written straight into the send buffer.

use buffer::SendBuf;
use protocol::ErrorReply;

pub(crate) const END: &[u8] = b"END\r\n";
pub(crate) const OK: &[u8] = b"OK\r\n";
pub(crate) const RESET: &[u8] = b"RESET\r\n";
pub(crate) const STORED: &[u8] = b"STORED\r\n";
pub(crate) const NOT_STORED: &[u8] = b"NOT_STORED\r\n";
pub(crate) const EXISTS: &[u8] = b"EXISTS\r\n";
pub(crate) const NOT_FOUND: &[u8] = b"NOT_FOUND\r\n";
pub(crate) const DELETED: &[u8] = b"DELETED\r\n";
pub(crate) const TOUCHED: &[u8] = b"TOUCHED\r\n";
pub(crate) const ERROR: &[u8] = b"ERROR\r\n";
pub(crate) const NOT_A_NUMBER: &[u8] =
    b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";
pub(crate) const TOO_LARGE: &[u8] = b"SERVER_ERROR object too large for cache\r\n";
pub(crate) const OUT_OF_MEMORY: &[u8] = b"SERVER_ERROR out of memory storing object\r\n";
pub(crate) const NO_CACHEDUMP: &[u8] = b"CLIENT_ERROR stats cachedump not allowed\r\n";
pub(crate) const NO_DETAIL: &[u8] = b"CLIENT_ERROR stats detail not allowed\r\n";
pub(crate) const TOO_MANY_CONNECTIONS: &[u8] = b"ERROR Too many open connections\r\n";

/// What a client is told that speaks something else, in its own words where there are any.
pub(crate) const NO_TLS: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR this port does not speak TLS\r\n");
pub(crate) const NO_RESP: ErrorReply =
    ErrorReply::fixed(b"-ERR Protocol error: this port speaks memcache, not RESP\r\n");

/// Rejections of a line.
pub(crate) const UNKNOWN: ErrorReply = ErrorReply::fixed(ERROR);
pub(crate) const BAD_FORMAT: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR bad command line format\r\n");
pub(crate) const BAD_DATA: ErrorReply = ErrorReply::fixed(b"CLIENT_ERROR bad data chunk\r\n");
pub(crate) const BAD_EXPTIME: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR invalid exptime argument\r\n");
pub(crate) const BAD_DELTA: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR invalid numeric delta argument\r\n");
pub(crate) const BAD_DELETE: ErrorReply =
    ErrorReply::fixed(b"CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\n");

/// Room for everything in a value's first and last line but the key: `VALUE `, three numbers with
/// their spaces, two line ends and `END`.
const AROUND_VALUE: usize = 6 + 11 + 21 + 21 + 2 + 2 + END.len();

/// Appends `VALUE <key> <flags> <len> [<cas>]`, and makes room for the `len` bytes to come.
#[inline]
pub(crate) fn value_line(
    out: &mut Vec<u8>,
    key: &[u8],
    flags: u32,
    len: usize,
    cas: Option<u64>,
    copied: bool,
) {
    out.reserve(AROUND_VALUE + key.len() + if copied { len } else { 0 });
    out.extend_from_slice(b"VALUE ");
    out.extend_from_slice(key);
    let mut digits = itoa::Buffer::new();
    if flags == 0 {
        out.extend_from_slice(b" 0 ");
    } else {
        out.push(b' ');
        out.extend_from_slice(digits.format(flags).as_bytes());
        out.push(b' ');
    }
    out.extend_from_slice(digits.format(len).as_bytes());
    if let Some(cas) = cas {
        out.push(b' ');
        out.extend_from_slice(digits.format(cas).as_bytes());
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends a number on a line of its own.
pub(crate) fn number(out: &mut SendBuf, number: u64) {
    out.put(itoa::Buffer::new().format(number).as_bytes());
    out.put(b"\r\n");
}

/// Appends a `STAT` line.
pub(crate) fn stat(out: &mut SendBuf, name: &str, value: impl std::fmt::Display) {
    use std::io::Write;
    out.put_with(|bytes| {
        // Writing to a vector cannot fail.
        let _ = write!(bytes, "STAT {name} {value}\r\n");
    });
}
