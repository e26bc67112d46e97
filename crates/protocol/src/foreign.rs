// SPDX-License-Identifier: Apache-2.0
//! [`Foreign`]: the protocol of a client that connected to the wrong port.

use crate::ErrorReply;

/// A protocol other than the one that the port speaks. A codec recognises it by the first byte or
/// two, with which none of its own requests begins, so that the client fails at once instead of
/// waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// An HTTP request, possibly sent by a browser on behalf of a malicious web page.
    Http,
    /// The first record of a TLS handshake.
    Tls,
    /// memcache's binary protocol.
    BinaryMemcache,
    /// RESP.
    Resp,
    /// Plain text on a port that requires TLS.
    Plain,
}

/// What the first bytes of a request tell about its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstBytes {
    /// It may be a text protocol.
    Text,
    /// It is another protocol.
    Foreign(Foreign),
    /// One more byte is needed to tell.
    TooFew,
}

/// The first byte of a request of memcache's binary protocol.
const BINARY_MAGIC: u8 = 0x80;

/// The first two bytes of a TLS connection: the record type "handshake" and the major version of
/// every TLS.
const HANDSHAKE: [u8; 2] = [0x16, 3];

impl Foreign {
    /// The number of variants.
    pub const COUNT: usize = 5;

    /// The reply to a client of memcache's binary protocol, whatever it asked: status 0x81, unknown command,
    /// and a text.
    pub const BINARY_REPLY: ErrorReply = ErrorReply::fixed(
        b"\x81\0\0\0\0\0\0\x81\0\0\0\x23\0\0\0\0\0\0\0\0\0\0\0\0binary memcache is not spoken here.",
    );

    /// Tells from the first bytes of a request whether the client speaks a text protocol.
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
