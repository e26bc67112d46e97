// SPDX-License-Identifier: Apache-2.0
//! What sets and removes fields: HSET, HMSET, HSETNX, HDEL.

use super::super::named::visit_named;
use super::{HDEL, HSET, Noted};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;

/// Sets fields and counts the new ones.
#[inline]
pub(crate) fn hset<V: View>(call: &mut Call<'_, V>) -> Done {
    let new = set_all(call)?;
    call.out.count(new);
    Ok(())
}

/// Sets fields.
pub(crate) fn hmset<V: View>(call: &mut Call<'_, V>) -> Done {
    set_all(call)?;
    call.out.ok();
    Ok(())
}

/// Sets all fields that are named with a value; how many are new.
#[inline]
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
fn set_all<V: View>(call: &mut Call<'_, V>) -> Result<usize, Fault> {
    let (key, pairs, now) = (call.arg(1), call.args.tail(2), call.unix_ms());
    if !pairs.len().is_multiple_of(2) {
        return Err(Fault::arity(call.spec.name));
    }
    let new = call.keys.edit_hash(key, |hash| {
        let mut new = 0;
        visit_named(hash, pairs, 0, |hash, [field, value]| {
            new += usize::from(hash.set(field, value, now));
        });
        Ok(new)
    })?;
    call.modified_fields(key, HSET, || pairs.iter().step_by(2).collect());
    Ok(new)
}

/// Sets a field unless it is there.
pub(crate) fn hsetnx<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, field, value) = (call.arg(1), call.arg(2), call.arg(3));
    let now = call.unix_ms();
    let is_new = call.keys.edit_hash(key, |hash| {
        let is_new = !hash.read().contains(field, now);
        if is_new {
            hash.set(field, value, now);
        }
        Ok(is_new)
    })?;
    if is_new {
        call.modified_fields(key, HSET, || vec![field]);
    }
    call.out.integer(is_new.into());
    Ok(())
}

/// Removes fields and counts those that were there.
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
pub(crate) fn hdel<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, fields, now) = (call.arg(1), call.args.tail(2), call.unix_ms());
    let mut noted = Noted::new(call);
    let edited = call.keys.edit_hash_if_any(key, |hash| {
        let mut removed = 0;
        visit_named(hash, fields, 0, |hash, [field]| {
            if hash.remove(field, now) {
                noted.note(field);
                removed += 1;
            }
        });
        (removed, hash.len() == 0)
    })?;
    let (removed, is_empty) = edited.unwrap_or_default();
    if removed > 0 {
        call.modified_fields(key, HDEL, || noted.fields);
    }
    // Also if all that was removed had expired before.
    if is_empty {
        call.remove_if_empty(key);
    }
    call.out.count(removed);
    Ok(())
}
