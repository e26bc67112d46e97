// SPDX-License-Identifier: Apache-2.0
//! `stats items` and `stats slabs`: the classes of items that the engine keeps together, with the names that
//! memcached has for its slab classes. What there is nothing to count of in a class is 0.

use super::Show;
use storage::{ClassStats, Stats};

/// The items of a class.
pub(super) fn items(class: &ClassStats, show: Show<'_>) {
    if class.items == 0 {
        return;
    }
    let lines: [(&str, u64); 28] = [
        ("number", class.items),
        ("number_hot", 0),
        ("number_warm", 0),
        // There is one queue.
        ("number_cold", class.items),
        ("age_hot", 0),
        ("age_warm", 0),
        ("age", class.age_s),
        ("mem_requested", class.item_bytes),
        ("evicted", class.evicted),
        ("evicted_nonzero", class.evicted_early),
        ("evicted_time", class.evicted_age_s),
        ("outofmemory", 0),
        ("tailrepairs", 0),
        ("reclaimed", class.expired),
        ("expired_unfetched", class.expired_unread),
        ("evicted_unfetched", class.evicted_unread),
        ("evicted_active", 0),
        ("crawler_reclaimed", 0),
        ("crawler_items_checked", 0),
        ("lrutail_reflocked", 0),
        ("moves_to_cold", 0),
        ("moves_to_warm", 0),
        ("moves_within_lru", 0),
        ("direct_reclaims", 0),
        ("hits_to_hot", 0),
        ("hits_to_warm", 0),
        ("hits_to_cold", 0),
        ("hits_to_temp", 0),
    ];
    for (name, value) in lines {
        show(&format!("items:{}:{name}", class.number), &value);
    }
}

/// The memory of a class, in chunks of the mean size of its items.
pub(super) fn slabs(class: &ClassStats, show: Show<'_>) {
    let chunk = class.item_bytes.div_ceil(class.items.max(1)).max(1);
    let per_page = (class.page_bytes / chunk).max(1);
    let total = (per_page * class.pages).max(class.items);
    let lines: [(&str, u64); 15] = [
        ("chunk_size", chunk),
        ("chunks_per_page", per_page),
        ("total_pages", class.pages),
        ("total_chunks", total),
        ("used_chunks", class.items),
        ("free_chunks", total - class.items),
        ("free_chunks_end", 0),
        ("get_hits", 0),
        ("cmd_set", 0),
        ("delete_hits", 0),
        ("incr_hits", 0),
        ("decr_hits", 0),
        ("cas_hits", 0),
        ("cas_badval", 0),
        ("touch_hits", 0),
    ];
    for (name, value) in lines {
        show(&format!("{}:{name}", class.number), &value);
    }
}

/// All memory.
pub(super) fn slabs_in_all(classes: u32, store: &Stats, show: Show<'_>) {
    show("active_slabs", &classes);
    show("total_malloced", &store.used_bytes);
}
