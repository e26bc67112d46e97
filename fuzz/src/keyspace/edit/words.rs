// SPDX-License-Identifier: Apache-2.0
//! Elements, numbers and times, each chosen by a byte or two.

use arbitrary::{Result, Unstructured};

/// Texts that just are numbers, or just are not.
const EDGES: [&[u8]; 20] = [
    b"",
    b"-1",
    b"-0",
    b"+5",
    b"007",
    b"127",
    b"128",
    b"-32768",
    b"-32769",
    b"2147483647",
    b"2147483648",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"9223372036854775808",
    b"99999999999999999999",
    b"1.5",
    b" 1",
    b"\0",
    b"\xff\xff",
    b"1\r\n",
];

/// One of 256 byte strings, of which half are small integers and some are long.
pub(crate) fn element(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let byte: u8 = input.arbitrary()?;
    let number = usize::from(byte);
    Ok(match byte {
        0..=119 => byte.to_string().into_bytes(),
        120..=199 => vec![b'a' + byte % 26; 1 + number % 40],
        200..=219 => vec![byte; 60 + (number - 200)],
        220..=239 => EDGES[number - 220].to_vec(),
        _ => vec![b'x'; (number - 239) * 700],
    })
}

/// A score.
pub(super) fn score(input: &mut Unstructured<'_>) -> Result<f64> {
    Ok(match input.int_in_range(0..=31_i32)? {
        0 => f64::INFINITY,
        1 => f64::NEG_INFINITY,
        2 => -0.0,
        3 => f64::MIN_POSITIVE,
        4 => f64::MAX,
        5 => 0.1,
        number => f64::from(number - 12),
    })
}

/// Never, past, now, or a power of two milliseconds away.
pub(crate) fn expiry(input: &mut Unstructured<'_>, now_ms: u64) -> Result<Option<u64>> {
    Ok(match input.int_in_range(0..=31_u32)? {
        0..=9 => None,
        10 => Some(0),
        11 => Some(now_ms - 1),
        12 => Some(now_ms),
        13 => Some(u64::MAX - 1),
        shift => Some(now_ms + (1 << (shift - 14))),
    })
}
