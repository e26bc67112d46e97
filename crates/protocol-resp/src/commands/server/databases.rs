// SPDX-License-Identifier: Apache-2.0
//! Whole databases: DBSIZE, FLUSHDB, FLUSHALL, SWAPDB.

use crate::engine::any_call::AnyCall;
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use values::parse_i64;

/// Counts the keys of the database.
pub(crate) fn dbsize<V: View>(call: &mut Call<'_, V>) -> Done {
    let count = call.keys.view.len(call.keys.db);
    call.out.count(count);
    Ok(())
}

/// Empties the database.
pub(crate) fn flushdb<V: View>(call: &mut Call<'_, V>) -> Done {
    check_flush_option(call.args)?;
    clear(call, call.keys.db);
    call.key_events().all_changed(call.outbox);
    call.out.ok();
    Ok(())
}

/// Empties all databases.
pub(crate) fn flushall<V: View>(call: &mut Call<'_, V>) -> Done {
    check_flush_option(call.args)?;
    for db in 0..call.databases() {
        clear(call, db);
    }
    call.key_events().all_changed(call.outbox);
    call.out.ok();
    Ok(())
}

/// The option of FLUSHDB and FLUSHALL. The keys are gone at once; their memory comes back bit by bit, whatever the
/// option says.
pub(crate) fn check_flush_option(args: Args<'_>) -> Done {
    let is_option =
        |word: &[u8]| word.eq_ignore_ascii_case(b"sync") || word.eq_ignore_ascii_case(b"async");
    match args.get(1) {
        Some(word) if args.len() > 2 || !is_option(word) => Err(Fault::SYNTAX),
        _ => Ok(()),
    }
}

/// Empties a database. Clients that wait for keys go on waiting, but for those that read for a consumer group;
/// and no events of single keys are published.
fn clear<V: View>(call: &mut Call<'_, V>, db: usize) {
    let key_events = call.key_events();
    let view = &mut *call.keys.view;
    key_events.touch_all(db, |key| view.peek(db, key).is_some());
    call.worker.changes += view.len(db) as u64;
    view.clear(db);
    if key_events.waiters().has_group_readers() {
        serve_all(call, db);
    }
}

/// Leaves all keys of a database to be served that clients wait for.
fn serve_all<V: View>(call: &mut Call<'_, V>, db: usize) {
    let keys = call.key_events().waiters().keys_of(db).into_iter();
    call.worker.pending.ready.extend(keys.map(|key| (db, key)));
}

/// Swaps two databases.
pub(crate) fn swapdb<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.is_in_cluster() {
        return Err(Fault::new("ERR SWAPDB is not allowed in cluster mode"));
    }
    let number = |text, problem| {
        let number = parse_i64(text).and_then(|number| i32::try_from(number).ok());
        number.ok_or(Fault::new(problem))
    };
    number(call.arg(1), "ERR invalid first DB index")?;
    number(call.arg(2), "ERR invalid second DB index")?;
    let (a, b) = (call.database(call.arg(1))?, call.database(call.arg(2))?);
    if a != b {
        swap(call, a, b);
    }
    call.worker.changes += 1;
    call.out.ok();
    Ok(())
}

fn swap<V: View>(call: &mut Call<'_, V>, a: usize, b: usize) {
    let key_events = call.key_events();
    let view = &mut *call.keys.view;
    // A watched key that is in neither database has not changed.
    let was_there = |key: &[u8]| view.peek(a, key).is_some() || view.peek(b, key).is_some();
    key_events.touch_all(a, was_there);
    key_events.touch_all(b, was_there);
    view.swap(a, b);
    key_events.all_changed(call.outbox);
    if key_events.is_awaited() {
        for db in [a, b] {
            serve_all(call, db);
        }
    }
}
