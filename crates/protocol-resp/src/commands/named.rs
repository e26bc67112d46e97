// SPDX-License-Identifier: Apache-2.0
//! [`visit_named`]: the elements of one collection that a command names, in groups that are prefetched.

use crate::wire::parse::Args;
use values::{Named, TOGETHER};

/// Calls `visit` with the words of each element, `N` of them, of which `name` is the place of the element's name. What
/// is too few words at the end is left out. The cache misses of the elements overlap, because they are prefetched in
/// groups.
#[inline]
pub(super) fn visit_named<'a, C: Named, const N: usize>(
    collection: &mut C,
    words: Args<'a>,
    name: usize,
    mut visit: impl FnMut(&mut C, [&'a [u8]; N]),
) {
    let mut rest = words;
    while !rest.is_empty() {
        let group = rest.head(TOGETHER * N);
        // There is nothing for the misses of a single element to overlap with.
        if group.len() > N {
            collection.prefetch(group.chunks::<N>().map(|words| words[name]));
        }
        for words in group.chunks() {
            visit(collection, words);
        }
        rest = rest.tail(TOGETHER * N);
    }
}
