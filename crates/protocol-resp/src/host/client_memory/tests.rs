// SPDX-License-Identifier: Apache-2.0
//! Who must go, and when.

use super::*;
use protocol::Peer;

fn load(serial: u64, moving: u64, lasting: u64) -> Load {
    Load { moving, lasting, ..Load::new(ConnectionId::new(0, serial)) }
}

/// Whose memory each client has for itself.
const APART: Taken = Taken { total: u64::MAX, unsent: u64::MAX };

fn serials(chosen: &[Load]) -> Vec<u64> {
    chosen.iter().map(|load| load.id.serial()).collect()
}

#[test]
fn those_who_take_most_go_until_the_others_fit() {
    let loads = vec![load(1, 10, 0), load(2, 0, 50), load(3, 20, 20), load(4, 0, 5)];
    let of = |most| serials(&choose(loads.clone(), Allowance::Together(most), APART));
    assert_eq!(of(105), [], "it is what they take");
    assert_eq!(of(104), [2]);
    assert_eq!(of(55), [2]);
    assert_eq!(of(54), [2, 3]);
    assert_eq!(of(0), [2, 3, 1, 4]);
}

#[test]
fn what_is_on_its_way_has_a_bound_of_its_own() {
    let loads = vec![load(1, 60, 0), load(2, 50, 0), load(3, 0, 30), load(4, 40, 10)];
    let of = |lasting, moving| {
        serials(&choose(loads.clone(), Allowance::Apart { lasting, moving }, APART))
    };
    assert_eq!(of(40, 150), []);
    assert_eq!(of(39, 150), [3]);
    assert_eq!(of(40, 149), [1]);
    assert_eq!(of(5, 110), [3, 4], "what the fourth sends is gone with it");
}

#[test]
fn of_those_who_may_not_read_one_is_waited_for() {
    let doubtful = |serial, doubtful| Load { doubtful, ..load(serial, 0, 0) };
    let loads = vec![doubtful(1, 50), doubtful(2, 40), doubtful(3, 30), load(4, 45, 0)];
    let of = |lasting, moving| {
        serials(&choose(loads.clone(), Allowance::Apart { lasting, moving }, APART))
    };
    assert_eq!(of(70, 95), [], "the first is on its way with what is read");
    assert_eq!(of(69, 95), [2]);
    assert_eq!(of(20, 95), [2, 3]);
    assert_eq!(of(20, 94), [2, 3, 1]);
    assert_eq!(serials(&choose(loads.clone(), Allowance::Together(164), APART)), [1]);
}

#[test]
fn messages_that_others_share_weigh_on_who_leaves_them_unread() {
    let at = Ticks::from_millis;
    let peer = Arc::new(Peer::new(ConnectionId::new(0, 1), "tcp:1".into(), "tcp:0", at(0)));
    let parts = |now| {
        let load = Load::of(Arc::clone(&peer), now);
        assert_eq!(load.total(), 4_010, "all of it counts for maxmemory-clients");
        (load.moving, load.doubtful, load.lasting)
    };
    peer.hold(10, 4_000, 100);
    assert_eq!(parts(at(10)), (10, 100, 0));
    peer.leave_unread(Some(at(20)));
    assert_eq!(parts(at(1_019)), (10, 100, 0));
    assert_eq!(parts(at(1_020)), (10, 0, 4_000));
    peer.leave_unread(None);
    peer.prove_reader();
    assert_eq!(parts(at(2_000)), (110, 0, 0));
}

/// A client whose replies are strings by reference: that it reads, or has left unread for long.
fn by_reference(serial: u64, read: u64, left: u64) -> Load {
    Load { shared: read, left, lasting: left, ..load(serial, 0, 0) }
}

