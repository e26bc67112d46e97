// SPDX-License-Identifier: Apache-2.0
//! What reads whole strings: GET, GETDEL, GETEX, STRLEN.

use super::super::call::Call;
use super::super::deadline::Deadline;
use super::super::fault::{Done, Fault};
use super::super::notify::{Class, Event};
use super::{EXPIRE, reply};
use crate::parse::Args;
use storage::keyspace::View;
use values::Type;

/// Reads a string.
#[inline]
pub(crate) fn get<V: View>(call: &mut Call<'_, V>) -> Done {
    match call.keys.get(call.args.arg(1), Type::String)? {
        Some(entry) => reply(entry, &mut call.out),
        None => {
            call.out.null();
            call.missed(call.arg(1));
        }
    }
    Ok(())
}

/// Reads a string and removes its key.
pub(crate) fn getdel<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let Some(entry) = call.keys.get(key, Type::String)? else {
        call.out.null();
        call.missed(key);
        return Ok(());
    };
    reply(entry, &mut call.out);
    call.keys.remove(key);
    call.modified(key, Event::DEL);
    Ok(())
}

/// What GETEX does to the expiry.
#[derive(Clone, Copy)]
enum Change<'a> {
    Keep,
    Persist,
    /// As a number says, which has not been read yet.
    Set(Deadline, &'a [u8]),
}

/// Reads a string and changes when it expires.
pub(crate) fn getex<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let now = call.unix_ms();
    let change = change(call.args)?;
    let Some(entry) = call.keys.get(key, Type::String)? else {
        call.out.null();
        call.missed(key);
        return Ok(());
    };
    let moment = match change {
        Change::Set(unit, number) => Some(unit.positive(number, now, "getex")?),
        _ => None,
    };
    let had_expiry = entry.expiry().is_some();
    reply(entry, &mut call.out);
    match (change, moment) {
        (Change::Persist, _) if had_expiry => {
            call.keys.set_expiry(key, None);
            call.modified(key, Event::of(Class::GENERIC, "persist"));
        }
        (_, Some(moment)) if moment <= now => {
            call.keys.remove(key);
            call.modified(key, Event::DEL);
        }
        (_, Some(moment)) => {
            call.keys.set_expiry(key, Some(moment));
            call.modified(key, EXPIRE);
        }
        _ => {}
    }
    Ok(())
}

/// Reads the options of GETEX. One may be given again, but not together with another.
fn change(args: Args<'_>) -> Result<Change<'_>, Fault> {
    let mut words = args.tail(2).iter();
    let mut change = Change::Keep;
    while let Some(word) = words.next() {
        change = match (Deadline::option(word), change) {
            (None, Change::Keep | Change::Persist) if word.eq_ignore_ascii_case(b"persist") => {
                Change::Persist
            }
            (Some(unit), Change::Keep) => Change::Set(unit, words.next().ok_or(Fault::SYNTAX)?),
            (Some(unit), Change::Set(before, _)) if unit == before => {
                Change::Set(unit, words.next().ok_or(Fault::SYNTAX)?)
            }
            _ => return Err(Fault::SYNTAX),
        };
    }
    Ok(change)
}

/// Tells the length of a string.
pub(crate) fn strlen<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    match call.keys.get(key, Type::String)? {
        Some(entry) => call.out.count(entry.len()),
        None => {
            call.out.count(0);
            call.missed(key);
        }
    }
    Ok(())
}
