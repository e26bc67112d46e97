// SPDX-License-Identifier: Apache-2.0
//! Several sets at once: SINTER, SUNION, SDIFF, which show the result; SINTERSTORE, SUNIONSTORE,
//! SDIFFSTORE, which keep it; SINTERCARD, SUNIONCARD, SDIFFCARD, which count it.

use super::algebra;
use crate::commands::hyperloglog::Estimator;
use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::host::events::{Class, Event};
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use std::cmp::Reverse;
use values::{Entry, NewSet, SetRef};

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// What is in all sets.
    Intersect,
    /// What is in any of them.
    Unite,
    /// What is in the first alone.
    Subtract,
}

/// Shows what is in all sets.
pub(crate) fn sinter<V: View>(call: &mut Call<'_, V>) -> Done {
    show(call, Operation::Intersect)
}

/// Shows what is in any of the sets.
pub(crate) fn sunion<V: View>(call: &mut Call<'_, V>) -> Done {
    show(call, Operation::Unite)
}

/// Shows what is in the first set alone.
pub(crate) fn sdiff<V: View>(call: &mut Call<'_, V>) -> Done {
    show(call, Operation::Subtract)
}

/// Keeps what is in all sets.
pub(crate) fn sinterstore<V: View>(call: &mut Call<'_, V>) -> Done {
    store(call, Operation::Intersect, "sinterstore")
}

/// Keeps what is in any of the sets.
pub(crate) fn sunionstore<V: View>(call: &mut Call<'_, V>) -> Done {
    store(call, Operation::Unite, "sunionstore")
}

/// Keeps what is in the first set alone.
pub(crate) fn sdiffstore<V: View>(call: &mut Call<'_, V>) -> Done {
    store(call, Operation::Subtract, "sdiffstore")
}

/// Checks that there is nothing but sets under the keys. Counts as an access to each.
fn check<V: View>(call: &mut Call<'_, V>, keys: Args<'_>) -> Result<(), Fault> {
    for key in keys.iter() {
        if call.keys.set(key)?.is_none() {
            call.missed(key);
        }
    }
    Ok(())
}

/// The sets under the keys, if there is none where there must be one for any result.
fn sets<'k, V: View>(
    keys: &'k Keys<'_, V>,
    names: Args<'_>,
    operation: Operation,
) -> Option<Vec<SetRef<'k>>> {
    let find = |name| keys.peek(name).and_then(Entry::set);
    match operation {
        Operation::Intersect => names.iter().map(find).collect(),
        Operation::Unite => Some(names.iter().filter_map(find).collect()),
        Operation::Subtract => {
            let first = find(names.arg(0))?;
            let others = names.iter().skip(1).filter_map(find);
            Some(std::iter::once(first).chain(others).collect())
        }
    }
}

/// Writes the result as the reply.
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
fn show<V: View>(call: &mut Call<'_, V>, operation: Operation) -> Done {
    let keys = call.args.tail(1);
    check(call, keys)?;
    let Some(sets) = sets(&call.keys, keys, operation) else {
        call.out.set(0);
        return Ok(());
    };
    let (out, mut found) = (&mut call.out, 0);
    let mark = out.begin_set();
    let write = |member: &[u8]| {
        out.bulk(member);
        found += 1;
        true
    };
    run(operation, &sets, write);
    call.out.end_set(mark, found);
    Ok(())
}

