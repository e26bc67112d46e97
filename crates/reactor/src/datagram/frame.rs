// SPDX-License-Identifier: Apache-2.0
//! The header before the payload of each datagram: four numbers of 16 bits, the most significant byte first.
//!
//! | bytes | a request's | an answer's |
//! |---|---|---|
//! | 0–1 | a number of the client's choice | the same number |
//! | 2–3 | ignored | the number of this datagram, from 0 |
//! | 4–5 | the number of datagrams: 1, others are dropped | the number of datagrams |
//! | 6–7 | ignored | 0 |

use super::Refused;

/// Bytes of the header.
pub const HEADER_BYTES: usize = 8;

/// The most bytes of a datagram of an answer, with its header.
pub const DATAGRAM_BYTES: usize = 1400;

/// The most bytes of an answer in one datagram.
pub(super) const PAYLOAD_BYTES: usize = DATAGRAM_BYTES - HEADER_BYTES;

/// The most datagrams that the header can number.
pub(super) const DATAGRAMS_MAX: usize = u16::MAX as usize;

/// The number and the payload of a request that fits in one datagram.
pub(super) fn open(datagram: &[u8]) -> Result<([u8; 2], &[u8]), Refused> {
    match datagram.split_first_chunk::<HEADER_BYTES>() {
        Some((_, [])) | None => Err(Refused::Short),
        Some((&[high, low, _, _, 0, 1, _, _], payload)) => Ok(([high, low], payload)),
        Some(_) => Err(Refused::Part),
    }
}

/// The header of datagram `number` of the `total` datagrams that answer request `id`.
pub(super) fn header(id: [u8; 2], number: u16, total: u16) -> [u8; HEADER_BYTES] {
    let ([a, b], [c, d]) = (number.to_be_bytes(), total.to_be_bytes());
    [id[0], id[1], a, b, c, d, 0, 0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_one_datagram_with_something_in_it() {
        for (datagram, expected) in [
            (&b""[..], Err(Refused::Short)),
            (b"\x12\x34\0\0\0\x01\0", Err(Refused::Short)),
            (b"\x12\x34\0\0\0\x01\0\0", Err(Refused::Short)),
            (b"\x12\x34\0\0\0\x01\0\0x", Ok((*b"\x12\x34", &b"x"[..]))),
            (b"\x12\x34\xff\xfe\0\x01\x01\x02x", Ok((*b"\x12\x34", b"x"))),
            (b"\x12\x34\0\0\0\0\0\0x", Err(Refused::Part)),
            (b"\x12\x34\0\0\0\x02\0\0x", Err(Refused::Part)),
            (b"\x12\x34\0\0\x01\x01\0\0x", Err(Refused::Part)),
        ] {
            assert_eq!(open(datagram), expected, "{}", datagram.escape_ascii());
        }
    }

    #[test]
    fn an_answer_has_the_number_of_its_request() {
        assert_eq!(header([0xab, 0xcd], 0x102, 0x304), [0xab, 0xcd, 1, 2, 3, 4, 0, 0]);
    }
}
