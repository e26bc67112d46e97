// SPDX-License-Identifier: Apache-2.0
//! What removes members: ZREM, ZREMRANGEBYRANK, ZREMRANGEBYSCORE, ZREMRANGEBYLEX.

use super::super::named::visit_named;
use super::event;
use super::request::By;
use crate::engine::call::Call;
use crate::host::events::Event;
use crate::wire::fault::Done;
use keyspace::View;
use values::ZsetMut;

/// Removes members by name.
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
pub(crate) fn zrem<V: View>(call: &mut Call<'_, V>) -> Done {
    let members = call.args.tail(2);
    remove(call, event("zrem"), |set| {
        let mut removed = 0;
        visit_named(set, members, 0, |set, [member]| {
            removed += usize::from(set.remove(member).is_some());
        });
        removed
    })
}

/// Removes the members of a range of ranks.
pub(crate) fn zremrangebyrank<V: View>(call: &mut Call<'_, V>) -> Done {
    let by = By::ranks(call.arg(2), call.arg(3))?;
    remove_range(call, event("zremrangebyrank"), by)
}

/// Removes the members of a range of scores.
pub(crate) fn zremrangebyscore<V: View>(call: &mut Call<'_, V>) -> Done {
    let by = By::scores(call.arg(2), call.arg(3))?;
    remove_range(call, event("zremrangebyscore"), by)
}

/// Removes the members of a range of names.
pub(crate) fn zremrangebylex<V: View>(call: &mut Call<'_, V>) -> Done {
    let by = By::names(call.arg(2), call.arg(3))?;
    remove_range(call, event("zremrangebylex"), by)
}

fn remove_range<V: View>(call: &mut Call<'_, V>, event: Event, by: By<'_>) -> Done {
    remove(call, event, |set| {
        let ranks = by.ranks_in(set.read());
        set.remove_range(ranks, |_, _| {})
    })
}

/// Lets `remove` remove members, and replies how many they were.
fn remove<V: View>(
    call: &mut Call<'_, V>,
    event: Event,
    remove: impl FnOnce(&mut ZsetMut<'_>) -> usize,
) -> Done {
    let key = call.arg(1);
    let removed = call.keys.edit_zset_if_any(key, |set| (remove(set), set.is_empty()))?;
    let (removed, is_empty) = removed.unwrap_or_default();
    if removed > 0 {
        call.modified(key, event);
    }
    if is_empty {
        call.remove_if_empty(key);
    }
    call.out.count(removed);
    Ok(())
}
