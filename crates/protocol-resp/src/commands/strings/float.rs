// SPDX-License-Identifier: Apache-2.0
//! Floating-point numbers in strings: INCRBYFLOAT.

use super::super::long_double::{LongDouble, is_infinite};
use crate::engine::call::Call;
use crate::host::events::{Class, Event};
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::{Digits, Entry, Type};

/// Adds to a floating-point number. The sum is stored as the text that is shown.
pub(crate) fn incrbyfloat<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let mut digits = Digits::new();
    let old = call.keys.get(key, Type::String)?.map(|entry| entry.text(&mut digits));
    let text = sum(old, call.args.arg(2))?.text();
    if let Some(mut entry) = call.keys.any_mut(key) {
        entry.set_text(text.as_bytes());
    } else {
        let mut entry = Entry::raw_string(key, b"");
        entry.set_text(text.as_bytes());
        call.keys.put(entry);
    }
    call.out.bulk(text.as_bytes());
    call.modified(key, Event::of(Class::STRING, "incrbyfloat"));
    Ok(())
}

/// What adding `by` to a number makes; nothing counts as zero. The number before is looked at first.
pub(crate) fn sum(old: Option<&[u8]>, by: &[u8]) -> Result<LongDouble, Fault> {
    let old = old.map_or(Ok(Some(LongDouble::ZERO)), number)?;
    let sum = old.zip(number(by)?).and_then(|(old, by)| old.add(by));
    sum.ok_or(Fault::NOT_FINITE)
}

/// A number; `None` for one without bounds.
fn number(text: &[u8]) -> Result<Option<LongDouble>, Fault> {
    if is_infinite(text) {
        return Ok(None);
    }
    LongDouble::parse(text).map(Some).ok_or(Fault::NOT_FLOAT)
}
