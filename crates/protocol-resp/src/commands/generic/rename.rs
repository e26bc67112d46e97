// SPDX-License-Identifier: Apache-2.0
//! Other names and other databases: RENAME, RENAMENX, COPY, MOVE.

use crate::engine::any_call::AnyCall;
use crate::engine::call::Call;
use crate::host::events::{Class, Event};
use crate::wire::fault::{Done, Fault};
use keyspace::View;

/// Gives a key another name, in place of what has it.
pub(crate) fn rename<V: View>(call: &mut Call<'_, V>) -> Done {
    rename_key(call, true)?;
    call.out.ok();
    Ok(())
}

/// Gives a key another name unless there is a key of that name.
pub(crate) fn renamenx<V: View>(call: &mut Call<'_, V>) -> Done {
    let renamed = rename_key(call, false)?;
    call.out.integer(renamed.into());
    Ok(())
}

fn rename_key<V: View>(call: &mut Call<'_, V>, replaces: bool) -> Result<bool, Fault> {
    let (from, to) = (call.arg(1), call.arg(2));
    if call.keys.peek(from).is_none() {
        return Err(Fault::NO_SUCH_KEY);
    }
    if from == to {
        return Ok(replaces);
    }
    if !replaces && call.keys.peek(to).is_some() {
        return Ok(false);
    }
    let db = call.keys.db;
    let entry = call.keys.view.take(db, from).ok_or(Fault::NO_SUCH_KEY)?;
    call.keys.put(entry.rename(to));
    call.made(db, to);
    call.modified(from, Event::of(Class::GENERIC, "rename_from"));
    call.modified(to, Event::of(Class::GENERIC, "rename_to"));
    Ok(true)
}

/// Copies a value to another key, of another database if one is named.
pub(crate) fn copy<V: View>(call: &mut Call<'_, V>) -> Done {
    let (from, to) = (call.arg(1), call.arg(2));
    let (mut db, mut replaces) = (call.keys.db, false);
    let mut words = call.args.tail(3).iter();
    while let Some(word) = words.next() {
        if word.eq_ignore_ascii_case(b"replace") {
            replaces = true;
        } else if word.eq_ignore_ascii_case(b"db") {
            db = call.database(words.next().ok_or(Fault::SYNTAX)?)?;
        } else {
            return Err(Fault::SYNTAX);
        }
    }
    if call.is_in_cluster() && db != 0 {
        return Err(Fault::new("ERR Copying to another database is not allowed in cluster mode"));
    }
    if from == to && db == call.keys.db {
        return Err(Fault::new("ERR source and destination objects are the same"));
    }
    let Some(copied) = call.keys.any(from).map(|entry| entry.copy_to(to)) else {
        call.out.integer(0);
        call.missed(from);
        return Ok(());
    };
    if !replaces && call.keys.view.peek(db, to).is_some() {
        call.out.integer(0);
        return Ok(());
    }
    if let Some(old) = call.keys.view.put(copied, db) {
        call.keys.view.dispose(old);
    }
    call.made(db, to);
    call.modified_in(db, to, Event::of(Class::GENERIC, "copy_to"));
    call.out.integer(1);
    Ok(())
}

/// Moves a key to another database unless there is a key of its name.
pub(crate) fn move_key<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.is_in_cluster() {
        return Err(Fault::new("ERR MOVE is not allowed in cluster mode"));
    }
    let (key, from) = (call.arg(1), call.keys.db);
    let to = call.database(call.arg(2))?;
    if from == to {
        return Err(Fault::new("ERR source and destination objects are the same"));
    }
    let moves = call.keys.peek(key).is_some() && call.keys.view.peek(to, key).is_none();
    if moves && let Some(entry) = call.keys.view.take(from, key) {
        // There is no live one in its place; one that has expired is gone.
        let _ = call.keys.view.put(entry, to);
        call.made(to, key);
        call.modified(key, Event::of(Class::GENERIC, "move_from"));
        call.modified_in(to, key, Event::of(Class::GENERIC, "move_to"));
    }
    call.out.integer(moves.into());
    Ok(())
}
