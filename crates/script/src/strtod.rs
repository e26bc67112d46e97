// SPDX-License-Identifier: Apache-2.0
//! Text to numbers, as C's `strtod` reads it: decimal, hexadecimal, `inf` and `nan`.

/// The longest number at the start of a text, and its length.
pub(crate) fn strtod(text: &[u8]) -> Option<(f64, usize)> {
    let sign_len = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let rest = &text[sign_len..];
    let (number, len) = if begins_with(rest, b"infinity") {
        (f64::INFINITY, 8)
    } else if begins_with(rest, b"inf") {
        (f64::INFINITY, 3)
    } else if begins_with(rest, b"nan") {
        (f64::NAN, 3 + payload(&rest[3..]))
    } else if is_hexadecimal(rest) {
        hexadecimal(rest)
    } else {
        decimal(rest)?
    };
    Some((if text[0] == b'-' { -number } else { number }, sign_len + len))
}

/// Text as a number, as Lua reads it: what `strtod` reads, spaces around it, and nothing else. A zero byte is the end.
pub(crate) fn parse_number(text: &[u8]) -> Option<f64> {
    let end = memchr::memchr(0, text).unwrap_or(text.len());
    let text = &text[run_of(&text[..end], is_space)..end];
    let (number, len) = strtod(text)?;
    text[len..].iter().all(is_space).then_some(number)
}

