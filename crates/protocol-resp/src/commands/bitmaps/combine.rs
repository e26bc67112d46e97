// SPDX-License-Identifier: Apache-2.0
//! Several strings at once: BITOP.

use super::bytes::{self, Operation};
use crate::engine::call::Call;
use crate::host::events::{Class, Event};
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::{Entry, Text, Type};

/// Combines strings and stores the result, in place of whatever is there. No key stays if all are empty.
pub(crate) fn bitop<V: View>(call: &mut Call<'_, V>) -> Done {
    let (to, sources) = (call.arg(2), call.args.tail(3));
    let operation = operation(call.arg(1), sources.len())?;
    for key in sources.iter() {
        if call.keys.get(key, Type::String)?.is_none() {
            call.missed(key);
        }
    }
    let texts = sources.iter().map(|key| call.keys.peek(key).map(Entry::to_text));
    let texts: Vec<Option<Text<'_>>> = texts.collect();
    let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_deref().unwrap_or_default()).collect();
    let result = bytes::combine(operation, &texts);
    let len = result.len();
    if len > 0 {
        call.keys.put(Entry::raw_string_of(to, result));
        call.modified(to, Event::of(Class::STRING, "set"));
    } else if call.keys.remove(to) {
        call.modified(to, Event::DEL);
    }
    call.out.count(len);
    Ok(())
}

/// The operation of this name, which must be possible with so many strings.
fn operation(name: &[u8], strings: usize) -> Result<Operation, Fault> {
    let known: [(&[u8], _); 8] = [
        (b"and", Operation::And),
        (b"or", Operation::Or),
        (b"xor", Operation::Xor),
        (b"not", Operation::Not),
        (b"diff", Operation::Diff),
        (b"diff1", Operation::Diff1),
        (b"andor", Operation::AndOr),
        (b"one", Operation::One),
    ];
    let found = known.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
    let &(_, operation) = found.ok_or(Fault::SYNTAX)?;
    let at_least_two = |name: &str| {
        let text = format!("ERR BITOP {name} must be called with at least two source keys.");
        if strings < 2 { Err(Fault::made(text)) } else { Ok(operation) }
    };
    match operation {
        Operation::Not if strings != 1 => {
            Err(Fault::new("ERR BITOP NOT must be called with a single source key."))
        }
        Operation::Diff => at_least_two("DIFF"),
        Operation::Diff1 => at_least_two("DIFF1"),
        Operation::AndOr => at_least_two("ANDOR"),
        Operation::And | Operation::Or | Operation::Xor | Operation::Not | Operation::One => {
            Ok(operation)
        }
    }
}