#[test]
fn what_keys_have_is_no_memory_of_those_who_wait_for_it() {
    let (own, output) = (load(4, 20, 30), 25);
    let loads =
        vec![by_reference(1, 800, 0), by_reference(2, 800, 0), by_reference(3, 0, 800), own];
    let of = |orphans, allowance| {
        let unsent = output + orphans;
        let mut loads = loads.clone();
        loads[3].own_output = output;
        serials(&choose(loads, allowance, Taken { total: 50 + orphans, unsent }))
    };
    let apart = |lasting, moving| Allowance::Apart { lasting, moving };
    assert_eq!(of(0, Allowance::Together(50)), []);
    assert_eq!(of(0, Allowance::Together(49)), [4], "what is its own");
    assert_eq!(of(0, apart(30, 20)), []);
    assert_eq!(of(0, apart(29, 19)), [4]);
    assert_eq!(of(100, apart(130, 20)), [], "what the third does not read is no more than all");
    assert_eq!(of(100, apart(129, 20)), [3]);
}

#[test]
fn what_keys_have_lost_weighs_once_on_those_who_wait_for_it() {
    let loads = vec![by_reference(1, 60, 0), by_reference(2, 70, 0), load(3, 40, 0)];
    let of = |orphans, moving| {
        let taken = Taken { total: 40 + orphans, unsent: orphans };
        serials(&choose(loads.clone(), Allowance::Apart { lasting: 0, moving }, taken))
    };
    assert_eq!(of(0, 40), []);
    assert_eq!(of(65, 105), [], "both may wait for the same");
    assert_eq!(of(65, 104), [2]);
    assert_eq!(of(130, 100), [2]);
    assert_eq!(of(130, 99), [2, 1]);
    let unread = vec![by_reference(1, 500, 0), by_reference(2, 0, 500)];
    let taken = Taken { total: 300, unsent: 300 };
    let chosen = choose(unread, Allowance::Apart { lasting: 100, moving: 100 }, taken);
    assert_eq!(serials(&chosen), [2], "who leaves it unread");
}

#[test]
fn messages_of_those_who_read_weigh_once_however_many_wait_for_them() {
    let of = |own: u64, messages: u64| {
        let loads: Vec<_> = (1..=20)
            .map(|serial| Load { own_output: own, moving: own, ..by_reference(serial, 1_000, 0) })
            .collect();
        let taken = Taken { total: 20 * own + messages, unsent: 20 * own + messages };
        choose(loads, Allowance::Apart { lasting: 50, moving: 10_000 }, taken).len()
    };
    assert_eq!(of(10, 1_000), 0, "all wait for the same");
    assert_eq!(of(10, 9_800), 0);
    assert_eq!(of(10, 20_000), 11, "each waits for its own: nine of 1,010 fit");
}

#[test]
fn orphans_are_buffers_that_wait_to_be_sent() {
    let client_memory = ClientMemory::default();
    client_memory.note_orphans(0, 500);
    client_memory.note_orphans(500, 300);
    assert_eq!(client_memory.buffers(), 300);
    let Taken { total, unsent } = client_memory.taken();
    assert_eq!((total, unsent), (300, 300));
}

#[test]
fn what_is_freed_soon_is_no_more_than_there_is() {
    let (client_memory, settings) = (ClientMemory::default(), Settings::default());
    let buffers = Buffers { bytes: 5_000, unsent: 5_000 };
    client_memory.note((Buffers::default(), buffers), (0, 100));
    let id = |serial| ConnectionId::new(0, serial);
    let cut = (0..40).map(|serial| (id(serial), 4_000)).collect();
    *client_memory.round.lock() = Round { cut, fruitless: None };
    client_memory.publish(&client_memory.round.lock(), &settings);
    assert_eq!(client_memory.leaving.load(Relaxed), 5_100);
}

#[test]
fn who_is_spared_counts_and_stays() {
    let spared = Load { is_spared: true, ..load(1, 0, 100) };
    let loads = vec![spared, load(2, 0, 10), load(3, 0, 60)];
    assert_eq!(serials(&choose(loads, Allowance::Together(150), APART)), [3]);
}

