// SPDX-License-Identifier: Apache-2.0
//! What is kept ready. Whether pages are huge is the system's to decide.

use super::open::{MANY, MOST_OPEN, SMALL_REST};
use super::*;
use std::collections::BTreeSet;
use test_support::memory::present;
use test_support::wait_until;

/// Who asks, mostly.
const OWNER: u32 = 7;

/// Waits until so many pages are ready.
fn wait_for(pool: &Pool, pages: usize) {
    wait_until("pages are ready", || pool.state().ready.len() >= pages);
}

/// The next page for this owner.
fn page(pool: &Pool, owner: u32) -> NonNull<u8> {
    wait_for(pool, 1);
    pool.next(owner).expect("one is ready")
}

/// How much of a page is in memory.
fn taken(page: NonNull<u8>) -> usize {
    present(page.as_ptr(), HUGE_PAGE)
}

/// A pool that was asked for so many pages that it takes some.
fn pool() -> &'static Pool {
    let pool = Pool::start().expect("a thread");
    for _ in 0..SMALL {
        assert_eq!(pool.next(OWNER), None);
    }
    pool
}

#[test]
fn pages_are_taken_whole_and_given_once() {
    let pool = pool();
    let mut seen = BTreeSet::new();
    // More than a region has.
    for _ in 0..3 * REGION {
        let page = page(pool, OWNER);
        assert!(page.addr().get().is_multiple_of(HUGE_PAGE));
        assert_eq!(taken(page), HUGE_PAGE);
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
    pool.next(OWNER).expect("it had one");
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

#[test]
fn rests_of_pages_that_are_left_go_back() {
    let pool = pool();
    let (left, newest, others) = (page(pool, OWNER), page(pool, OWNER), page(pool, OWNER + 1));
    pool.uses(left, HUGE_PAGE / 4);
    pool.uses(newest, HUGE_PAGE / 4);
    wait_until("a rest is given back", || taken(left) == HUGE_PAGE / 4);
    // The thread has looked at all.
    assert_eq!(taken(newest), HUGE_PAGE);
    assert_eq!(taken(others), HUGE_PAGE);
    // What goes back can be used all the same.
    pool.uses(left, HUGE_PAGE);
}

#[test]
fn no_more_than_some_rests_wait() {
    let pool = pool();
    let pages: Vec<_> = (0..2 * MANY).map(|_| page(pool, OWNER)).collect();
    for &page in &pages {
        pool.uses(page, HUGE_PAGE / 4);
    }
    // However short the time.
    pool.give_back();
    let whole = pages.iter().filter(|&&page| taken(page) == HUGE_PAGE).count();
    assert!(whole <= MANY, "{whole} of {}", pages.len());
    assert_eq!(taken(pages[pages.len() - 1]), HUGE_PAGE, "it is the newest");
}

#[test]
fn what_is_in_use_is_no_rest() {
    let pool = Pool::default();
    let mut region = None;
    let mut another = || another(&mut region).expect("the system has memory");
    pool.state().ready.push(another());
    let page = pool.next(OWNER).expect("one is ready");
    assert_eq!(pool.ahead(), HUGE_PAGE);
    pool.uses(page, 100);
    assert_eq!(pool.ahead(), HUGE_PAGE - 100);
    pool.uses(page, 10);
    assert_eq!(pool.ahead(), HUGE_PAGE - 100);

    pool.state().ready.push(another());
    let next = pool.next(OWNER).expect("one is ready");
    assert_eq!(next.addr().get(), page.addr().get() + HUGE_PAGE, "it is the one behind");
    // From the last bytes of the one into the other.
    let last = page.as_ptr().wrapping_add(HUGE_PAGE - 5);
    pool.uses(NonNull::new(last).expect("within a page"), 15);
    assert_eq!(pool.ahead(), HUGE_PAGE - 10);
    assert!(!pool.state().open.has_elders(), "the first is used whole");
    pool.uses(next, HUGE_PAGE - SMALL_REST - 1);
    assert_eq!(pool.ahead(), SMALL_REST + 1);
    pool.uses(next, HUGE_PAGE - SMALL_REST);
    assert_eq!(pool.ahead(), 0);
}

#[test]
fn none_is_given_out_while_too_many_are_open() {
    let pool = Pool::default();
    let map = map().expect("there is address space");
    // It takes no memory that this is always the same.
    let page = || Page(map, huge_page_from(map.as_ptr(), 0).start);
    let mut last = None;
    for owner in 0..MOST_OPEN as u32 {
        pool.state().ready.push(page());
        last = pool.next(owner);
    }
    pool.state().ready.push(page());
    assert_eq!(pool.next(OWNER), None);
    pool.uses(last.expect("it was given"), HUGE_PAGE);
    assert!(pool.next(OWNER).is_some());
}
