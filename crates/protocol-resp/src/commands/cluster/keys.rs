// SPDX-License-Identifier: Apache-2.0
//! The keys of slots. There is no index of keys by slot, which every write would pay for: these commands walk over all
//! keys of the node, as KEYS does.

use super::{check, topology};
use crate::cluster::slots::{SLOTS, slot_number, slot_of};
use crate::commands::dispatch::wrong_arguments;
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use std::cmp::Reverse;

/// Tells the slot of a key.
pub(crate) fn keyslot<V: View>(call: &mut Call<'_, V>) -> Done {
    check(call)?;
    call.out.integer(slot_of(call.arg(2)).into());
    Ok(())
}

/// Calls `visit` with all keys, and stops when it says so.
fn walk<V: View>(call: &mut Call<'_, V>, mut visit: impl FnMut(&mut Call<'_, V>, &[u8]) -> bool) {
    let mut cursor = 0;
    let mut keys: Vec<Box<[u8]>> = Vec::new();
    loop {
        cursor = call.keys.view.scan(0, cursor, &mut |entry| keys.push(entry.key().into()));
        if keys.drain(..).any(|key| !visit(call, &key)) || cursor == 0 {
            return;
        }
    }
}

/// Counts the keys of each slot.
fn counts<V: View>(call: &mut Call<'_, V>) -> Vec<usize> {
    let mut counts = vec![0; SLOTS];
    let mut cursor = 0;
    loop {
        cursor = call.keys.view.scan(0, cursor, &mut |entry| {
            let count: &mut usize = &mut counts[usize::from(slot_of(entry.key()))];
            *count = count.saturating_add(1);
        });
        if cursor == 0 {
            return counts;
        }
    }
}

/// Counts the keys of a slot.
pub(crate) fn countkeysinslot<V: View>(call: &mut Call<'_, V>) -> Done {
    check(call)?;
    call.integer(2)?;
    let slot = slot_number(call.arg(2)).ok_or(Fault::new("ERR Invalid slot"))?;
    let count = counts(call)[usize::from(slot)];
    call.out.count(count);
    Ok(())
}

/// Lists keys of a slot.
pub(crate) fn getkeysinslot<V: View>(call: &mut Call<'_, V>) -> Done {
    check(call)?;
    let wanted = (call.integer(2)?, call.integer(3)?).1;
    let wrong = Fault::new("ERR Invalid slot or number of keys");
    let slot = slot_number(call.arg(2)).ok_or(wrong.clone())?;
    let most = usize::try_from(wanted).map_err(|_| wrong)?;
    let mark = call.out.begin_array();
    let mut found: usize = 0;
    if most > 0 {
        walk(call, |call, key| {
            if slot_of(key) == slot {
                call.out.bulk(key);
                found = found.saturating_add(1);
            }
            found < most
        });
    }
    call.out.end_array(mark, found);
    Ok(())
}

/// Tells how many keys slots of this node have.
pub(crate) fn slot_stats<V: View>(call: &mut Call<'_, V>) -> Done {
    let topology = topology(call)?;
    let own = |slot: u16| topology.is_mine(slot);
    let is = |word: &[u8], name: &[u8]| word.eq_ignore_ascii_case(name);
    if is(call.arg(2), b"slotsrange") && call.args.len() == 5 {
        let slot = |at: usize| {
            slot_number(call.arg(at)).ok_or(Fault::new("ERR Invalid or out of range slot"))
        };
        let (first, last) = (slot(3)?, slot(4)?);
        if first > last {
            return Err(Fault::made(format!(
                "ERR Start slot number {first} is greater than end slot number {last}"
            )));
        }
        let slots: Vec<u16> = (first..=last).filter(|slot| own(*slot)).collect();
        let counts = counts(call);
        write(call, &slots, &counts);
        return Ok(());
    }
    if !is(call.arg(2), b"orderby") || call.args.len() < 4 {
        return Err(wrong_arguments(call));
    }
    if !is(call.arg(3), b"key-count") {
        return Err(Fault::new("ERR Unrecognized sort metric for ORDERBY."));
    }
    let (mut most, mut ascends) = (SLOTS, false);
    let mut words = call.args.tail(4).iter();
    while let Some(word) = words.next() {
        if is(word, b"asc") {
            ascends = true;
        } else if is(word, b"desc") {
            ascends = false;
        } else if is(word, b"limit") {
            let limit = values::parse_i64(words.next().ok_or(Fault::SYNTAX)?);
            let limit = limit.and_then(|limit| usize::try_from(limit).ok());
            most = limit.filter(|limit| (1..=SLOTS).contains(limit)).ok_or(Fault::new(
                "ERR Limit has to lie in between 1 and 16384 (maximum number of slots).",
            ))?;
        } else {
            return Err(Fault::SYNTAX);
        }
    }
    let counts = counts(call);
    let mut slots: Vec<u16> = (0..SLOTS as u16).filter(|slot| own(*slot)).collect();
    let count = |slot: &u16| counts[usize::from(*slot)];
    if ascends {
        slots.sort_by_key(count);
    } else {
        slots.sort_by_key(|slot| Reverse(count(slot)));
    }
    slots.truncate(most);
    write(call, &slots, &counts);
    Ok(())
}

fn write<V: View>(call: &mut Call<'_, V>, slots: &[u16], counts: &[usize]) {
    call.out.array(slots.len());
    for slot in slots {
        call.out.array(2);
        call.out.integer((*slot).into());
        call.out.map(1);
        call.out.bulk(b"key-count");
        call.out.count(counts[usize::from(*slot)]);
    }
}
