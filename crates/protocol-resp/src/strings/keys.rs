// SPDX-License-Identifier: Apache-2.0
//! Commands on all keys at once: DBSIZE, FLUSHALL and FLUSHDB.

use super::store_call::StoreCall;
use crate::commands::server::check_flush_option;
use crate::wire::fault::Done;
use storage::Store;

/// How many items FLUSHALL frees at once, at most in this many steps; the others are freed
/// gradually.
const FREED_AT_ONCE: usize = 4096;
const FREEING_STEPS: usize = 32;

/// Counts the keys, including dead ones whose memory has not been freed.
pub(super) fn dbsize<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    call.out.integer(i64::try_from(call.store.stats().items).unwrap_or(i64::MAX));
    Ok(())
}

/// Removes all keys at once, however many there are.
pub(super) fn flush<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    check_flush_option(call.args)?;
    call.store.clear();
    // DBSIZE counts what has not been freed: a cache of few keys is empty at once.
    let mut left = FREED_AT_ONCE;
    for _ in 0..FREEING_STEPS {
        left = left.saturating_sub(call.store.expire(call.now.ticks, left));
    }
    call.out.ok();
    Ok(())
}