/// Visits the members of the result, each once, until `visit` returns false.
fn run(operation: Operation, sets: &[SetRef<'_>], visit: impl FnMut(&[u8]) -> bool) {
    match (operation, sets) {
        (Operation::Intersect, _) => algebra::intersect(sets, visit),
        (Operation::Unite, _) => algebra::unite(sets, visit),
        (Operation::Subtract, [first, others @ ..]) => algebra::subtract(*first, others, visit),
        (Operation::Subtract, []) => {}
    }
}

/// Puts the result under the key that is named first, in place of what is there.
fn store<V: View>(call: &mut Call<'_, V>, operation: Operation, event: &'static str) -> Done {
    let (destination, keys) = (call.arg(1), call.args.tail(2));
    check(call, keys)?;
    let limits = call.keys.limits;
    let mut made = NewSet::new(destination);
    if let Some(sets) = sets(&call.keys, keys, operation) {
        let mut result = made.edit(limits);
        if operation == Operation::Unite {
            // What is there twice is found out when it is added.
            let mut sets = sets;
            sets.sort_by_key(|set| Reverse(set.len()));
            sets.into_iter().for_each(|set| result.add_all(set));
        } else {
            run(operation, &sets, |member| {
                result.add(member);
                true
            });
        }
    }
    let len = made.read().len();
    if len > 0 {
        call.keys.put(made.into_entry());
        call.modified(destination, Event::of(Class::SET, event));
    } else if call.keys.remove(destination) {
        call.modified(destination, Event::DEL);
    }
    call.out.count(len);
    Ok(())
}

/// Counts what is in all sets, up to a limit if one is given.
pub(crate) fn sintercard<V: View>(call: &mut Call<'_, V>) -> Done {
    count(call, Operation::Intersect)
}

/// Counts what is in any of the sets, up to a limit if one is given.
pub(crate) fn sunioncard<V: View>(call: &mut Call<'_, V>) -> Done {
    count(call, Operation::Unite)
}

/// Counts what is in the first set alone, up to a limit if one is given.
pub(crate) fn sdiffcard<V: View>(call: &mut Call<'_, V>) -> Done {
    count(call, Operation::Subtract)
}

#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
fn count<V: View>(call: &mut Call<'_, V>, operation: Operation) -> Done {
    let number = values::parse_i64(call.arg(1)).and_then(|number| usize::try_from(number).ok());
    let number = number.filter(|number| *number > 0);
    let number = number.ok_or(Fault::new("ERR numkeys should be greater than 0"))?;
    if number > call.args.len().saturating_sub(2) {
        return Err(Fault::new("ERR Number of keys can't be greater than number of args"));
    }
    let Counted { limit, is_estimate } =
        Counted::parse(call.args.tail(number.saturating_add(2)), operation)?;
    let keys = call.args.tail(2).head(number);
    check(call, keys)?;
    let sets = sets(&call.keys, keys, operation).unwrap_or_default();
    let mut count = 0;
    if is_estimate {
        let mut estimator = Estimator::new();
        sets.iter().for_each(|set| set.iter().for_each(|member| estimator.add(&member)));
        count = usize::try_from(estimator.estimate()).unwrap_or(usize::MAX).min(limit);
    } else {
        run(operation, &sets, |_| {
            count += 1;
            count != limit
        });
    }
    call.out.count(count);
    Ok(())
}

/// How a result is counted.
struct Counted {
    /// Up to this number.
    limit: usize,
    /// It needs to be right about only, and takes no memory for the members.
    is_estimate: bool,
}

impl Counted {
    /// Reads the options. If a limit is given several times, the last one counts; 0 is none.
    fn parse(options: Args<'_>, operation: Operation) -> Result<Self, Fault> {
        let mut counted = Counted { limit: usize::MAX, is_estimate: false };
        let mut words = options.iter();
        while let Some(word) = words.next() {
            if operation == Operation::Unite && word.eq_ignore_ascii_case(b"approx") {
                counted.is_estimate = true;
                continue;
            }
            let value = words.next().filter(|_| word.eq_ignore_ascii_case(b"limit"));
            let number = values::parse_i64(value.ok_or(Fault::SYNTAX)?);
            let number = number.and_then(|number| usize::try_from(number).ok());
            let number = number.ok_or(Fault::new("ERR LIMIT can't be negative"))?;
            counted.limit = if number == 0 { usize::MAX } else { number };
        }
        Ok(counted)
    }
}
