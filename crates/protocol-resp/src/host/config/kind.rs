// SPDX-License-Identifier: Apache-2.0
//! [`Kind`]: the syntax of a parameter's value, and the errors for invalid values.

use values::parse_i64;

/// The values that a parameter may have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// `yes` or `no`.
    YesNo,
    /// An integer within bounds, both included.
    Integer(i64, i64),
    /// A number of bytes within bounds, both included: `100`, `100kb`, `1g`.
    Bytes(i64, i64),
    /// Any number of bytes below 2^64; the value is the integer of the same bits.
    AnyBytes,
    /// A number of bytes up to a bound, or a percentage, `5%`, which is a number below zero.
    BytesOrPercent(i64),
    /// Permission bits.
    Octal,
    /// One of these words; the value is its index.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
    /// A text with a syntax of its own. The function checks it and returns the text to show.
    Special(fn(&[u8]) -> Result<String, String>),
    /// The same, of several words, each an argument of its own in a file and on a command line.
    Words(fn(&[u8]) -> Result<String, String>),
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A number; for a choice, the index of the word.
    Number(i64),
    /// A text.
    Text(Vec<u8>),
}

impl Value {
    /// The value of a numeric kind.
    pub(crate) fn number(&self) -> i64 {
        match self {
            Value::Number(number) => *number,
            Value::Text(_) => 0,
        }
    }

    /// The value of a numeric kind without negative numbers.
    pub(crate) fn count(&self) -> u64 {
        self.number().unsigned_abs()
    }

    /// A value of [`Kind::AnyBytes`].
    pub(crate) fn of_any_bytes(number: u64) -> Self {
        Value::Number(number.cast_signed())
    }

    /// The number of a [`Kind::AnyBytes`].
    pub(crate) fn any_bytes(&self) -> u64 {
        self.number().cast_unsigned()
    }

    /// The value of a yes-or-no kind.
    pub(crate) fn is_yes(&self) -> bool {
        self.number() != 0
    }

