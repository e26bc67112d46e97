// SPDX-License-Identifier: Apache-2.0
//! `COMMAND GETKEYS`, `COMMAND GETKEYSANDFLAGS`: the keys of a given command.

use super::words;
use crate::table::bits::Flags;
use crate::table::keys::{Keys, Words};
use crate::table::{self, lookup};
use crate::wire::reply::{Output, Writer};

/// Why a command has no keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoKeys {
    /// There is no such command.
    #[error("Invalid command specified")]
    UnknownCommand,
    /// The command never has any.
    #[error("The command has no key arguments")]
    NoKeyArguments,
    /// The command takes more or fewer arguments.
    #[error("Invalid number of arguments specified for command")]
    WrongNumber,
    /// The arguments are wrong, so that the keys cannot be found.
    #[error("Invalid arguments specified for command")]
    WrongArguments,
}

/// `COMMAND GETKEYS`: the keys of the command that `given` is.
///
/// # Errors
///
/// [`NoKeys`]; nothing has been written.
pub fn keys<W: Words + ?Sized>(out: &mut Writer<'_, impl Output>, given: &W) -> Result<(), NoKeys> {
    let keys = find(given)?;
    out.array(keys.positions().count());
    for position in keys.positions() {
        out.bulk(given.word(position).unwrap_or_default());
    }
    Ok(())
}

/// `COMMAND GETKEYSANDFLAGS`: the keys, each with what is done to it.
///
/// # Errors
///
/// [`NoKeys`]; nothing has been written.
pub fn keys_and_flags<W: Words + ?Sized>(
    out: &mut Writer<'_, impl Output>,
    given: &W,
) -> Result<(), NoKeys> {
    let keys = find(given)?;
    out.array(keys.positions().count());
    for run in keys.runs() {
        let flags = table::keys::flags(*run, given);
        for position in run.positions() {
            out.array(2);
            out.bulk(given.word(position).unwrap_or_default());
            words(out, flags.words());
        }
    }
    Ok(())
}

fn find<W: Words + ?Sized>(given: &W) -> Result<Keys, NoKeys> {
    let name = given.word(0).unwrap_or_default();
    let spec = lookup::resolve(name, given.word(1)).ok_or(NoKeys::UnknownCommand)?.spec();
    if !spec.has_keys() {
        return Err(NoKeys::NoKeyArguments);
    }
    if !spec.accepts(given.count()) {
        return Err(NoKeys::WrongNumber);
    }
    match table::keys::keys(spec, given) {
        Ok(keys) => Ok(keys),
        Err(_) if spec.flags.has(Flags::NO_MANDATORY_KEYS) => Ok(Keys::NONE),
        Err(_) => Err(NoKeys::WrongArguments),
    }
}