#[test]
fn nobody_goes_for_what_one_who_is_spared_takes_alone() {
    let spared = Load { is_spared: true, ..load(1, 0, 1_000) };
    let loads = vec![spared, load(2, 0, 10), load(3, 0, 20), load(4, 0, 60)];
    assert_eq!(
        serials(&choose(loads, Allowance::Together(200), APART)),
        [4],
        "a quarter is its share"
    );
}

#[test]
fn the_limit_is_in_bytes_or_percent_and_no_less_than_redis_has_it() {
    let client_memory = ClientMemory::default();
    let in_force = |limit, maxmemory| {
        client_memory.set_limit(limit);
        client_memory.configured(maxmemory)
    };
    assert_eq!(in_force(0, 1 << 30), None);
    assert_eq!(in_force(5 << 20, 0), Some(5 << 20));
    assert_eq!(in_force(1, 0), Some(LEAST));
    assert_eq!(in_force(-10, 100 << 20), Some(10 << 20));
    assert_eq!(in_force(-1, 1 << 20), Some(LEAST));
    assert_eq!(in_force(-10, 0), None, "a part of no limit");
    assert_eq!(in_force(-100, u64::MAX), Some(u64::MAX));
}

#[test]
fn clients_give_way_when_room_is_needed() {
    const MIB: u64 = 1 << 20;
    let (client_memory, settings) = (ClientMemory::default(), Settings::default());
    let apart = Some(Allowance::Apart { lasting: 5 * MIB, moving: 50 * MIB });
    assert!(matches!(client_memory.allowance(&settings, 0, false), Some(Allowance::Together(_))));
    settings.set_maxmemory(100 * MIB);
    assert_eq!(client_memory.allowance(&settings, 100 * MIB, true), None, "there is room");
    assert_eq!(client_memory.allowance(&settings, 101 * MIB, true), apart);
    assert_eq!(client_memory.allowance(&settings, 105 * MIB, false), None, "nobody wants to write");
    assert_eq!(client_memory.allowance(&settings, 106 * MIB, false), apart);
    settings.set_policy(Policy::AllkeysLru);
    assert_eq!(client_memory.allowance(&settings, 101 * MIB, false), apart, "else keys would go");
    client_memory.set_limit(-7);
    assert_eq!(client_memory.allowance(&settings, 0, false), Some(Allowance::Together(7 * MIB)));
}

#[test]
fn requests_that_arrive_close_nobody_while_nobody_wants_to_write_and_unread_replies_do() {
    const MIB: u64 = 1 << 20;
    let (client_memory, settings) = (ClientMemory::default(), Settings::default());
    settings.set_maxmemory(100 * MIB);
    let arriving = Buffers { bytes: 20 * MIB, unsent: 0 };
    client_memory.note((Buffers::default(), arriving), (0, 0));
    assert_eq!(client_memory.allowance(&settings, 125 * MIB, false), None);
    assert!(client_memory.allowance(&settings, 126 * MIB, false).is_some());
    client_memory.note((arriving, Buffers { bytes: 20 * MIB, unsent: 19 * MIB }), (0, 0));
    assert_eq!(client_memory.allowance(&settings, 106 * MIB, false), None);
    assert!(client_memory.allowance(&settings, 107 * MIB, false).is_some());
}

#[test]
fn a_client_holds_more_where_there_is_room_or_within_the_share() {
    const MIB: u64 = 1 << 20;
    let (client_memory, settings) = (ClientMemory::default(), Settings::default());
    let admits = |more, used| client_memory.admit(more, used, &settings).is_ok();
    assert!(admits(MIB, 0) && !admits(u64::MAX, 0), "a part of the machine's memory");
    settings.set_maxmemory(100 * MIB);
    assert!(admits(90 * MIB, 10 * MIB) && !admits(91 * MIB, 10 * MIB));
    let none = (Buffers::default(), Buffers::default());
    client_memory.note(none, (0, 3 * MIB));
    assert!(admits(2 * MIB, 120 * MIB) && !admits(3 * MIB, 120 * MIB), "five are guaranteed");
    client_memory.note(none, (3 * MIB, 0));
    assert!(admits(5 * MIB, 120 * MIB));
}
