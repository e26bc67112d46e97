// SPDX-License-Identifier: Apache-2.0
//! GEOADD.

use super::place_at;
use crate::commands::sorted_sets::{Options, add_scored};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;

/// Adds members with places as their scores.
pub(crate) fn geoadd<V: View>(call: &mut Call<'_, V>) -> Done {
    let (mut options, mut words) = (Options::default(), call.args.tail(2));
    while let Some(word) = words.get(0) {
        let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
        let option = match () {
            () if is(b"nx") => &mut options.nx,
            () if is(b"xx") => &mut options.xx,
            () if is(b"ch") => &mut options.ch,
            () => break,
        };
        *option = true;
        words = words.tail(1);
    }
    if !words.len().is_multiple_of(3) || (options.nx && options.xx) {
        return Err(Fault::SYNTAX);
    }
    let places = (0..words.len()).step_by(3);
    let scored = |at: usize| Ok((place_at(words, at)?.score(), words.arg(at.saturating_add(2))));
    let scored: Result<Vec<_>, Fault> = places.map(scored).collect();
    let scored = scored?;
    if scored.is_empty() {
        return Err(Fault::SYNTAX);
    }
    add_scored(call, options, &scored)
}
