// SPDX-License-Identifier: Apache-2.0
//! Some members at random: SPOP, SRANDMEMBER.

use super::super::random_count::{self, Count, Element};
use crate::engine::call::Call;
use crate::host::events::{Class, Event};
use crate::wire::fault::{Done, Fault};
use keyspace::View;

/// Members were taken.
const SPOP: Event = Event::of(Class::SET, "spop");

/// Takes a member out, or several.
pub(crate) fn spop<V: View>(call: &mut Call<'_, V>) -> Done {
    match (call.args.get(2), call.args.len()) {
        (None, _) => pop_one(call),
        (Some(count), 3) => {
            let count = values::parse_i64(count).and_then(|count| usize::try_from(count).ok());
            pop_some(call, count.ok_or(Fault::NOT_POSITIVE)?)
        }
        _ => Err(Fault::SYNTAX),
    }
}

fn pop_one<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let random = call.worker.random();
    let out = &mut call.out;
    let popped = call.keys.edit_set_if_any(key, |set| {
        let member = set.pop(random);
        out.bulk_or_null(member.as_deref());
        set.len() == 0
    })?;
    match popped {
        Some(is_empty) => {
            call.modified(key, SPOP);
            if is_empty {
                call.remove_if_empty(key);
            }
        }
        None => call.out.null(),
    }
    Ok(())
}

fn pop_some<V: View>(call: &mut Call<'_, V>, count: usize) -> Done {
    let key = call.arg(1);
    let (out, worker) = (&mut call.out, &mut *call.worker);
    let popped = call.keys.edit_set_if_any(key, |set| {
        let len = set.len();
        out.set(count.min(len));
        if count >= len {
            // They go with their key.
            set.read().iter().for_each(|member| out.bulk(&member));
            return true;
        }
        for _ in 0..count {
            let member = set.pop(worker.random());
            out.bulk_or_null(member.as_deref());
        }
        false
    })?;
    match popped {
        Some(takes_all) => {
            if count > 0 {
                call.modified(key, SPOP);
            }
            if takes_all {
                call.keys.remove(key);
                call.modified(key, Event::DEL);
            }
        }
        None => call.out.set(0),
    }
    Ok(())
}

/// Picks a member, or several.
pub(crate) fn srandmember<V: View>(call: &mut Call<'_, V>) -> Done {
    match (call.args.get(2), call.args.len()) {
        (None, _) => pick_one(call),
        (Some(count), 3) => {
            let count = Count::parse(count)?;
            pick_some(call, count)
        }
        _ => Err(Fault::SYNTAX),
    }
}

fn pick_one<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let random = call.worker.random();
    match call.keys.set(key)? {
        Some(set) => call.out.bulk_or_null(set.sample(random).as_deref()),
        None => {
            call.out.null();
            call.missed(key);
        }
    }
    Ok(())
}

#[expect(clippy::arithmetic_side_effects, reason = "not by zero, which the arm before takes")]
fn pick_some<V: View>(call: &mut Call<'_, V>, count: Count) -> Done {
    let (key, bytes_max) = (call.arg(1), call.bulk_max());
    let Some(set) = call.keys.set(key)? else {
        call.out.array(0);
        call.missed(key);
        return Ok(());
    };
    let (out, worker) = (&mut call.out, &mut *call.worker);
    match count {
        Count::Distinct(count) => {
            out.array(count.min(set.len()));
            set.sample_distinct(count, || worker.random(), |member| out.bulk(&member));
            Ok(())
        }
        Count::Repeated(count) => {
            let is_listed = random_count::lists(set.len(), set.has_index(), count);
            let members: Vec<_> = if is_listed { set.iter().collect() } else { Vec::new() };
            let listed: Vec<_> = members.iter().map(|member| Element::new(member)).collect();
            let mark = out.begin_array();
            out.array(count);
            random_count::repeat(out, mark, count, bytes_max, |out| {
                let random = worker.random();
                match listed.len() as u64 {
                    0 => out.bulk_or_null(set.sample(random).as_deref()),
                    len => listed[(random % len) as usize].write(out),
                }
            })
        }
    }
}
