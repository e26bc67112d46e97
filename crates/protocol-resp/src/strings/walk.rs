// SPDX-License-Identifier: Apache-2.0
//! Finding keys: SCAN, KEYS.
//!
//! Those over a keyspace (`commands/generic/walk.rs`) share the options, the cursor and the form of the reply, not
//! the walk: a store counts the slots of a step, not the keys, and one index has all keys, so steps are bounded and
//! KEYS is refused where it would be long.

use super::store_call::StoreCall;
use crate::commands::generic::{ScanOptions, Walked, cursor, end_step};
use crate::wire::fault::{Done, Fault};
use crate::wire::glob;
use storage::{Cursor, Item, Scan};

/// The most slots of the index that one step of SCAN visits. Enough that few keys in a large index do not
/// need many steps; few enough that no step delays its worker.
const SCAN_PLACES: usize = 256 << 10;

/// The most keys of one step of SCAN, even if its client asks for more.
const SCAN_COUNT: usize = 4096;

/// The most slots of the index that KEYS visits.
const KEYS_PLACES: usize = 1 << 20;

/// Slots that the store visits per call.
const AT_A_TIME: usize = 256;

/// Makes one step of a scan over all keys.
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
pub(super) fn scan<S: Scan>(call: &mut StoreCall<'_, S>) -> Done {
    let mut at = cursor(call.args.arg(1))?;
    let options = ScanOptions::parse(call.args.tail(2).iter(), Walked::Keys)?;
    let is_of_type = options.of.is_none_or(|of| of.eq_ignore_ascii_case(b"string"));
    let count = options.count.min(SCAN_COUNT);
    let StoreCall { store, out, now, .. } = call;
    let start = out.begin_array();
    let (mut found, mut seen, mut looked) = (0, 0, 0);
    while seen < count && looked < SCAN_PLACES {
        let budget = (count - seen).clamp(8, AT_A_TIME);
        let next = store.scan(Cursor::new(at), budget, now.ticks, |item| {
            seen += 1;
            if is_of_type && options.matches(item.key()) {
                out.bulk(item.key());
                found += 1;
            }
        });
        looked += budget;
        at = next.map_or(0, Cursor::get);
        if at == 0 {
            break;
        }
    }
    end_step(out, start, at, found);
    Ok(())
}

/// Lists the keys that match a pattern; refused if the index is large.
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
pub(super) fn keys<S: Scan>(call: &mut StoreCall<'_, S>) -> Done {
    let pattern = call.args.arg(1);
    let StoreCall { store, out, now, .. } = call;
    let mark = out.begin_array();
    let (mut found, mut looked, mut at) = (0, 0, Cursor::START);
    loop {
        let next = store.scan(at, AT_A_TIME, now.ticks, |item| {
            if pattern == b"*" || glob::matches(pattern, item.key()) {
                out.bulk(item.key());
                found += 1;
            }
        });
        let Some(next) = next else { break };
        (at, looked) = (next, looked + AT_A_TIME);
        if looked >= KEYS_PLACES {
            return Err(Fault::new("ERR too many keys for KEYS: use SCAN"));
        }
    }
    out.end_array(mark, found);
    Ok(())
}
