// SPDX-License-Identifier: Apache-2.0
use super::*;
use crate::heap::tests::with_bytes;
use storage::Item;

const NOW: Ticks = Ticks::ZERO;

/// Flips the last bit of a key's value behind the store's back.
fn damage(store: &mut SegStore, key: &[u8]) {
    let location = store.look(store.shared.hash(key), key, NOW).expect("it is there").location();
    let heap = &store.shared.heap;
    let (segment, offset) = heap.place(location);
    let end = 4 + 4 + key.len() + b"value".len();
    with_bytes(heap, segment, offset, end, |bytes| bytes[end - 1] ^= 1);
}

fn corrupt(store: &SegStore) -> u64 {
    store.shared.tallies.sum(Count::Corrupt)
}

#[test]
fn a_damaged_item_is_a_miss_and_counted() {
    for workers in [1, 2] {
        let builder = SegStore::builder().memory(1 << 20).workers(workers).integrity(true);
        let mut store = builder.build().expect("the options are possible");
        for key in [b"read", b"edit", b"well"] {
            store.put(Put::new(key, b"value"), NOW).expect("it fits");
        }
        damage(&mut store, b"read");
        damage(&mut store, b"edit");
        assert!(store.get(b"read", NOW).is_none());
        assert_eq!(corrupt(&store), 1);
        let edit = store.update(b"edit", NOW, |item| {
            assert!(item.is_none(), "nobody is shown what is damaged");
            (Change::Keep, ())
        });
        assert_eq!((edit, corrupt(&store)), (Ok(()), 2));
        assert!(store.get(b"read", NOW).is_none() && corrupt(&store) == 2, "it is gone");
        assert_eq!(store.get(b"well", NOW).expect("it is sound").value(), b"value");
        store.put(Put::new(b"read", b"again"), NOW).expect("it fits");
        assert_eq!(store.get(b"read", NOW).expect("it is sound").value(), b"again");
        store.check_integrity();
    }
}

#[test]
fn what_was_touched_since_it_was_found_expired_is_not_buried() {
    let mut store = SegStore::builder().memory(1 << 20).build().expect("it is possible");
    let at = Ticks::from_millis(2_000);
    store.put(Put::new(b"key", b"value").expiry(storage::Expiry::at(at)), NOW).expect("it fits");
    let hash = store.shared.hash(b"key");
    let location = store.look(hash, b"key", NOW).expect("it is there").location();
    store.turn.enter();
    assert_eq!(store.bury(hash, location, Ticks::from_millis(1_999)), None);
    assert!(store.get(b"key", NOW).is_some());
    assert_eq!(store.bury(hash, location, at), Some(true));
    assert_eq!(store.bury(hash, location, at), Some(false));
    assert_eq!((store.stats().items, store.get(b"key", NOW).is_none()), (0, true));
    store.check_integrity();
}
