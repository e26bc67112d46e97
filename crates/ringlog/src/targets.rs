// SPDX-License-Identifier: Apache-2.0
//! Rules by target: which output, which share of the lines.
//!
//! A rule for `reactor` covers the target `reactor` and all below it (`reactor::listener`), but not
//! `reactors`. Of several rules the one with the longest prefix decides.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Something per target prefix.
#[derive(Debug)]
pub(crate) struct Targets<T> {
    /// Longest prefix first, so that the first hit is the right one.
    rules: Vec<(String, T)>,
}

impl<T> Targets<T> {
    /// Orders the rules. Of two with the same prefix the later one stays.
    pub(crate) fn new(rules: impl IntoIterator<Item = (String, T)>) -> Self {
        let mut kept: Vec<(String, T)> = Vec::new();
        for (prefix, value) in rules {
            kept.retain(|(other, _)| *other != prefix);
            kept.push((prefix, value));
        }
        kept.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        Self { rules: kept }
    }

    /// The rule for `target`, if one covers it. No allocation; one comparison per rule.
    pub(crate) fn find(&self, target: &str) -> Option<&T> {
        self.rules.iter().find(|(prefix, _)| covers(prefix, target)).map(|(_, value)| value)
    }
}

fn covers(prefix: &str, target: &str) -> bool {
    target.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Lets through the first line of every `n`, exactly, however many threads ask.
#[derive(Debug)]
pub(crate) struct OneIn {
    n: u64,
    seen: AtomicU64,
}

impl OneIn {
    /// One in `n`; 0 lets nothing through.
    pub(crate) fn new(n: u64) -> Self {
        Self { n, seen: AtomicU64::new(0) }
    }

    /// Counts a line and says whether it is one to keep.
    pub(crate) fn admits(&self) -> bool {
        self.n != 0 && self.seen.fetch_add(1, Relaxed).is_multiple_of(self.n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_decides_and_ends_at_a_path_separator() {
        let rules = [("reactor", 1), ("reactor::tls", 2), ("session", 9), ("session", 3)];
        let targets = Targets::new(rules.map(|(prefix, value)| (prefix.to_owned(), value)));
        let table = [
            ("reactor", Some(1)),
            ("reactor::listener", Some(1)),
            ("reactor::tls", Some(2)),
            ("reactor::tls::handshake", Some(2)),
            ("reactor::tlsx", Some(1)),
            ("reactors", None),
            ("session", Some(3)),
            ("", None),
        ];
        for (target, value) in table {
            assert_eq!(targets.find(target).copied(), value, "{target}");
        }
    }

    #[test]
    fn sampling_is_exact() {
        for (n, lines, kept) in [(0, 10, 0), (1, 10, 10), (3, 10, 4), (10, 10, 1), (10, 11, 2)] {
            let sampler = OneIn::new(n);
            assert_eq!((0..lines).filter(|_| sampler.admits()).count(), kept, "1 in {n}");
        }
    }
}
