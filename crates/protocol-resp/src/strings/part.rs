// SPDX-License-Identifier: Apache-2.0
//! Parts of values: APPEND, GETRANGE and SUBSTR, SETRANGE.

use super::store_call::{PIN_MIN, StoreCall, refused};
use crate::commands::strings::part;
use crate::wire::fault::{Done, Fault};
use storage::{Change, Expiry, Item, Store};

/// Appends bytes to a value, or stores them if there is none.
pub(super) fn append<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let more = call.arg(2);
    let len = call.store.update(call.args.arg(1), call.now.ticks, |item| match item {
        Some(item) => (
            Change::Extend { before: b"", after: more },
            item.value().len().saturating_add(more.len()),
        ),
        None => (Change::Put { value: more, flags: 0, expiry: Expiry::NEVER }, more.len()),
    });
    call.out.count(len.map_err(refused)?);
    Ok(())
}

/// Reads a part of a value.
pub(super) fn getrange<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let (start, end) = (call.integer(2)?, call.integer(3)?);
    let hit = match call.store.get(call.args.arg(1), call.now.ticks) {
        Some(item) => {
            let text = part(item.value(), start, end);
            let pinned = if text.len() >= PIN_MIN { item.pin() } else { None };
            match pinned {
                // The same range of the pinned value.
                Some(pinned) => call.out.bulk_pinned(pinned.slice_ref(part(&pinned, start, end))),
                None => call.out.bulk(text),
            }
            true
        }
        None => {
            call.out.bulk(b"");
            false
        }
    };
    call.count_read(hit);
    Ok(())
}

/// Overwrites a part of a value. A gap between its end and the part is filled with zeros.
pub(super) fn setrange<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let with = call.arg(3);
    let offset = usize::try_from(call.integer(2)?).map_err(|_| Fault::BAD_OFFSET)?;
    if with.is_empty() {
        let item = call.store.get(call.args.arg(1), call.now.ticks);
        let len = item.map_or(0, |item| item.value().len());
        call.out.count(len);
        return Ok(());
    }
    let end = offset.saturating_add(with.len());
    if end > call.shared.options.value_max {
        return Err(Fault::TOO_LONG);
    }
    let len = call.rewrite(|old, new| {
        new.extend_from_slice(old.unwrap_or_default());
        new.resize(new.len().max(end), 0);
        new[offset..end].copy_from_slice(with);
        Ok(new.len())
    })?;
    call.out.count(len);
    Ok(())
}
