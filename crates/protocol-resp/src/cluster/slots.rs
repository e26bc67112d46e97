// SPDX-License-Identifier: Apache-2.0
//! From a key to its slot: CRC16 of the key, or of the part of it in braces, modulo 16384.

use std::ops::Range;
use std::sync::OnceLock;

/// How many slots there are.
pub(crate) const SLOTS: usize = 16_384;

/// CRC16 of all single bytes: polynomial 0x1021, nothing reflected, nothing inverted (XMODEM).
static TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, &byte| (crc << 8) ^ TABLE[usize::from((crc >> 8) as u8 ^ byte)])
}

/// The slot of a key. If there is something between the first `{` and the next `}`, only that counts, so that
/// clients can have several keys in one slot.
pub(crate) fn slot_of(key: &[u8]) -> u16 {
    crc16(tag_of(key)) % SLOTS as u16
}

/// The part of a key that decides its slot.
fn tag_of(key: &[u8]) -> &[u8] {
    &key[place_of_tag(key)]
}

fn place_of_tag(key: &[u8]) -> Range<usize> {
    let place = memchr::memchr(b'{', key).and_then(|open| {
        let begin = open + 1;
        memchr::memchr(b'}', &key[begin..]).map(|len| begin..begin + len)
    });
    place.filter(|place| !place.is_empty()).unwrap_or(0..key.len())
}

/// The slot of all keys that match a pattern, if that is one: nothing up to the end of their tag is special in it.
pub(crate) fn slot_of_pattern(pattern: &[u8]) -> Option<u16> {
    let end = place_of_tag(pattern).end;
    let special = |byte: &u8| b"*?[\\".contains(byte);
    (!pattern[..end].iter().any(special)).then(|| slot_of(pattern))
}

/// A short text of letters and digits that has a slot, to be put in braces.
pub(crate) fn tag_for(slot: u16) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    static TAGS: OnceLock<Box<[[u8; 3]; SLOTS]>> = OnceLock::new();
    let tags = TAGS.get_or_init(|| {
        let mut tags = Box::new([[0; 3]; SLOTS]);
        for number in (0..DIGITS.len().pow(3)).rev() {
            let digit =
                |place: usize| DIGITS[number / DIGITS.len().pow(place as u32) % DIGITS.len()];
            let tag = [digit(2), digit(1), digit(0)];
            tags[usize::from(slot_of(&tag))] = tag;
        }
        tags
    });
    String::from_utf8_lossy(&tags[usize::from(slot)]).into_owned()
}

/// The number of a slot, if it is one.
pub(crate) fn slot_number(text: &[u8]) -> Option<u16> {
    let number = values::parse_i64(text)?;
    u16::try_from(number).ok().filter(|slot| usize::from(*slot) < SLOTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_slots_of_redis() {
        for (key, slot) in [
            ("", 0),
            ("foo", 12_182),
            ("bar", 5061),
            ("123456789", 12_739),
            ("{user1000}.following", 3443),
            ("{user1000}.followers", 3443),
            ("foo{}{bar}", 8363),
            ("foo{{bar}}zap", 4015),
            ("foo{bar}{zap}", 5061),
            ("{foo", 13_308),
            ("}foo{", 8453),
        ] {
            assert_eq!(slot_of(key.as_bytes()), slot, "{key}");
        }
    }

    #[test]
    fn every_slot_has_a_tag() {
        assert!((0..SLOTS as u16).all(|slot| slot_of(tag_for(slot).as_bytes()) == slot));
        assert_eq!(tag_for(0), "06S");
    }

    #[test]
    fn a_pattern_has_one_slot_if_its_tag_is_literal() {
        for (pattern, slot) in [("{foo}*", 12_182), ("x{foo}*", 12_182), ("foo", 12_182)] {
            assert_eq!(slot_of_pattern(pattern.as_bytes()), Some(slot), "{pattern}");
        }
        for pattern in ["*{a}", "{a*}", "{}*", "x*", "{a*", "[{a}]", "a?", "\\{a}"] {
            assert_eq!(slot_of_pattern(pattern.as_bytes()), None, "{pattern}");
        }
    }

    #[test]
    fn a_slot_has_a_number_below_16384() {
        assert_eq!(slot_number(b"16383"), Some(16_383));
        for wrong in ["16384", "-1", "x", "", "99999999999999999999"] {
            assert_eq!(slot_number(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
