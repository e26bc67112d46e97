// SPDX-License-Identifier: Apache-2.0
//! [`Key`]: the number of a key and its sizes; [`KeySpace`]: all keys of a run.

use super::mix::scatter;
use crate::Spread;
use std::fmt;

/// The longest key, which is memcache's limit.
pub const KEY_MAX: usize = 250;

/// Lets the sizes of keys differ from those of their values.
const KEY_SALT: u64 = 0x6b65_7973;

/// One key and what belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its number, from which its text is made.
    pub id: u64,
    /// Bytes of its value.
    pub value_len: u32,
    /// Bytes of its text.
    pub len: u16,
}

impl Key {
    /// Appends the text: `digits` hexadecimal digits of the number, with `k` in front up to its
    /// length, or the digits alone where they are longer.
    #[inline]
    pub fn write(&self, digits: usize, text: &mut Vec<u8>) {
        let start = text.len();
        let end = start + usize::from(self.len).max(digits);
        text.resize(end, b'k');
        let mut rest = self.id;
        for digit in text[end - digits..].iter_mut().rev() {
            *digit = b"0123456789abcdef"[(rest & 15) as usize];
            rest >>= 4;
        }
    }
}

/// The keys of a run. The sizes of a key and its value follow from its number, so every reader knows
/// them.
#[derive(Clone, Debug, PartialEq)]
pub struct KeySpace {
    /// The number of the first key.
    first: u64,
    count: u64,
    digits: usize,
    key_size: Spread,
    value_size: Spread,
}

impl KeySpace {
    /// `count` keys.
    ///
    /// # Errors
    ///
    /// Says which value is wrong: no keys at all, or sizes that do not fit so many different keys.
    pub fn new(count: u64, key_size: Spread, value_size: Spread) -> Result<Self, String> {
        if count == 0 {
            return Err("--keys 0: there must be a key at least".to_owned());
        }
        KeySpace { first: 0, count, digits: 0, key_size, value_size }.starting_at(0)
    }

    /// The same with keys whose numbers begin at `first`, so other keys.
    ///
    /// # Errors
    ///
    /// As [`KeySpace::new`]: larger numbers have more digits.
    pub fn starting_at(self, first: u64) -> Result<Self, String> {
        let last = first.checked_add(self.count - 1).ok_or("--keys: too many".to_owned())?;
        let digits = (last.max(1).ilog2() / 4 + 1) as usize;
        let (min, max) = (self.key_size.min() as usize, self.key_size.max() as usize);
        if min < digits || max > KEY_MAX {
            return Err(format!(
                "--key-size {}: {} different keys take {digits} to {KEY_MAX} bytes each",
                self.key_size,
                last + 1
            ));
        }
        Ok(KeySpace { first, digits, ..self })
    }

    /// How many keys there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of the largest key with the largest value.
    pub(crate) fn bytes_max(&self) -> usize {
        self.key_size.max() as usize + self.value_size.max() as usize
    }

    /// Digits in the text of a key.
    pub fn digits(&self) -> usize {
        self.digits
    }

    /// The key in a place below [`KeySpace::count`].
    #[inline]
    pub fn key(&self, place: u64) -> Key {
        let id = self.first + place;
        let len = self.key_size.of(scatter(id ^ KEY_SALT)) as u16;
        Key { id, value_len: self.value_size.of(scatter(id)), len }
    }
}

impl fmt::Display for KeySpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KeySpace { count, key_size, value_size, .. } = self;
        write!(f, "{count} keys of {key_size} B with values of {value_size} B")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_are_different_and_have_their_sizes() {
        let spread: Spread = "6-30".parse().unwrap();
        let space = KeySpace::new(5_000, spread, "10".parse().unwrap()).unwrap();
        let mut seen = HashSet::new();
        let mut lens = HashSet::new();
        for id in 0..5_000 {
            let key = space.key(id);
            let mut text = Vec::new();
            key.write(space.digits(), &mut text);
            assert_eq!(text.len(), usize::from(key.len));
            assert!((6..=30).contains(&text.len()));
            lens.insert(text.len());
            assert!(seen.insert(text));
        }
        assert_eq!(lens.len(), 25);
    }

    #[test]
    fn sizes_that_do_not_fit_are_named() {
        let space = |count, size: &str| {
            KeySpace::new(count, size.parse().unwrap(), Spread::fixed(1)).map(|space| space.digits)
        };
        assert_eq!(space(1, "1"), Ok(1));
        assert_eq!(space(16, "1"), Ok(1));
        assert_eq!(space(17, "2"), Ok(2));
        assert!(space(17, "1").unwrap_err().contains("--key-size 1: 17 different keys take 2"));
        assert!(space(17, "251").unwrap_err().contains("to 250 bytes"));
        assert!(space(0, "1").unwrap_err().contains("--keys 0"));
    }
}
