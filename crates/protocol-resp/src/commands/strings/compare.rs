// SPDX-License-Identifier: Apache-2.0
//! Conditions on the string that is there: the IF options of SET, DELEX, DELIFEQ; and DIGEST, which two of the
//! options compare with.

use crate::commands::access::{Change, KeyAccess, KeyChange, StringAccess, StringValue};
use crate::wire::fault::{Done, Fault};
use values::Digits;

/// How many characters a digest has.
const DIGEST_LEN: usize = 16;

/// A condition on the string that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comparison<'a> {
    test: Test,
    with: &'a [u8],
}

/// What must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// The string is the one that is given.
    Equal,
    /// It is another one, or there is none.
    NotEqual,
    /// Its digest is the one that is given.
    DigestEqual,
    /// Its digest is another one, or there is none.
    DigestNotEqual,
}

impl Test {
    /// The option with this name.
    pub(crate) fn option(word: &[u8]) -> Option<Self> {
        let options: [(&[u8], Test); 4] = [
            (b"ifeq", Test::Equal),
            (b"ifne", Test::NotEqual),
            (b"ifdeq", Test::DigestEqual),
            (b"ifdne", Test::DigestNotEqual),
        ];
        let found = options.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        found.map(|(_, test)| *test)
    }

    pub(crate) fn with(self, with: &[u8]) -> Comparison<'_> {
        Comparison { test: self, with }
    }
}

impl Comparison<'_> {
    /// Whether it holds for a string, or for no string. A digest is read only if there is something to compare
    /// it with.
    pub(crate) fn holds(self, value: Option<&impl StringValue>) -> Result<bool, Fault> {
        let Some(value) = value else {
            return Ok(match self.test {
                Test::Equal | Test::DigestEqual => false,
                Test::NotEqual | Test::DigestNotEqual => true,
            });
        };
        let mut digits = Digits::new();
        let text = value.text(&mut digits);
        Ok(match self.test {
            Test::Equal => text == self.with,
            Test::NotEqual => text != self.with,
            Test::DigestEqual => digest_of(text) == parse_digest(self.with)?,
            Test::DigestNotEqual => digest_of(text) != parse_digest(self.with)?,
        })
    }
}

/// The digest of a string: XXH3 with 64 bits.
fn digest_of(text: &[u8]) -> u64 {
    twox_hash::XxHash3_64::oneshot(text)
}

/// Reads a digest: 16 hexadecimal digits.
fn parse_digest(text: &[u8]) -> Result<u64, Fault> {
    let digits = str::from_utf8(text).ok().filter(|digits| digits.len() == DIGEST_LEN);
    let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    let digest = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    digest.ok_or(Fault::new("ERR The digest must be exactly 16 hexadecimal characters"))
}

/// Shows the digest of a string.
pub(crate) fn digest<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let key = call.args().arg(1);
    call.read(key, |value, out| match value {
        Some(value) => {
            let digest = digest_of(value.text(&mut Digits::new()));
            out.bulk(format!("{digest:0width$x}", width = DIGEST_LEN).as_bytes());
        }
        None => out.null(),
    })
}

/// Removes a key: any, or with an option one whose string is as the option says.
pub(crate) fn delex<'c>(call: &mut (impl StringAccess<'c> + KeyAccess<'c>)) -> Done {
    let (args, name) = (call.args(), call.spec().name);
    let comparison = match args.len() {
        2 => {
            let was_there = call.remove(args.arg(1));
            call.out().integer(was_there.into());
            return Ok(());
        }
        4 => Test::option(args.arg(2)).map(|test| test.with(args.arg(3))),
        _ => return Err(Fault::arity(name)),
    };
    let text = "ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE";
    let comparison = comparison.ok_or(Fault::new(text))?;
    remove_if(call, comparison).map_err(|fault| {
        if fault == Fault::WRONG_TYPE {
            Fault::new("ERR Key should be of string type if conditions are specified")
        } else {
            fault
        }
    })
}

/// Removes a key if its string is the one that is given.
pub(crate) fn delifeq<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let value = call.args().arg(2);
    remove_if(call, Test::Equal.with(value))
}

fn remove_if<'c>(call: &mut impl StringAccess<'c>, comparison: Comparison<'_>) -> Done {
    let key = call.args().arg(1);
    call.compare_and_change(key, |value, out| {
        let removes = value.is_some() && comparison.holds(value.as_ref())?;
        out.integer(removes.into());
        Ok(Change::Key(if removes { KeyChange::Remove } else { KeyChange::Keep }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_redis() {
        // Of the XXH3 specification, and one with zeros in front.
        assert_eq!(digest_of(b""), 0x2d06_8005_38d3_94c2);
        let text = "v8lf0c11xh8ymlqztfd3eeq16kfn4sspw7fqmnuuq3k3t75em5wdizgcdw7uc26nnf961u2jkfzkjytls2k\
                    wlj7626sd";
        assert_eq!(digest_of(text.as_bytes()), 0x6c38_adf3_1777);
    }

    #[test]
    fn a_digest_has_16_digits() {
        assert_eq!(parse_digest(b"00006C38adf31777"), Ok(0x6c38_adf3_1777));
        for text in ["", "0", "00006c38adf3177", "00006c38adf317770", "+0006c38adf31777"] {
            assert!(parse_digest(text.as_bytes()).is_err(), "{text}");
        }
        assert!(
            parse_digest("\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}".as_bytes()).is_err()
        );
    }
}
