// SPDX-License-Identifier: Apache-2.0
//! Whether keys are there, and removing them: DEL, UNLINK, EXISTS, TOUCH, TYPE.

use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::host::events::Event;
use crate::wire::fault::Done;
use keyspace::View;

/// Removes keys. Large values are freed bit by bit.
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
pub(crate) fn del<V: View>(call: &mut Call<'_, V>) -> Done {
    let mut removed = 0;
    for key in call.args.tail(1).iter() {
        if call.keys.remove(key) {
            removed += 1;
            call.modified(key, Event::DEL);
        }
    }
    call.out.count(removed);
    Ok(())
}

/// Removes keys: the same as DEL, which does not wait for large values to be freed either.
pub(crate) fn unlink<V: View>(call: &mut Call<'_, V>) -> Done {
    del(call)
}

/// Counts the keys that are there, each as often as it is named.
pub(crate) fn exists<V: View>(call: &mut Call<'_, V>) -> Done {
    count(call, |keys, key| keys.glance(key).is_some())
}

/// Counts the keys that are there and notes that they were used.
pub(crate) fn touch<V: View>(call: &mut Call<'_, V>) -> Done {
    count(call, |keys, key| keys.any(key).is_some())
}

#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
fn count<V: View>(
    call: &mut Call<'_, V>,
    is_there: impl Fn(&mut Keys<'_, V>, &[u8]) -> bool,
) -> Done {
    let mut found = 0;
    for key in call.args.tail(1).iter() {
        if is_there(&mut call.keys, key) {
            found += 1;
        } else {
            call.missed(key);
        }
    }
    call.out.count(found);
    Ok(())
}

/// Tells the type of a value.
pub(crate) fn type_of<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    match call.keys.glance(key) {
        Some(entry) => call.out.simple(entry.data_type().name()),
        None => {
            call.out.simple("none");
            call.missed(key);
        }
    }
    Ok(())
}