/// Whether a text begins with a word, in small or capital letters.
pub(crate) fn begins_with(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn run_of(text: &[u8], is_part: fn(&u8) -> bool) -> usize {
    text.iter().take_while(|byte| is_part(byte)).count()
}

/// The length of what may follow `nan`: letters and digits in parentheses.
fn payload(text: &[u8]) -> usize {
    let Some((b'(', rest)) = text.split_first() else { return 0 };
    let len = run_of(rest, |byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if rest.get(len) == Some(&b')') { len + 2 } else { 0 }
}

fn decimal(text: &[u8]) -> Option<(f64, usize)> {
    let mut len = run_of(text, u8::is_ascii_digit);
    let mut has_digits = len > 0;
    if text.get(len) == Some(&b'.') {
        let fraction = run_of(&text[len + 1..], u8::is_ascii_digit);
        has_digits |= fraction > 0;
        len += 1 + fraction;
    }
    if !has_digits {
        return None;
    }
    len += exponent(&text[len..], b'e');
    // "1." and ".5" are numbers to Rust, too.
    let number = std::str::from_utf8(&text[..len]).ok()?.parse().ok()?;
    Some((number, len))
}

/// The length of an exponent, if there is one.
fn exponent(text: &[u8], letter: u8) -> usize {
    if text.first().map(u8::to_ascii_lowercase) != Some(letter) {
        return 0;
    }
    let sign = usize::from(matches!(text.get(1), Some(b'-' | b'+')));
    match run_of(&text[1 + sign..], u8::is_ascii_digit) {
        0 => 0,
        digits => 1 + sign + digits,
    }
}

/// Whether there is a digit behind `0x`, or behind its point. If there is none, the number is the zero.
fn is_hexadecimal(text: &[u8]) -> bool {
    let digits = if begins_with(text, b"0x") { &text[2..] } else { return false };
    let digits = digits.strip_prefix(b".").unwrap_or(digits);
    digits.first().is_some_and(u8::is_ascii_hexdigit)
}

fn hexadecimal(text: &[u8]) -> (f64, usize) {
    let mut digits = Digits::default();
    let whole_len = run_of(&text[2..], u8::is_ascii_hexdigit);
    let mut len = 2 + whole_len;
    text[2..len].iter().for_each(|digit| digits.push(*digit, 0));
    if text.get(len) == Some(&b'.') {
        let fraction_len = run_of(&text[len + 1..], u8::is_ascii_hexdigit);
        text[len + 1..=len + fraction_len].iter().for_each(|digit| digits.push(*digit, 1));
        len += 1 + fraction_len;
    }
    let power = exponent(&text[len..], b'p');
    if power > 0 {
        let power = std::str::from_utf8(&text[len + 1..len + power]).unwrap_or_default();
        // A power that is no 64-bit number is beyond all numbers.
        let beyond = if power.starts_with('-') { i64::MIN } else { i64::MAX };
        digits.power = digits.power.saturating_add(power.parse().unwrap_or(beyond));
    }
    (digits.number(), len + power)
}

/// The number `bits * 2^power`. Of more than 64 bits the last one stands for all behind it.
#[derive(Default)]
struct Digits {
    bits: u64,
    power: i64,
}

impl Digits {
    /// Adds a hexadecimal digit, of which `decimals` are behind the point.
    fn push(&mut self, digit: u8, decimals: i64) {
        let digit = u64::from(char::from(digit).to_digit(16).unwrap_or(0));
        if self.bits >> 60 == 0 {
            self.bits = self.bits << 4 | digit;
            self.power -= 4 * decimals;
        } else {
            self.bits |= u64::from(digit != 0);
            self.power += 4 * (1 - decimals);
        }
    }

    /// The number next to it, or of two that are as near the even one.
    fn number(self) -> f64 {
        const BITS: i64 = f64::MANTISSA_DIGITS as i64;
        /// Of the smallest number.
        const POWER_MIN: i64 = f64::MIN_EXP as i64 - BITS;
        let len = i64::from(u64::BITS - self.bits.leading_zeros());
        let dropped = (len - BITS).max(POWER_MIN.saturating_sub(self.power)).max(0);
        if self.bits == 0 || dropped > len {
            return 0.0;
        }
        let (bits, shift) = (u128::from(self.bits), dropped as u32);
        let kept = bits >> shift;
        // Twice what is dropped, and what half of the last kept bit is then.
        let (rest, half) = (2 * (bits - (kept << shift)), 1_u128 << shift);
        let is_up = rest > half || (rest == half && kept % 2 == 1);
        let kept = (kept + u128::from(is_up)) as f64;
        // In two steps, both exact: 2 to the power may be no number when the product is.
        let power = self.power.saturating_add(dropped).clamp(-2000, 2000) as i32;
        let half = power / 2;
        kept * 2.0_f64.powi(half) * 2.0_f64.powi(power - half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `tonumber` and `bit.tobit` of redis-server 7.0.15 have answered. Lua 5.1 calls `strtod`, and `strtoul` with
    /// base 16 if that stops at an `x`. With a `strtod` that reads hexadecimal it does so only where there is no digit
    /// behind the `x`, and `strtoul` stops there, too: "0x+5" is no number, whatever `strtoul` reads of "+5" alone.
    #[test]
    fn text_is_read_as_lua_reads_it() {
        for (text, number) in [
            ("12", 12.0),
            (" -0x10 ", -16.0),
            ("+0X1f", 31.0),
            (".5", 0.5),
            ("1e3", 1000.0),
            ("1e00005", 1e5),
            ("5.", 5.0),
            ("\x0b5\x0c", 5.0),
            ("5 \0x", 5.0),
            ("0x1p4", 16.0),
            ("0x1p-2", 0.25),
            ("0x1.8p1", 3.0),
            ("0x1.", 1.0),
            ("0x.8", 0.5),
            ("0x1e5", 485.0),
            ("0x0.00000000000000000001p80", 1.0),
            ("0xffffffffffffffff", 18446744073709551615.0),
            ("0x10000000000000000", 18446744073709551616.0),
            ("-0x10000000000000000", -18446744073709551616.0),
            ("0x123456789012345678901", 1.3754889323516613e24),
            ("0x1ffffffffffffffffff.8", 9.44473296573929e21),
            ("0x1p99999999999", f64::INFINITY),
            ("0x0p99999999999999999999", 0.0),
            ("1e400", f64::INFINITY),
            ("-1e400", f64::NEG_INFINITY),
            ("INF", f64::INFINITY),
            ("-infinity", f64::NEG_INFINITY),
        ] {
            assert_eq!(parse_number(text.as_bytes()), Some(number), "{text}");
        }
        for text in ["nan", "+NaN", "nan()", "nan(a_1)"] {
            assert!(parse_number(text.as_bytes()).is_some_and(f64::is_nan), "{text}");
        }
        for text in [
            "", " ", "x", "0x", "0xg", "0x.", "0xp1", "0x+5", "0x-5", "0x 5", "00x5", "0x0x5",
            "0x1p", "0x1p+", "0x1P+4x", "1 2", "--1", "+-1", "- 1", "1e", "1e+", "1e5.5", ".",
            "1_0", "1f", "0b1", "infinit", "nan(", "nan(-)",
        ] {
            assert_eq!(parse_number(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse_number(b"\xa05"), None, "a space of other locales");
    }

    #[test]
    fn hexadecimal_numbers_are_rounded_once() {
        for (text, bits) in [
            ("0x1p-1074", 1),
            ("0x1p-1075", 0),
            ("0x1.0000000000000000000001p-1075", 1),
            ("0x3p-1075", 2),
            ("0x1.fffffffffffff8p-1023", f64::MIN_POSITIVE.to_bits()),
            ("0x1p-99999999999999999999", 0),
            ("0x1.fffffffffffff7p1023", f64::MAX.to_bits()),
            ("0x1.fffffffffffff8p1023", f64::INFINITY.to_bits()),
            // Halfway, and a little more.
            ("0x20000000000001", 9007199254740992.0_f64.to_bits()),
            ("0x200000000000011", 144115188075855904.0_f64.to_bits()),
            ("0x2000000000000100000000000000001p-68", 9007199254740994.0_f64.to_bits()),
        ] {
            assert_eq!(parse_number(text.as_bytes()).map(f64::to_bits), Some(bits), "{text}");
        }
    }
}
