// SPDX-License-Identifier: Apache-2.0
//! [`Password`]: the password of the server, and a comparison whose time does not reveal it.

use parking_lot::RwLock;
use std::hint::black_box;

/// The password (`requirepass`); empty if none is required.
#[derive(Debug, Default)]
pub(crate) struct Password(RwLock<Box<[u8]>>);

impl Password {
    /// Whether a password is required.
    pub(crate) fn is_set(&self) -> bool {
        !self.0.read().is_empty()
    }

    /// Whether this is the password; true for any if none is required.
    pub(crate) fn admits(&self, given: &[u8]) -> bool {
        let expected = self.0.read();
        expected.is_empty() || is_same(given, &expected)
    }

    /// The password.
    pub(super) fn text(&self) -> Vec<u8> {
        self.0.read().to_vec()
    }

    /// Changes it.
    pub(super) fn set(&self, text: &[u8]) {
        *self.0.write() = text.into();
    }
}

/// Whether two passwords are the same. The time depends only on the length of the first, so a
/// guesser learns nothing about the second from it.
fn is_same(given: &[u8], expected: &[u8]) -> bool {
    let mut difference = given.len() ^ expected.len();
    for (i, byte) in given.iter().enumerate() {
        let other = expected[i % expected.len().max(1)];
        difference |= usize::from(black_box(byte ^ other));
    }
    black_box(difference) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_compared_in_full() {
        let pairs: [(&str, &str, bool); 8] = [
            ("", "", true),
            ("secret", "secret", true),
            ("secret", "Secret", false),
            ("secret", "secre", false),
            ("secre", "secret", false),
            ("", "secret", false),
            ("aa", "a", false),
            ("secretsecret", "secret", false),
        ];
        for (given, expected, same) in pairs {
            assert_eq!(is_same(given.as_bytes(), expected.as_bytes()), same, "{given} {expected}");
        }
    }
}
