// SPDX-License-Identifier: Apache-2.0
//! [`visit_ahead`]: the keys of a command, in groups that are prefetched.

use crate::engine::any_call::AnyCall;
use crate::wire::fault::Done;
use crate::wire::parse::Args;

/// How many keys are prefetched before the first of them is used.
const AHEAD: usize = 32;

/// Calls `visit` with each key among these words and the `N - 1` words behind it, until one of them fails. What is too
/// few words at the end is left out. The cache misses of the keys overlap, because they are prefetched in groups.
pub(crate) fn visit_ahead<'c, 'k, C: AnyCall<'c>, const N: usize>(
    call: &mut C,
    words: Args<'k>,
    mut visit: impl FnMut(&mut C, [&'k [u8]; N]) -> Done,
) -> Done {
    let mut rest = words;
    while !rest.is_empty() {
        let group = rest.head(AHEAD * N);
        // There is nothing for the misses of a single key to overlap with.
        if group.len() > N {
            call.prefetch(group.chunks::<N>().map(|words| words[0]));
        }
        for words in group.chunks() {
            visit(call, words)?;
        }
        rest = rest.tail(AHEAD * N);
    }
    Ok(())
}
