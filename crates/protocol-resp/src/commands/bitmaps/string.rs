// SPDX-License-Identifier: Apache-2.0
//! The string whose bits are read or changed.

use crate::engine::call::Call;
use crate::wire::fault::Fault;
use keyspace::View;
use values::{Digits, Entry, Type};

/// The text of the string under `key`, which a command reads; an integer is formatted into `digits`. A string
/// that is not there has no text, and is reported as missed.
pub(super) fn text<'k, V: View>(
    call: &'k mut Call<'_, V>,
    key: &[u8],
    digits: &'k mut Digits,
) -> Result<Option<&'k [u8]>, Fault> {
    if call.keys.get(key, Type::String)?.is_none() {
        call.missed(key);
    }
    Ok(call.keys.peek(key).map(|entry| entry.text(digits)))
}

/// Makes or lengthens the string under `key` with zeros, so that it has `len` bytes, more than none. Returns
/// whether that was needed.
///
/// A client may name any length that a string may have. One that exceeds the memory limit by itself is refused.
pub(super) fn lengthen<V: View>(
    call: &mut Call<'_, V>,
    key: &[u8],
    len: usize,
) -> Result<bool, Fault> {
    let maxmemory = call.settings().maxmemory();
    let fits = |old: usize| {
        let grows_beyond = old < len && maxmemory != 0 && len as u64 > maxmemory;
        if grows_beyond { Err(Fault::OUT_OF_MEMORY) } else { Ok(()) }
    };
    let Some(mut entry) = call.keys.get_mut(key, Type::String)? else {
        fits(0)?;
        let mut entry = Entry::raw_string(key, b"");
        entry.set_range(len.saturating_sub(1), &[0]);
        call.keys.put(entry);
        return Ok(true);
    };
    let old = entry.len();
    fits(old)?;
    if old < len {
        entry.set_range(len.saturating_sub(1), &[0]);
    } else if old < Entry::PIN_MIN {
        // No longer an integer, nor short text: its bytes are going to be changed.
        entry.set_range(0, b"");
    }
    Ok(old < len)
}
