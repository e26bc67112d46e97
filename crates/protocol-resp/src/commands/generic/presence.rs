// SPDX-License-Identifier: Apache-2.0
//! Whether keys are there, and removing them: DEL, UNLINK, EXISTS, TOUCH, TYPE.

use crate::commands::access::{KeyAccess, visit_ahead};
use crate::wire::fault::Done;

/// Removes keys. Large values are freed bit by bit.
pub(crate) fn del<'c>(call: &mut impl KeyAccess<'c>) -> Done {
    count(call, |call, key| call.remove(key))
}

/// Removes keys: the same as DEL, which does not wait for large values to be freed either.
pub(crate) fn unlink<'c>(call: &mut impl KeyAccess<'c>) -> Done {
    del(call)
}

/// Counts the keys that are there, each as often as it is named.
pub(crate) fn exists<'c>(call: &mut impl KeyAccess<'c>) -> Done {
    count(call, |call, key| call.contains(key))
}

/// Counts the keys that are there and notes that they were used.
pub(crate) fn touch<'c>(call: &mut impl KeyAccess<'c>) -> Done {
    count(call, |call, key| call.touch(key))
}

/// Counts the keys for which `counts` is true.
fn count<'c, C: KeyAccess<'c>>(call: &mut C, counts: impl Fn(&mut C, &[u8]) -> bool) -> Done {
    let (keys, mut count) = (call.args().tail(1), 0_usize);
    visit_ahead(call, keys, |call, [key]| {
        count = count.saturating_add(usize::from(counts(call, key)));
        Ok(())
    })?;
    call.out().count(count);
    Ok(())
}

/// Tells the type of a value.
pub(crate) fn type_of<'c>(call: &mut impl KeyAccess<'c>) -> Done {
    let name = call.type_name(call.args().arg(1));
    call.out().simple(name.unwrap_or("none"));
    Ok(())
}
