// SPDX-License-Identifier: Apache-2.0
//! [`Foreign`]: what a client speaks that has come to the wrong port.

use crate::ErrorReply;

/// Another protocol than that of the port. A codec tells them apart by what no request of its own
/// begins with, by the first byte or two, so that the client fails at once instead of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// A request of HTTP: maybe of a web page that has its reader's browser send commands.
    Http,
    /// The first record of a TLS handshake.
    Tls,
    /// memcache's binary protocol.
    BinaryMemcache,
    /// RESP.
    Resp,
    /// No TLS, where it is asked for.
    Plain,
}

/// What the first bytes of a request say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstBytes {
    /// It may be text.
    Text,
    /// It is none.
    Foreign(Foreign),
    /// One byte more says it.
    TooFew,
}

/// Of a request of memcache's binary protocol: its first byte.
const BINARY_MAGIC: u8 = 0x80;

/// Of a TLS record: that it belongs to a handshake, and the major version of every TLS.
const HANDSHAKE: [u8; 2] = [0x16, 3];

impl Foreign {
    /// How many kinds there are.
    pub const COUNT: usize = 5;

    /// What speaks binary memcache is told so by a response to whatever it asked: status 0x81, unknown
    /// command, and a text.
    pub const BINARY_REPLY: ErrorReply = ErrorReply::fixed(
        b"\x81\0\0\0\0\0\0\x81\0\0\0\x23\0\0\0\0\0\0\0\0\0\0\0\0binary memcache is not spoken here.",
    );

    /// What the first bytes of a request say of a client that speaks no text.
    #[inline]
    pub fn of_first_bytes(input: &[u8]) -> FirstBytes {
        match input {
            [BINARY_MAGIC, ..] => FirstBytes::Foreign(Foreign::BinaryMemcache),
            [first] if *first == HANDSHAKE[0] => FirstBytes::TooFew,
            [first, second, ..] if [*first, *second] == HANDSHAKE => {
                FirstBytes::Foreign(Foreign::Tls)
            }
            _ => FirstBytes::Text,
        }
    }

    /// Its name in a log.
    pub fn name(self) -> &'static str {
        match self {
            Foreign::Http => "HTTP, maybe for an attacker",
            Foreign::Tls => "TLS, to a port without it",
            Foreign::BinaryMemcache => "binary memcache",
            Foreign::Resp => "RESP",
            Foreign::Plain => "no TLS, to a port that asks for it",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reply_to_binary_memcache_is_as_long_as_it_says() {
        let reply = Foreign::BINARY_REPLY;
        let (header, text) = reply.as_bytes().split_at(24);
        assert_eq!(header[..4], [0x81, 0, 0, 0], "a response without key");
        assert_eq!(header[4..8], [0, 0, 0, 0x81], "without extras, an unknown command");
        assert_eq!(header[8..12], (text.len() as u32).to_be_bytes());
    }

    #[test]
    fn a_byte_or_two_tell() {
        let said = |input: &[u8]| Foreign::of_first_bytes(input);
        assert_eq!(said(b""), FirstBytes::Text);
        assert_eq!(said(b"\x80"), FirstBytes::Foreign(Foreign::BinaryMemcache));
        assert_eq!(said(b"\x16"), FirstBytes::TooFew);
        assert_eq!(said(b"\x16\x03"), FirstBytes::Foreign(Foreign::Tls));
        assert_eq!(said(b"\x16\r\n"), FirstBytes::Text);
        assert_eq!(said(b"get \x80"), FirstBytes::Text);
    }
}
