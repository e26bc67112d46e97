// SPDX-License-Identifier: Apache-2.0
//! Edits of a pack beside a vector of the same texts, for property tests of each kind of pack.

use proptest::prelude::*;
use proptest::sample::Index;
use std::ops::Range;

/// An edit of a pack and of its model.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Insert(Index, Vec<u8>),
    Replace(Index, Vec<u8>),
    Remove(Index),
}

/// Texts whose lengths take one byte, and those around the first that take more.
pub(crate) fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let lens = prop_oneof![0..8_usize, 120..140_usize];
    (lens, any::<u8>()).prop_map(|(len, byte)| vec![byte; len])
}

/// Edits with such texts.
pub(crate) fn edits<S: Strategy<Value = Vec<u8>>>(
    text: impl Fn() -> S,
) -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        3 => (any::<Index>(), text()).prop_map(|(at, text)| Edit::Insert(at, text)),
        1 => (any::<Index>(), text()).prop_map(|(at, text)| Edit::Replace(at, text)),
        1 => any::<Index>().prop_map(Edit::Remove),
    ];
    prop::collection::vec(edit, 0..40)
}

/// The pack and the vector that result from edits. `place` tells where the element with an index is, `replace` puts a text
/// in the place of elements, and `check` checks the pack and counts its elements.
pub(crate) fn edited_like_a_vec(
    edits: Vec<Edit>,
    place: impl Fn(&[u8], usize) -> Option<Range<usize>>,
    replace: impl Fn(&mut Vec<u8>, Range<usize>, &[u8]),
    check: impl Fn(&[u8]) -> usize,
) -> (Vec<u8>, Vec<Vec<u8>>) {
    let (mut bytes, mut model) = (Vec::new(), Vec::<Vec<u8>>::new());
    for edit in edits {
        match edit {
            Edit::Insert(at, text) => {
                let at = at.index(model.len() + 1);
                let start = place(&bytes, at).map_or(bytes.len(), |range| range.start);
                replace(&mut bytes, start..start, &text);
                model.insert(at, text);
            }
            Edit::Replace(at, text) if !model.is_empty() => {
                let at = at.index(model.len());
                let range = place(&bytes, at).expect("it is there");
                replace(&mut bytes, range, &text);
                model[at] = text;
            }
            Edit::Remove(at) if !model.is_empty() => {
                let at = at.index(model.len());
                let range = place(&bytes, at).expect("it is there");
                bytes.drain(range);
                model.remove(at);
            }
            Edit::Replace(..) | Edit::Remove(_) => {}
        }
        assert_eq!(check(&bytes), model.len());
    }
    (bytes, model)
}
