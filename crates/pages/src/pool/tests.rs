// SPDX-License-Identifier: Apache-2.0
//! What is kept ready. Whether pages are huge is the system's to decide.

use super::*;
use std::collections::BTreeSet;
use test_support::memory::present;
use test_support::wait_until;

/// Waits until so many pages are ready.
fn wait_for(pool: &Pool, pages: usize) {
    wait_until("pages are ready", || pool.ready() >= pages);
}

/// A pool that was asked for so many pages that it takes some.
fn pool() -> &'static Pool {
    let pool = Pool::start().expect("a thread");
    for _ in 0..SMALL {
        assert_eq!(pool.next(), None);
    }
    pool
}

#[test]
fn pages_are_taken_whole_and_given_once() {
    let pool = pool();
    let mut seen = BTreeSet::new();
    // More than a region has.
    for _ in 0..3 * REGION {
        wait_for(pool, 1);
        let page = pool.next().expect("one is ready");
        assert!(page.addr().get().is_multiple_of(HUGE_PAGE));
        assert_eq!(present(page.as_ptr(), HUGE_PAGE), HUGE_PAGE);
        assert!(seen.insert(page.addr()), "it was given before");
    }
}

#[test]
fn more_are_ready_when_more_were_asked_for() {
    let numbers = [(0, 0), (7, 0), (8, 1), (255, 1), (256, 2), (511, 3), (512, 4), (usize::MAX, 4)];
    for (asked, ready) in numbers {
        assert_eq!(wanted(asked), ready, "{asked} were asked for");
    }
    let pool = pool();
    wait_for(pool, 1);
    assert!(!pool.wants_another(), "it has what it wants");
    pool.state().asked = 3 * SHARE;
    pool.next().expect("it had one");
    wait_for(pool, 3);
    assert!(!pool.wants_another(), "it has what it wants");
}

#[test]
fn a_region_has_whole_pages_wherever_it_begins() {
    let map = map().expect("there is address space");
    let (mut at, mut pages) = (0, 0);
    while huge_page_from(map.as_ptr(), at).end <= map.len() {
        at = huge_page_from(map.as_ptr(), at).end;
        pages += 1;
    }
    assert!(pages >= REGION);
}
