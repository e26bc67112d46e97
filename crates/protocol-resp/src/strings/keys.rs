// SPDX-License-Identifier: Apache-2.0
//! Commands on all keys at once: DBSIZE, FLUSHALL and FLUSHDB.

use super::store_call::StoreCall;
use crate::commands::server::check_flush_option;
use crate::wire::fault::Done;
use storage::{Stats, Store};

/// Counts the keys, including those that have expired and whose memory has not been freed.
pub(super) fn dbsize<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    call.out.integer(i64::try_from(count(&call.store.stats())).unwrap_or(i64::MAX));
    Ok(())
}

/// How many keys DBSIZE and INFO count.
pub(super) fn count(stats: &Stats) -> u64 {
    stats.items.saturating_sub(stats.cleared)
}

/// Removes all keys at once, however many there are; their memory comes back gradually.
pub(super) fn flush<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    check_flush_option(call.args)?;
    call.store.clear();
    call.out.ok();
    Ok(())
}
