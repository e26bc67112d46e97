// SPDX-License-Identifier: Apache-2.0
//! Integers in a string: BITFIELD, BITFIELD_RO.

use super::integer::{Overflow, Width};
use super::{SETBIT, bit, bytes, string};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::{Digits, Entry, Type};

/// One of the operations of a command.
#[derive(Clone, Copy, Debug)]
struct Operation {
    width: Width,
    /// The first bit.
    at: u64,
    change: Change,
}

/// What is done to an integer.
#[derive(Clone, Copy, Debug)]
enum Change {
    None,
    Set(i64, Overflow),
    Add(i64, Overflow),
}

/// Reads and changes integers.
pub(crate) fn bitfield<V: View>(call: &mut Call<'_, V>) -> Done {
    let operations = parse(call)?;
    let written = operations.iter().filter(|operation| !matches!(operation.change, Change::None));
    match written.map(|operation| operation.width.last(operation.at)).max() {
        Some(last) => write(call, &operations, last),
        None => read(call, &operations),
    }
}

/// Reads integers.
pub(crate) fn bitfield_ro<V: View>(call: &mut Call<'_, V>) -> Done {
    let operations = parse(call)?;
    if !operations.iter().all(|operation| matches!(operation.change, Change::None)) {
        return Err(Fault::new("ERR BITFIELD_RO only supports the GET subcommand"));
    }
    read(call, &operations)
}

fn parse<V: View>(call: &Call<'_, V>) -> Result<Vec<Operation>, Fault> {
    let (mut operations, mut overflow) = (Vec::new(), Overflow::Wrap);
    let mut words = call.args.tail(2).iter();
    while let Some(word) = words.next() {
        let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
        let mut next = || words.next().ok_or(Fault::SYNTAX);
        if is(b"overflow") {
            overflow = Overflow::parse(next()?)?;
            continue;
        }
        let is_get = is(b"get");
        if !is_get && !is(b"set") && !is(b"incrby") {
            return Err(Fault::SYNTAX);
        }
        // An operation that lacks a word is wrong whatever the others are.
        let (width, at) = (next()?, next()?);
        let number = if is_get { None } else { Some(next()?) };
        let width = Width::parse(width)?;
        let at = bit::offset(call, at, Some(width.bits))?;
        let number = number.map(|number| values::parse_i64(number).ok_or(Fault::NOT_INTEGER));
        let change = match number.transpose()? {
            None => Change::None,
            Some(number) if is(b"set") => Change::Set(number, overflow),
            Some(number) => Change::Add(number, overflow),
        };
        operations.push(Operation { width, at, change });
    }
    Ok(operations)
}

fn read<V: View>(call: &mut Call<'_, V>, operations: &[Operation]) -> Done {
    let key = call.arg(1);
    if call.keys.get(key, Type::String)?.is_none() {
        call.missed(key);
    }
    let mut digits = Digits::new();
    let text = call.keys.peek(key).map_or(&b""[..], |entry| entry.text(&mut digits));
    call.out.array(operations.len());
    for operation in operations {
        call.out.integer(operation.width.read(text, operation.at));
    }
    Ok(())
}

/// Carries out operations, the last bit of which is `last`.
fn write<V: View>(call: &mut Call<'_, V>, operations: &[Operation], last: u64) -> Done {
    let key = call.arg(1);
    let has_grown = string::lengthen(call, key, bytes::of_bit(last).saturating_add(1))?;
    let mut has_changed = false;
    let Some(mut entry) = call.keys.get_mut(key, Type::String)? else { return Ok(()) };
    call.out.array(operations.len());
    for operation in operations {
        let (reply, wrote) = operation.run(&mut entry);
        has_changed |= wrote.is_some_and(|is_new| is_new || has_grown);
        match reply {
            Some(number) => call.out.integer(number),
            None => call.out.null(),
        }
    }
    drop(entry);
    if has_changed {
        call.modified(key, SETBIT);
    }
    Ok(())
}

impl Operation {
    /// Carries it out on a string that is long enough. Returns the reply, and, if it has stored a number, whether
    /// that is another one.
    fn run(self, entry: &mut Entry) -> (Option<i64>, Option<bool>) {
        let Operation { width, at, change } = self;
        let mut digits = Digits::new();
        let text = entry.text(&mut digits);
        let old = width.read(text, at);
        let new = match change {
            Change::None => return (Some(old), None),
            Change::Set(number, overflow) => width.fit(width.given(number), overflow),
            Change::Add(number, overflow) => {
                width.fit(i128::from(old).saturating_add(number.into()), overflow)
            }
        };
        let Some(new) = new else { return (None, None) };
        if new != old {
            let (window, len) = width.written(text, at, new);
            entry.set_range(bytes::of_bit(at), window.get(..len).unwrap_or_default());
        }
        let reply = if matches!(change, Change::Set(..)) { old } else { new };
        (Some(reply), Some(new != old))
    }
}
