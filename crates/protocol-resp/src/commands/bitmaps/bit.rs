// SPDX-License-Identifier: Apache-2.0
//! Single bits: GETBIT, SETBIT.

use super::{SETBIT, bytes, string};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::{Digits, Type};

/// A place of a bit is none that a string may have.
const BAD_OFFSET: Fault = Fault::new("ERR bit offset is not an integer or out of range");

/// Reads a bit. Behind the end of a string all bits are 0.
pub(crate) fn getbit<V: View>(call: &mut Call<'_, V>) -> Done {
    let at = offset(call, call.arg(2), None)?;
    let mut digits = Digits::new();
    let text = string::text(call, call.arg(1), &mut digits)?.unwrap_or_default();
    let byte = text.get(bytes::of_bit(at)).copied().unwrap_or(0);
    let is_set = byte & mask(at) != 0;
    call.out.integer(is_set.into());
    Ok(())
}

/// Changes a bit, and returns what it was.
pub(crate) fn setbit<V: View>(call: &mut Call<'_, V>) -> Done {
    let at = offset(call, call.arg(2), None)?;
    let on = match values::parse_i64(call.arg(3)) {
        Some(0) => false,
        Some(1) => true,
        _ => return Err(Fault::new("ERR bit is not an integer or out of range")),
    };
    let (key, byte_at) = (call.arg(1), bytes::of_bit(at));
    let mut is_changed = string::lengthen(call, key, byte_at.saturating_add(1))?;
    let mut was_on = false;
    if let Some(mut entry) = call.keys.get_mut(key, Type::String)? {
        let byte = entry.text(&mut Digits::new()).get(byte_at).copied().unwrap_or(0);
        was_on = byte & mask(at) != 0;
        if was_on != on {
            entry.set_range(byte_at, &[byte ^ mask(at)]);
            is_changed = true;
        }
    }
    if is_changed {
        call.modified(key, SETBIT);
    }
    call.out.integer(was_on.into());
    Ok(())
}

/// Where a bit is. With the `width` of a field, `#7` is the place of the seventh one.
pub(super) fn offset<V: View>(
    call: &Call<'_, V>,
    text: &[u8],
    width: Option<u8>,
) -> Result<u64, Fault> {
    let (digits, unit) = match (text.split_first(), width) {
        (Some((b'#', digits)), Some(width)) => (digits, width.into()),
        _ => (text, 1),
    };
    let at = values::parse_i64(digits).and_then(|number| u64::try_from(number).ok());
    let at = at.and_then(|number| number.checked_mul(unit));
    at.filter(|at| at / 8 < call.bulk_max() as u64).ok_or(BAD_OFFSET)
}

/// The bit of its byte.
fn mask(at: u64) -> u8 {
    0x80 >> (at % 8)
}
