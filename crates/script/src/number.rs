// SPDX-License-Identifier: Apache-2.0
//! Numbers as text.

/// Significant digits with which Lua writes numbers.
pub(crate) const LUA_DIGITS: usize = 14;

/// A number without a fraction that has no more digits than these: C's `%.{precision}g` writes them all.
pub(crate) fn whole(number: f64, precision: usize) -> Option<i64> {
    let whole = number as i64;
    let end = 10_u64.checked_pow(precision as u32)?;
    // Zero with a sign is written with it.
    let is_whole = whole as f64 == number && (whole != 0 || number.is_sign_positive());
    (is_whole && whole.unsigned_abs() < end).then_some(whole)
}

/// A number as C's `%.{precision}g` writes it.
pub(crate) fn general(number: f64, precision: usize) -> String {
    if let Some(whole) = whole(number, precision) {
        return itoa::Buffer::new().format(whole).to_owned();
    }
    if let Some(text) = special(number) {
        return text.to_owned();
    }
    let digits = format!("{number:.*e}", precision.saturating_sub(1));
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((&digits, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= precision as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.unsigned_abs());
    }
    let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
    without_zeros(&format!("{number:.decimals$}")).to_owned()
}

/// Without zeros at the end of a fraction.
fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Numbers that are none.
fn special(number: f64) -> Option<&'static str> {
    Some(match (number.is_nan(), number.is_infinite(), number.is_sign_negative()) {
        (true, _, false) => "nan",
        (true, _, true) => "-nan",
        (_, true, false) => "inf",
        (_, true, true) => "-inf",
        _ => return None,
    })
}

/// A number as Redis writes it as an argument of a command: without a fraction if it has none, or the fewest
/// digits that are read as the same number.
pub(crate) fn argument(number: f64) -> Vec<u8> {
    if let Some(text) = special(number) {
        return text.into();
    }
    // The range in which each integer is a number of its own, and some beyond, as Redis has it.
    let whole = number as i64;
    if whole as f64 == number && whole != i64::MAX && whole != i64::MIN {
        return itoa::Buffer::new().format(whole).into();
    }
    let shortest = format!("{:e}", number.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let count = digits.len() as i32;
    // The number is digits * 10^power.
    let power = exponent - (count - 1);
    let mut text = String::from(if number < 0.0 { "-" } else { "" });
    if power >= 0 && exponent < count + 7 {
        text += &digits;
        text.extend(std::iter::repeat_n('0', power as usize));
    } else if power < 0 && (power > -7 || exponent.abs() < 4) {
        let whole = count + power;
        if whole <= 0 {
            text += "0.";
            text.extend(std::iter::repeat_n('0', -whole as usize));
            text += &digits;
        } else {
            let (whole, fraction) = digits.split_at(whole as usize);
            text = text + whole + "." + fraction;
        }
    } else {
        let (first, rest) = digits.split_at(1);
        text += first;
        if !rest.is_empty() {
            text = text + "." + rest;
        }
        text = text + "e" + if exponent < 0 { "-" } else { "+" } + &exponent.abs().to_string();
    }
    text.into_bytes()
}

/// A number as an integer, as C casts it on x86: what does not fit is the smallest.
pub(crate) fn truncated(number: f64) -> i64 {
    const END: f64 = 9_223_372_036_854_775_808.0;
    if (-END..END).contains(&number) { number as i64 } else { i64::MIN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_is_that_of_c() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (1e14, "1e+14"),
            (12345678901234.0, "12345678901234"),
            (123456789012345678.0, "1.2345678901235e+17"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (1e300, "1e+300"),
            (99999999999999.9, "1e+14"),
            (99999999999999.0, "99999999999999"),
            (-99999999999999.0, "-99999999999999"),
            (-1e14, "-1e+14"),
            (-7.0, "-7"),
            (9223372036854775807.0, "9.2233720368548e+18"),
            (f64::INFINITY, "inf"),
            (-f64::NAN, "-nan"),
        ] {
            assert_eq!(general(number, 14), text);
        }
        assert_eq!(general(999.0, 3), "999");
        assert_eq!(general(1000.0, 3), "1e+03");
        assert_eq!(general(1234.0, 3), "1.23e+03");
        assert_eq!(general(2.34567, 3), "2.35");
        assert_eq!(general(9.99, 1), "1e+01");
    }

    #[test]
    fn arguments_are_those_of_redis() {
        for (number, text) in [
            (3.0, "3"),
            (-0.0, "0"),
            (0.1, "0.1"),
            (1e20, "1e+20"),
            (1e15 + 0.5, "1000000000000000.5"),
            (1e17, "100000000000000000"),
            (1e300, "1e+300"),
            (1.5e-7, "1.5e-7"),
            (123456.789, "123456.789"),
            (-0.001, "-0.001"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(argument(number), text.as_bytes(), "{number}");
        }
    }
}
