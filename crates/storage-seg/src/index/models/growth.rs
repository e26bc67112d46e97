// SPDX-License-Identifier: Apache-2.0
//! Models of growth under way: nothing is lost and nothing comes back.

use super::*;

/// An index about to move to a table with another number of homes.
fn growing(homes: usize, next: usize, keys: &[u64]) -> Shared {
    let shared = index_of(homes, keys);
    assert!(shared.index.grow(next).expect("memory"));
    shared
}

/// Moves all homes, and gives memory back when no reader is online.
fn migrate(shared: &Shared) {
    while shared.index.migrate(1, &shared.epochs, &mut Items) {}
}

/// Does something as a participant that is online.
fn online(shared: &Shared, work: impl FnOnce(&Index)) {
    let mut participant = Epochs::register(&shared.epochs).expect("a free place");
    participant.enter();
    work(&shared.index);
    participant.leave();
}

#[test]
fn a_key_is_found_while_it_moves_and_until_its_reader_is_gone() {
    let read = |shared: &Shared| {
        online(shared, |index| {
            assert_eq!(find(index, 4), Some(item(4, 0)));
            assert_eq!(find(index, 0), Some(item(0, 0)));
        });
    };
    check(|| growing(1, 2, &[0, 4]), [migrate, read], &[(0, 0), (4, 0)]);
}

#[test]
fn a_new_key_is_not_lost_to_growth() {
    let write = |shared: &Shared| {
        online(shared, |index| {
            put(index, 0, 0);
            assert_eq!(find(index, 0), Some(item(0, 0)));
        });
    };
    check(|| growing(1, 2, &[4]), [migrate, write], &[(0, 0), (4, 0)]);
}

#[test]
fn an_overwritten_item_is_not_brought_back_by_growth() {
    let write = |shared: &Shared| {
        online(shared, |index| {
            put(index, 0, 1);
            assert_eq!(find(index, 0), Some(item(0, 1)));
        });
    };
    check(|| growing(1, 2, &[0]), [migrate, write], &[(0, 1)]);
}

#[test]
fn a_removed_item_is_not_brought_back_by_growth() {
    let write = |shared: &Shared| {
        online(shared, |index| {
            remove(index, 4);
            assert_eq!(find(index, 4), None);
        });
    };
    check(|| growing(1, 2, &[0, 4]), [migrate, write], &[(0, 0)]);
}

#[test]
fn an_evicted_item_is_not_brought_back_by_growth() {
    let evict = |shared: &Shared| {
        online(shared, |index| relocate(index, item(0, 0), item(0, 1)));
    };
    check(|| growing(1, 2, &[0]), [migrate, evict], &[(0, 1)]);
}

#[test]
fn two_homes_move_into_one_that_is_written_to() {
    let write = |shared: &Shared| {
        online(shared, |index| {
            put(index, 1, 0);
            remove(index, 0);
        });
    };
    check(|| growing(2, 1, &[0, 4]), [migrate, write], &[(1, 0), (4, 0)]);
}
