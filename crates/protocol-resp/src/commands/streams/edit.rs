// SPDX-License-Identifier: Apache-2.0
//! XDEL and XSETID.

use super::{event, ids, stream_mut};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use values::{StreamId, StreamMut, Type};

/// Removes items.
pub(crate) fn xdel<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, texts) = (call.arg(1), call.args.tail(2));
    let limits = call.keys.limits;
    let Some(mut entry) = call.keys.get_mut(key, Type::Stream)? else {
        call.out.integer(0);
        return Ok(());
    };
    // None is removed if one of them is no id.
    texts.iter().try_for_each(|text| ids::exact(text).map(|_| ()))?;
    let mut stream = stream_mut(&mut entry, limits)?;
    let removed = texts.iter().filter(|text| ids::exact(text).is_ok_and(|id| stream.remove(id)));
    let removed = removed.count();
    drop(entry);
    call.out.count(removed);
    if removed > 0 {
        call.modified(key, event("xdel"));
    }
    Ok(())
}

/// What XSETID sets.
struct Counters {
    last: StreamId,
    added: Option<u64>,
    deleted: Option<StreamId>,
}

impl Counters {
    fn parse(args: Args<'_>) -> Result<Self, Fault> {
        let mut counters = Counters { last: ids::exact(args.arg(0))?, added: None, deleted: None };
        for [word, value] in args.tail(1).pairs() {
            if word.eq_ignore_ascii_case(b"entriesadded") {
                let added = values::parse_i64(value).ok_or(Fault::NOT_INTEGER)?;
                let negative = Fault::new("ERR entries_added must be positive");
                counters.added = Some(u64::try_from(added).map_err(|_| negative)?);
            } else if word.eq_ignore_ascii_case(b"maxdeletedid") {
                let deleted = ids::exact(value)?;
                if counters.last < deleted {
                    return Err(Fault::new(
                        "ERR The ID specified in XSETID is smaller than the provided \
                         max_deleted_entry_id",
                    ));
                }
                counters.deleted = Some(deleted);
            } else {
                return Err(Fault::SYNTAX);
            }
        }
        if args.len().is_multiple_of(2) { Err(Fault::SYNTAX) } else { Ok(counters) }
    }

    fn apply(&self, stream: &mut StreamMut<'_>) -> Done {
        if self.last < stream.read().max_deleted_id() {
            return Err(Fault::new(
                "ERR The ID specified in XSETID is smaller than current max_deleted_entry_id",
            ));
        }
        if let Some(top) = stream.read().last().map(|item| item.id) {
            if self.last < top {
                return Err(Fault::new(
                    "ERR The ID specified in XSETID is smaller than the target stream top item",
                ));
            }
            if self.added.is_some_and(|added| added < stream.read().len() as u64) {
                return Err(Fault::new(
                    "ERR The entries_added specified in XSETID is smaller than the target stream \
                     length",
                ));
            }
        }
        stream.set_last_id(self.last);
        if let Some(added) = self.added {
            stream.set_added(added);
        }
        if let Some(deleted) = self.deleted.filter(|id| *id != StreamId::MIN) {
            stream.set_max_deleted_id(deleted);
        }
        Ok(())
    }
}

/// Sets the id that the next one must exceed.
pub(crate) fn xsetid<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let counters = Counters::parse(call.args.tail(2))?;
    let limits = call.keys.limits;
    let mut entry = call.keys.get_mut(key, Type::Stream)?.ok_or(Fault::NO_SUCH_KEY)?;
    counters.apply(&mut stream_mut(&mut entry, limits)?)?;
    drop(entry);
    call.out.ok();
    call.noted(key, event("xsetid"));
    Ok(())
}
