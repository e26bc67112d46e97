// SPDX-License-Identifier: Apache-2.0
//! XDELEX and XACKDEL: removing items with regard to the consumer groups that need them.

use super::{event, ids, stream_mut};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use values::{References, Removed, StreamId, Type};

/// The outcome for an item, as clients read it.
const MISSING: i64 = -1;
const REMOVED: i64 = 1;
const NEEDED: i64 = 2;

/// What a word says of items that groups need.
pub(super) fn references(word: &[u8]) -> Option<References> {
    let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
    if is(b"keepref") {
        Some(References::Keep)
    } else if is(b"delref") {
        Some(References::Delete)
    } else if is(b"acked") {
        Some(References::Acknowledged)
    } else {
        None
    }
}

/// Reads `[KEEPREF | DELREF | ACKED] IDS number id…`, in any order.
fn parse(mut args: Args<'_>) -> Result<(References, Vec<StreamId>), Fault> {
    let (mut how, mut texts) = (None, None);
    while let Some(word) = args.get(0) {
        let taken = if let Some(references) = references(word).filter(|_| how.is_none()) {
            how = Some(references);
            1
        } else if word.eq_ignore_ascii_case(b"ids") && texts.is_none() {
            let number = args.get(1).and_then(values::parse_i64).filter(|number| *number > 0);
            let none = Fault::new("ERR Number of IDs must be a positive integer");
            let number = usize::try_from(number.ok_or(none)?).unwrap_or(usize::MAX);
            if number > args.len().saturating_sub(2) {
                return Err(Fault::new(
                    "ERR The `numids` parameter must match the number of arguments",
                ));
            }
            texts = Some(args.tail(2).head(number));
            number.saturating_add(2)
        } else {
            return Err(Fault::SYNTAX);
        };
        args = args.tail(taken);
    }
    let ids = texts.ok_or(Fault::SYNTAX)?.iter().map(ids::exact);
    Ok((how.unwrap_or_default(), ids.collect::<Result<_, _>>()?))
}

/// Removes items.
pub(crate) fn xdelex<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let (references, ids) = parse(call.args.tail(2))?;
    let limits = call.keys.limits;
    let mut removed: usize = 0;
    let mut outcomes = vec![MISSING; ids.len()];
    if let Some(mut entry) = call.keys.get_mut(key, Type::Stream)? {
        let mut stream = stream_mut(&mut entry, limits)?;
        for (outcome, id) in outcomes.iter_mut().zip(&ids) {
            *outcome = match stream.remove_with(*id, references) {
                Removed::Yes => REMOVED,
                Removed::Missing => MISSING,
                Removed::Needed => NEEDED,
            };
            removed = removed.saturating_add((*outcome == REMOVED).into());
        }
    }
    reply(call, &outcomes);
    if removed > 0 {
        call.modified(key, event("xdel"));
    }
    Ok(())
}

/// Acknowledges items and removes them.
pub(crate) fn xackdel<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, name) = (call.arg(1), call.arg(2));
    let (references, ids) = parse(call.args.tail(3))?;
    let limits = call.keys.limits;
    let (mut acknowledged, mut removed): (u64, usize) = (0, 0);
    let mut outcomes = vec![MISSING; ids.len()];
    if let Some(mut entry) = call.keys.get_mut(key, Type::Stream)? {
        let mut stream = stream_mut(&mut entry, limits)?;
        for (outcome, id) in outcomes.iter_mut().zip(&ids) {
            if !stream.group_mut(name).is_some_and(|mut group| group.acknowledge(*id)) {
                continue;
            }
            acknowledged = acknowledged.saturating_add(1);
            *outcome = match stream.remove_with(*id, references) {
                Removed::Yes => {
                    removed = removed.saturating_add(1);
                    REMOVED
                }
                // Somebody else has removed it before.
                Removed::Missing => REMOVED,
                Removed::Needed => NEEDED,
            };
        }
    }
    reply(call, &outcomes);
    call.worker.changes = call.worker.changes.saturating_add(acknowledged);
    if removed > 0 {
        call.modified(key, event("xdel"));
    }
    Ok(())
}

fn reply<V: View>(call: &mut Call<'_, V>, outcomes: &[i64]) {
    call.out.array(outcomes.len());
    outcomes.iter().for_each(|outcome| call.out.integer(*outcome));
}
