// SPDX-License-Identifier: Apache-2.0
//! How many members there are: ZCARD, ZCOUNT, ZLEXCOUNT.

use super::request::By;
use crate::engine::call::Call;
use crate::wire::fault::Done;
use keyspace::View;
use values::ZsetRef;

/// Counts the members.
pub(crate) fn zcard<V: View>(call: &mut Call<'_, V>) -> Done {
    count(call, |set| set.len())
}

/// Counts the members in a range of scores.
pub(crate) fn zcount<V: View>(call: &mut Call<'_, V>) -> Done {
    let by = By::scores(call.arg(2), call.arg(3))?;
    count(call, |set| by.ranks_in(set).len())
}

/// Counts the members in a range of names.
pub(crate) fn zlexcount<V: View>(call: &mut Call<'_, V>) -> Done {
    let by = By::names(call.arg(2), call.arg(3))?;
    count(call, |set| by.ranks_in(set).len())
}

fn count<V: View>(call: &mut Call<'_, V>, count: impl FnOnce(ZsetRef<'_>) -> usize) -> Done {
    let key = call.arg(1);
    let found = call.keys.zset(key)?.map(count);
    call.out.count(found.unwrap_or(0));
    if found.is_none() {
        call.missed(key);
    }
    Ok(())
}
