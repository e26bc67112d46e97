// SPDX-License-Identifier: Apache-2.0
//! [`Pattern`]: from an element to a value under another key, for BY and GET. [`Trail`]: the keys that this has led to.

use crate::engine::call::Call;
use crate::engine::keys::Keys;
use keyspace::View;
use memchr::memchr;
use memchr::memmem;
use values::{Text, Type};

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

    /// The value of an element, if there is one. The key is added to `trail`.
    pub(super) fn find<'k, V: View>(
        &self,
        keys: &'k Keys<'_, V>,
        element: Text<'k>,
        trail: &mut Trail,
    ) -> Option<Text<'k>> {
        match self {
            Pattern::Element => Some(element),
            Pattern::Nowhere => None,
            Pattern::Value { before, after, field } => {
                let entry = keys.peek(trail.add([before, &*element, after]))?;
                match field {
                    Some(field) => entry.hash()?.get(field, keys.view.unix_ms()).map(Text::from),
                    None if entry.data_type() == Type::String => Some(entry.to_text()),
                    None => None,
                }
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
    /// Adds a key of some parts, and returns it.
    fn add(&mut self, parts: [&[u8]; 3]) -> &[u8] {
        let start = self.keys.len();
        for part in parts {
            self.keys.extend_from_slice(part);
        }
        self.ends.push(self.keys.len());
        &self.keys[start..]
    }

    /// Counts a read of each key: as a hit or a miss, and as a use of its value.
    pub(super) fn note_reads<V: View>(self, call: &mut Call<'_, V>) {
        let mut start = 0;
        for end in self.ends {
            let key = &self.keys[start..end];
            if call.keys.any(key).is_none() {
                call.missed(key);
            }
            start = end;
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
