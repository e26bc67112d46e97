// SPDX-License-Identifier: Apache-2.0
//! Changes of an expiry: beside other handles' changes, and in memory that is full.

use clock::Ticks;
use std::time::Duration;
use storage::{Change, Expiry, Item, Put, Store};
use storage_seg::SegStore;

const NOW: Ticks = Ticks::from_millis(1_000);

fn after(seconds: u64) -> Expiry {
    Expiry::after(Duration::from_secs(seconds), NOW)
}

/// A handle changes the expiry in place while another's update looks at the item: the update asks
/// again, whatever it is about to do.
#[test]
fn an_update_sees_a_touch_that_comes_in_between() {
    let changes = [Change::Delete, Change::Expire(Expiry::at(NOW))];
    for change in changes {
        let builder = SegStore::builder().memory(1 << 20).workers(2);
        let mut store = builder.build().expect("the options are possible");
        let mut other = store.clone();
        store.put(Put::new(b"key", b"value").expiry(after(20)), NOW).expect("it fits");
        let mut seen = Vec::new();
        let result = store.update(b"key", NOW, |item| {
            seen.push(item.map(|item| item.expiry()));
            if seen.len() == 1 {
                let touched = other.update(b"key", NOW, |_| (Change::Expire(after(10)), ()));
                assert_eq!(touched, Ok(()));
            }
            (change, ())
        });
        assert_eq!(result, Ok(()));
        assert_eq!(seen, [Some(after(20)), Some(after(10))], "{change:?}");
        assert!(store.get(b"key", NOW).is_none());
    }
}