    /// The value of a text kind.
    pub(crate) fn text(&self) -> &[u8] {
        match self {
            Value::Number(_) => b"",
            Value::Text(text) => text,
        }
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Value {
    fn from(is_yes: bool) -> Self {
        Value::Number(i64::from(is_yes))
    }
}

impl Kind {
    /// Parses `text`; the error says what is wrong with it.
    pub(crate) fn read(self, text: &[u8]) -> Result<Value, String> {
        match self {
            Kind::YesNo => match text.to_ascii_lowercase().as_slice() {
                b"yes" => Ok(Value::Number(1)),
                b"no" => Ok(Value::Number(0)),
                _ => Err("argument must be 'yes' or 'no'".to_owned()),
            },
            Kind::Integer(least, most) => {
                let number = parse_i64(text);
                within(number.ok_or("argument couldn't be parsed into an integer")?, least, most)
            }
            Kind::Bytes(least, most) => {
                let number = bytes(text).ok_or("argument must be a memory value")?;
                within(i64::try_from(number).unwrap_or(-1), least, most)
            }
            Kind::AnyBytes => {
                let number = bytes(text).ok_or("argument must be a memory value")?;
                Ok(Value::of_any_bytes(number))
            }
            Kind::BytesOrPercent(most) => {
                if let Some(number) = bytes(text) {
                    return within(i64::try_from(number).unwrap_or(-1), 0, most);
                }
                let percent = text.strip_suffix(b"%").and_then(parse_i64).filter(|n| *n >= 0);
                match percent.ok_or("argument must be a memory or percent value")? {
                    101.. => Err("percentage argument must be less or equal to 100".to_owned()),
                    percent => Ok(Value::Number(-percent)),
                }
            }
            Kind::Octal => {
                let digits = str::from_utf8(text).ok();
                let mode = digits.and_then(|digits| i64::from_str_radix(digits, 8).ok());
                within(mode.ok_or("argument couldn't be parsed as an octal number")?, 0, 0o777)
            }
            Kind::Choice(words) => {
                let found =
                    words.iter().position(|word| word.as_bytes().eq_ignore_ascii_case(text));
                found.map(|place| Value::Number(place as i64)).ok_or_else(|| {
                    format!("argument(s) must be one of the following: {}", words.join(", "))
                })
            }
            Kind::Text => Ok(Value::Text(text.to_vec())),
            Kind::Special(read) | Kind::Words(read) => {
                read(text).map(|text| Value::Text(text.into_bytes()))
            }
        }
    }

    /// Formats a value.
    pub(crate) fn show(self, value: &Value) -> Vec<u8> {
        match (self, value) {
            (_, Value::Text(text)) => text.clone(),
            (Kind::YesNo, value) => (if value.is_yes() { "yes" } else { "no" }).into(),
            (Kind::AnyBytes, value) => value.any_bytes().to_string().into_bytes(),
            (Kind::BytesOrPercent(_), value) if value.number() < 0 => {
                format!("{}%", -value.number()).into_bytes()
            }
            (Kind::Octal, value) => format!("{:o}", value.number()).into_bytes(),
            (Kind::Choice(words), value) => {
                words.get(value.number() as usize).copied().unwrap_or_default().into()
            }
            (_, value) => value.number().to_string().into_bytes(),
        }
    }
}

fn within(number: i64, least: i64, most: i64) -> Result<Value, String> {
    if (least..=most).contains(&number) {
        Ok(Value::Number(number))
    } else {
        Err(format!("argument must be between {least} and {most} inclusive"))
    }
}

/// A number of bytes: `k`, `m` and `g` are powers of 1000, with a `b` behind them of 1024. Without a
/// digit it is 0; what is too large for the type is its largest number.
pub(super) fn bytes(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, unit) = text.split_at(digits);
    let digit =
        |number: u64, byte: &u8| number.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
    let number = number.iter().fold(0, digit);
    let factor: u64 = match unit.to_ascii_lowercase().as_slice() {
        b"" | b"b" => 1,
        b"k" => 1000,
        b"kb" => 1 << 10,
        b"m" => 1_000_000,
        b"mb" => 1 << 20,
        b"g" => 1_000_000_000,
        b"gb" => 1 << 30,
        _ => return None,
    };
    Some(number.saturating_mul(factor))
}

/// A number of bytes with the largest unit that it is a multiple of.
pub(super) fn with_unit(number: u64) -> Vec<u8> {
    let units = [("gb", 1 << 30), ("mb", 1 << 20), ("kb", 1 << 10)];
    let fits = |(_, size): &(&str, u64)| number != 0 && number.is_multiple_of(*size);
    let (unit, size) = units.into_iter().find(fits).unwrap_or(("", 1));
    format!("{}{unit}", number / size).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units_as_in_redis() {
        for (text, number) in
            [("100", 100), ("1k", 1000), ("1KB", 1024), ("2mb", 2 << 20), ("3g", 3_000_000_000)]
        {
            assert_eq!(bytes(text.as_bytes()), Some(number), "{text}");
        }
        for text in ["0", "100", "1kb", "1025kb", "100mb", "3gb", "1073741825"] {
            let number = bytes(text.as_bytes()).unwrap();
            assert_eq!(with_unit(number), text.as_bytes());
        }
        for (text, number) in [("", 0), ("mb", 0), ("9999999999999999gb", u64::MAX)] {
            assert_eq!(bytes(text.as_bytes()), Some(number), "{text}");
        }
        for text in ["-1", "1x", "1.5gb", "10%", "+1", " 1"] {
            assert_eq!(bytes(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn what_is_read_is_shown_again() {
        let words = Kind::Choice(&["one", "two"]);
        let cases = [
            (Kind::YesNo, "YES", "yes"),
            (Kind::Integer(-5, 5), "-5", "-5"),
            (Kind::Bytes(0, 1 << 40), "1gb", "1073741824"),
            (Kind::AnyBytes, "1gb", "1073741824"),
            (Kind::AnyBytes, "9223372036854775808", "9223372036854775808"),
            (Kind::AnyBytes, "99999999999gb", "18446744073709551615"),
            (Kind::Octal, "0700", "700"),
            (Kind::BytesOrPercent(1 << 40), "1mb", "1048576"),
            (Kind::BytesOrPercent(1 << 40), "5%", "5%"),
            (Kind::BytesOrPercent(1 << 40), "0%", "0"),
            (words, "TWO", "two"),
            (Kind::Text, "any thing", "any thing"),
        ];
        for (kind, given, shown) in cases {
            let value = kind.read(given.as_bytes()).expect(given);
            assert_eq!(kind.show(&value), shown.as_bytes());
        }
    }

    #[test]
    fn what_is_wrong_is_said_in_the_words_of_redis() {
        let cases = [
            (Kind::YesNo, "maybe", "argument must be 'yes' or 'no'"),
            (Kind::Integer(0, 9), "10", "argument must be between 0 and 9 inclusive"),
            (Kind::Integer(0, 9), "x", "argument couldn't be parsed into an integer"),
            (Kind::Bytes(0, 9), "1x", "argument must be a memory value"),
            (Kind::Bytes(0, 9), "99999999999999gb", "argument must be between 0 and 9 inclusive"),
            (Kind::AnyBytes, "-1", "argument must be a memory value"),
            (Kind::Octal, "8", "argument couldn't be parsed as an octal number"),
            (Kind::BytesOrPercent(9), "x", "argument must be a memory or percent value"),
            (Kind::BytesOrPercent(9), "-1%", "argument must be a memory or percent value"),
            (Kind::BytesOrPercent(9), "101%", "percentage argument must be less or equal to 100"),
            (Kind::BytesOrPercent(9), "10", "argument must be between 0 and 9 inclusive"),
            (
                Kind::Choice(&["one", "two"]),
                "x",
                "argument(s) must be one of the following: one, two",
            ),
        ];
        for (kind, given, problem) in cases {
            assert_eq!(kind.read(given.as_bytes()), Err(problem.to_owned()), "{given}");
        }
    }
}
