// SPDX-License-Identifier: Apache-2.0
//! Members by name, and all of them: SADD, SREM, SISMEMBER, SMISMEMBER, SCARD, SMEMBERS.

use super::super::named::visit_named;
use super::{SADD, SREM};
use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use values::{NewSet, SetMut};

/// Adds members and counts the new ones.
#[inline]
pub(crate) fn sadd<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, members) = (call.arg(1), call.args.tail(2));
    let new = add(&mut call.keys, key, members)?;
    if new > 0 {
        call.modified(key, SADD);
    }
    call.out.count(new);
    Ok(())
}

/// Adds members to the set under `key`, which is made if there is none; how many are new.
#[inline]
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
pub(super) fn add<V: View>(
    keys: &mut Keys<'_, V>,
    key: &[u8],
    members: Args<'_>,
) -> Result<usize, Fault> {
    let add = |set: &mut SetMut<'_>| {
        let mut new = 0;
        visit_named(set, members, 0, |set, [member]| new += usize::from(set.add(member)));
        new
    };
    if let Some(new) = keys.edit_set_if_any(key, add)? {
        return Ok(new);
    }
    let mut made = NewSet::new(key);
    let mut set = made.edit(keys.limits);
    set.expect(members.arg(0), members.len());
    let new = add(&mut set);
    keys.put(made.into_entry());
    Ok(new)
}

/// Removes members and counts those that were there.
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
pub(crate) fn srem<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, members) = (call.arg(1), call.args.tail(2));
    let edited = call.keys.edit_set_if_any(key, |set| {
        let mut removed = 0;
        visit_named(set, members, 0, |set, [member]| removed += usize::from(set.remove(member)));
        (removed, set.len() == 0)
    })?;
    let (removed, is_empty) = edited.unwrap_or_default();
    if removed > 0 {
        call.modified(key, SREM);
    }
    if is_empty {
        call.remove_if_empty(key);
    }
    call.out.count(removed);
    Ok(())
}

/// Tells whether a set has a member.
#[inline]
pub(crate) fn sismember<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, member) = (call.arg(1), call.arg(2));
    let found = call.keys.set(key)?.map(|set| set.contains(member));
    call.out.integer(found.unwrap_or(false).into());
    if found.is_none() {
        call.missed(key);
    }
    Ok(())
}

/// Tells which of the members a set has.
pub(crate) fn smismember<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, members) = (call.arg(1), call.args.tail(2));
    let set = call.keys.set(key)?;
    call.out.array(members.len());
    match set {
        Some(mut set) => visit_named(&mut set, members, 0, |set, [member]| {
            call.out.integer(set.contains(member).into());
        }),
        None => {
            members.iter().for_each(|_| call.out.integer(0));
            call.missed(key);
        }
    }
    Ok(())
}

/// Counts the members.
pub(crate) fn scard<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let found = call.keys.set(key)?.map(|set| set.len());
    call.out.count(found.unwrap_or(0));
    if found.is_none() {
        call.missed(key);
    }
    Ok(())
}

/// Lists the members.
pub(crate) fn smembers<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    match call.keys.set(key)? {
        Some(set) => {
            call.out.set(set.len());
            set.iter().for_each(|member| call.out.bulk(&member));
        }
        None => {
            call.out.set(0);
            call.missed(key);
        }
    }
    Ok(())
}
