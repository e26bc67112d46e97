// SPDX-License-Identifier: Apache-2.0
#![cfg_attr(loom, allow(dead_code))]
use super::*;

#[cfg(loom)]
mod models;

fn leads<'a>(flights: &'a Flights, key: &'a [u8]) -> Leader<'a> {
    match flights.join(key, || {}) {
        Joined::Leads(leader) => leader,
        other => panic!("somebody else leads: {other:?}"),
    }
}

#[cfg(not(loom))]
mod alone {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_flight_that_was_detached_is_not_stored_and_another_may_take_off() {
        let flights = Flights::new();
        let stored = Cell::new(0);
        let store = || stored.set(stored.get() + 1);
        let first = leads(&flights, b"key");
        flights.detach(b"key");
        let second = leads(&flights, b"key");
        first.finish(b"1", store);
        assert_eq!(stored.get(), 0);
        second.finish(b"2", store);
        assert_eq!(stored.get(), 1);
        leads(&flights, b"key").finish(b"3", store);
        assert_eq!((stored.get(), flights.count.load(Ordering::Relaxed)), (2, 0));
    }

    #[test]
    fn detaching_all_detaches_each() {
        let flights = Flights::new();
        let leaders: Vec<_> = [&b"a"[..], b"b", b"c"].map(|key| leads(&flights, key)).into();
        flights.detach_all();
        assert_eq!(flights.count.load(Ordering::Relaxed), 0);
        leaders.into_iter().for_each(|leader| leader.finish(b"1", || panic!("it is stored")));
        drop(leads(&flights, b"a"));
        assert_eq!(flights.count.load(Ordering::Relaxed), 0);
    }

    #[test]
    #[should_panic(expected = "waits for itself")]
    fn to_wait_for_oneself_is_refused() {
        let flights = Flights::new();
        let _leader = leads(&flights, b"key");
        let _ = flights.join(b"key", || {});
    }
}
