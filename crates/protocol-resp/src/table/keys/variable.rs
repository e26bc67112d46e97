// SPDX-License-Identifier: Apache-2.0
//! What is done to keys where other arguments say it: [`KeyFlags::VARIABLE`].

use super::{Run, Words};
use crate::table::bits::KeyFlags;

/// What is done to the keys of a run: the flags of its rule, unless they are [`KeyFlags::VARIABLE`]. Three commands
/// have such keys: `SET`, which looks at the string before it with `GET` and with comparisons, `DELEX`, which
/// looks at it with a comparison, and `BITFIELD`, which changes it unless it is told only to read.
pub(crate) fn flags<W: Words + ?Sized>(run: Run, words: &W) -> KeyFlags {
    const LOOKS: [&str; 5] = ["get", "ifeq", "ifne", "ifdeq", "ifdne"];
    if !run.flags.has(KeyFlags::VARIABLE) {
        return run.flags;
    }
    if words.word(0).is_some_and(|name| name.eq_ignore_ascii_case(b"bitfield")) {
        let access =
            if only_gets(words) { KeyFlags::RO } else { KeyFlags::RW.with(KeyFlags::UPDATE) };
        return access.with(KeyFlags::ACCESS);
    }
    let looks = |word: &[u8]| LOOKS.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()));
    let (removes, access) = (run.flags.has(KeyFlags::DELETE), KeyFlags::RW.with(KeyFlags::ACCESS));
    let looks = words.words_from(if removes { 2 } else { 3 }).any(looks);
    match (removes, looks) {
        (false, true) => access.with(KeyFlags::UPDATE),
        (false, false) => KeyFlags::OW.with(KeyFlags::UPDATE),
        (true, true) => access.with(KeyFlags::DELETE),
        (true, false) => KeyFlags::RM.with(KeyFlags::DELETE),
    }
}

/// Whether all operations of a `BITFIELD` are `GET`; those whose syntax is wrong might be others.
fn only_gets<W: Words + ?Sized>(words: &W) -> bool {
    let mut words = words.words_from(2);
    while let Some(word) = words.next() {
        let values = match () {
            () if word.eq_ignore_ascii_case(b"get") => 2,
            () if word.eq_ignore_ascii_case(b"overflow") => 1,
            () => return false,
        };
        if words.by_ref().take(values).count() < values {
            return false;
        }
    }
    true
}
