// SPDX-License-Identifier: Apache-2.0
//! [`Options`]: what SORT is asked for.

use super::pattern::Pattern;
use crate::cluster::slots::slot_of_pattern;
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use std::ops::Range;

const DENIED_BY: Fault =
    Fault::new("ERR BY option of SORT denied due to insufficient ACL permissions.");
const DENIED_GET: Fault =
    Fault::new("ERR GET option of SORT denied due to insufficient ACL permissions.");

const ELSEWHERE_BY: Fault = Fault::new(
    "ERR BY option of SORT denied in Cluster mode when keys formed by the pattern may be in different slots.",
);
const ELSEWHERE_GET: Fault = Fault::new(
    "ERR GET option of SORT denied in Cluster mode when keys formed by the pattern may be in different slots.",
);

/// Which keys patterns may lead to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// The user may read all keys.
    pub(super) any: bool,
    /// The only slot that keys may have.
    pub(super) slot: Option<u16>,
}

impl Look {
    /// Whether a pattern may lead to keys of other slots.
    fn leaves_slot(self, pattern: &[u8]) -> bool {
        self.slot.is_some() && slot_of_pattern(pattern) != self.slot
    }
}

/// The options of SORT.
#[derive(Debug)]
pub(super) struct Options<'a> {
    pub(super) descends: bool,
    /// Sorted as text, not as numbers.
    pub(super) is_text: bool,
    pub(super) by: By<'a>,
    pub(super) gets: Vec<Pattern<'a>>,
    pub(super) store: Option<&'a [u8]>,
    /// From where, and how many; a negative number of them is all.
    limit: (i64, i64),
}

/// What elements are sorted by.
#[derive(Debug)]
pub(super) enum By<'a> {
    /// Themselves.
    Element,
    /// What they lead to.
    Pattern(Pattern<'a>),
    /// They are not: a pattern without a place for the element leads nowhere.
    Nothing,
}

impl<'a> Options<'a> {
    /// Reads the options; `may_store`: STORE is one.
    pub(super) fn parse(args: Args<'a>, may_store: bool, look: Look) -> Result<Self, Fault> {
        let mut options = Options {
            descends: false,
            is_text: false,
            by: By::Element,
            gets: Vec::new(),
            store: None,
            limit: (0, -1),
        };
        let mut words = args.iter();
        while let Some(word) = words.next() {
            match (word.to_ascii_lowercase().as_slice(), words.len()) {
                (b"asc", _) => options.descends = false,
                (b"desc", _) => options.descends = true,
                (b"alpha", _) => options.is_text = true,
                (b"limit", 2..) => {
                    let mut number = || words.next().and_then(values::parse_i64);
                    let limit = number().zip(number());
                    options.limit = limit.ok_or(Fault::NOT_INTEGER)?;
                }
                (b"store", 1..) if may_store => options.store = words.next(),
                (b"by", 1..) => {
                    let pattern = words.next().unwrap_or_default();
                    options.by = By::parse(pattern);
                    if matches!(options.by, By::Pattern(_)) && look.leaves_slot(pattern) {
                        return Err(ELSEWHERE_BY);
                    }
                }
                (b"get", 1..) => {
                    let pattern = words.next().unwrap_or_default();
                    if pattern != b"#" && look.leaves_slot(pattern) {
                        return Err(ELSEWHERE_GET);
                    }
                    options.gets.push(Pattern::parse(pattern));
                }
                _ => return Err(Fault::SYNTAX),
            }
        }
        match options.by {
            By::Pattern(_) if !look.any => Err(DENIED_BY),
            _ if !look.any && !options.gets.is_empty() => Err(DENIED_GET),
            By::Element | By::Pattern(_) | By::Nothing => Ok(options),
        }
    }

    /// Which of so many sorted elements are asked for.
    pub(super) fn window(&self, len: usize) -> Range<usize> {
        let (start, count) = self.limit;
        let start = usize::try_from(start).unwrap_or(0).min(len);
        let count = usize::try_from(count).unwrap_or(len);
        start..start.saturating_add(count).min(len)
    }
}

impl<'a> By<'a> {
    fn parse(text: &'a [u8]) -> Self {
        match Pattern::parse(text) {
            pattern @ Pattern::Value { .. } => By::Pattern(pattern),
            Pattern::Element | Pattern::Nowhere => By::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_lies_within_the_elements() {
        let window = |start, count, len| {
            let options = Options {
                descends: false,
                is_text: false,
                by: By::Element,
                gets: Vec::new(),
                store: None,
                limit: (start, count),
            };
            options.window(len)
        };
        assert_eq!(window(0, -1, 5), 0..5);
        assert_eq!(window(1, 2, 5), 1..3);
        assert_eq!(window(-3, 2, 5), 0..2);
        assert_eq!(window(4, 9, 5), 4..5);
        assert_eq!(window(5, 1, 5), 5..5);
        assert_eq!(window(i64::MAX, i64::MAX, 5), 5..5);
        assert_eq!(window(1, 0, 5), 1..1);
    }
}
