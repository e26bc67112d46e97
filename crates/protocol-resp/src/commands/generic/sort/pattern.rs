// SPDX-License-Identifier: Apache-2.0
//! [`Pattern`]: from an element to a value under another key, for BY and GET. [`follow`] goes there for many elements.
//! [`Trail`]: the keys that this has led to.

use crate::engine::call::Call;
use crate::engine::keys::Keys;
use keyspace::View;
use memchr::memchr;
use memchr::memmem;
use std::ops::Range;
use values::{Text, Type};

/// How many keys are prefetched before the first of them is used.
const AHEAD: usize = 32;

/// Where the value of an element is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern<'a> {
    /// `#`: it is the element itself.
    Element,
    /// Nowhere, for the pattern has no place for the element.
    Nowhere,
    /// `before*after`: a string under the key with the element in the place of the `*`; or with
    /// `->field` behind it, a field of a hash there.
    Value { before: &'a [u8], after: &'a [u8], field: Option<&'a [u8]> },
}

impl<'a> Pattern<'a> {
    #[expect(clippy::arithmetic_side_effects, reason = "positions in the pattern")]
    pub(super) fn parse(text: &'a [u8]) -> Self {
        if text == b"#" {
            return Pattern::Element;
        }
        let Some(star) = memchr(b'*', text) else { return Pattern::Nowhere };
        let (before, after) = (&text[..star], &text[star + 1..]);
        // An arrow to nothing is a part of the key.
        match memmem::find(after, b"->").filter(|arrow| arrow + 2 < after.len()) {
            Some(arrow) => {
                let field = Some(&after[arrow + 2..]);
                Pattern::Value { before, after: &after[..arrow], field }
            }
            None => Pattern::Value { before, after, field: None },
        }
    }

    /// Adds the key that an element leads to, if it leads to one.
    fn lead(&self, element: &[u8], trail: &mut Trail) {
        if let Pattern::Value { before, after, .. } = self {
            trail.add([before, element, after]);
        }
    }

    /// The value of an element, if there is one. The next of the keys that were led to is the one of this element.
    fn find<'k, 't, V: View>(
        &self,
        keys: &'k Keys<'_, V>,
        element: Text<'k>,
        mut led: impl Iterator<Item = &'t [u8]>,
    ) -> Option<Text<'k>> {
        match self {
            Pattern::Element => Some(element),
            Pattern::Nowhere => None,
            Pattern::Value { field, .. } => {
                let entry = keys.peek(led.next()?)?;
                match field {
                    Some(field) => entry.hash()?.get(field, keys.view.unix_ms()).map(Text::from),
                    None if entry.data_type() == Type::String => Some(entry.to_text()),
                    None => None,
                }
            }
        }
    }
}

/// Calls `visit` with what each pattern leads to, for one element after the other. The keys are added to `trail`. Their
/// cache misses overlap, because they are prefetched in groups.
pub(super) fn follow<'k, V: View>(
    patterns: &[Pattern<'_>],
    keys: &'k Keys<'_, V>,
    mut elements: impl Iterator<Item = Text<'k>>,
    trail: &mut Trail,
    mut visit: impl FnMut(Text<'k>, Option<Text<'k>>),
) {
    let ahead = AHEAD.checked_div(patterns.len()).unwrap_or(AHEAD).max(1);
    let mut group = Vec::with_capacity(ahead);
    loop {
        group.extend(elements.by_ref().take(ahead));
        if group.is_empty() {
            return;
        }
        let start = trail.ends.len();
        for element in &group {
            patterns.iter().for_each(|pattern| pattern.lead(element, trail));
        }
        keys.view.prefetch(keys.db, trail.keys(start..trail.ends.len()));
        let mut led = trail.keys(start..trail.ends.len());
        for element in group.drain(..) {
            for pattern in patterns {
                visit(element, pattern.find(keys, element, &mut led));
            }
        }
    }
}

/// The keys that patterns have led to. Values are borrowed from the keyspace while it is sorted, so the reads are noted
/// when that is over.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// The keys, one behind the other, and where each ends.
    keys: Vec<u8>,
    ends: Vec<usize>,
}

impl Trail {
    /// Adds a key of some parts.
    fn add(&mut self, parts: [&[u8]; 3]) {
        for part in parts {
            self.keys.extend_from_slice(part);
        }
        self.ends.push(self.keys.len());
    }

    /// Some of the keys, by their numbers.
    fn keys(&self, numbers: Range<usize>) -> impl Iterator<Item = &[u8]> {
        let mut start = numbers.start.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.ends[numbers]
            .iter()
            .map(move |end| &self.keys[std::mem::replace(&mut start, *end)..*end])
    }

    /// Counts a read of each key: as a hit or a miss, and as a use of its value.
    pub(super) fn note_reads<V: View>(self, call: &mut Call<'_, V>) {
        let all = self.ends.len();
        for start in (0..all).step_by(AHEAD) {
            let group = start..start.saturating_add(AHEAD).min(all);
            call.keys.view.prefetch(call.keys.db, self.keys(group.clone()));
            for key in self.keys(group) {
                if call.keys.any(key).is_none() {
                    call.missed(key);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_a_place_for_the_element_and_maybe_a_field() {
        let value = |before: &'static str, after: &'static str, field: Option<&'static str>| {
            let field = field.map(str::as_bytes);
            Pattern::Value { before: before.as_bytes(), after: after.as_bytes(), field }
        };
        for (text, expected) in [
            ("#", Pattern::Element),
            ("##", Pattern::Nowhere),
            ("nosort", Pattern::Nowhere),
            ("a->b", Pattern::Nowhere),
            ("*", value("", "", None)),
            ("w_*", value("w_", "", None)),
            ("a*b*c", value("a", "b*c", None)),
            ("h_*->f", value("h_", "", Some("f"))),
            ("h_*x->f->g", value("h_", "x", Some("f->g"))),
            ("h_*->", value("h_", "->", None)),
            ("a->*b", value("a->", "b", None)),
        ] {
            assert_eq!(Pattern::parse(text.as_bytes()), expected, "{text}");
        }
    }
}
