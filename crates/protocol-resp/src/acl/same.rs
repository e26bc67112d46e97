// SPDX-License-Identifier: Apache-2.0
//! A comparison whose time does not reveal what is compared.

use std::hint::black_box;

/// Whether two secrets are the same. The time depends only on the length of the first, so a
/// guesser learns nothing about the second from it.
pub(super) fn is_same(given: &[u8], expected: &[u8]) -> bool {
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
    fn secrets_are_compared_in_full() {
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
