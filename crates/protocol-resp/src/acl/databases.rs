// SPDX-License-Identifier: Apache-2.0
//! Which databases a command uses, and whether a set of rights allows them.

use super::selector::Denied;
use crate::table::{Databases, keys::Words};

/// The database that is selected where a command is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection {
    /// Its number.
    pub(crate) db: usize,
    /// How many databases there are.
    pub(crate) databases: usize,
}

impl Selection {
    /// The database that an argument names, if there is such a one.
    pub(crate) fn named(self, word: Option<&[u8]>) -> Option<usize> {
        let number = usize::try_from(values::parse_i64(word?)?).ok()?;
        (number < self.databases).then_some(number)
    }
}

/// Whether a command may use the databases that it uses, of which some are allowed, in order. A database that does
/// not exist is refused by the command itself.
pub(super) fn check<W: Words + ?Sized>(
    used: Databases,
    allowed: &[usize],
    args: &W,
    selection: Selection,
) -> Result<(), Denied> {
    let has = |db: usize| allowed.binary_search(&db).is_ok();
    let is_denied = |at: &usize| selection.named(args.word(*at)).is_some_and(|db| !has(db));
    let (named, uses_selected) = match used {
        Databases::None => (None, false),
        Databases::Selected => (None, true),
        Databases::All => ((0..selection.databases).any(|db| !has(db)).then_some(0), false),
        Databases::Named(positions) => (positions.iter().copied().find(is_denied), false),
        Databases::SelectedAndNamed(at) => (Some(at).filter(is_denied), true),
        Databases::SelectedAndOption(from) => (options(args, from).find(is_denied), true),
    };
    let denied = named.or_else(|| (uses_selected && !has(selection.db)).then_some(0));
    denied.map_or(Ok(()), |at| Err(Denied::Database(at)))
}

/// The arguments behind each option `DB` at `from` or further on: the last one counts, and all must be allowed.
fn options<W: Words + ?Sized>(args: &W, from: usize) -> impl Iterator<Item = usize> {
    let mut at = from;
    std::iter::from_fn(move || {
        loop {
            let is_option = args.word(at)?.eq_ignore_ascii_case(b"db");
            at += 1;
            if is_option {
                at += 1;
                return Some(at - 1);
            }
        }
    })
}
