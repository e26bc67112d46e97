// SPDX-License-Identifier: Apache-2.0
//! Strings that replies hold by reference: no memory of the clients while their keys have them, and once when these have lost them.

use super::{Flood, MIB, Rig};

const KEYS: usize = 100;
const LEN: usize = 100_000;
const CLIENTS: usize = 40;

fn set_all(rig: &mut Rig) {
    (0..KEYS).for_each(|n| rig.set(&format!("key:{n}"), LEN));
}

/// Requests all strings twice for each client. Sockets hold less than one time.
fn get_all_twice(deaf: &mut [Flood]) {
    let gets: String = (0..2 * KEYS).map(|n| format!("GET key:{}\r\n", n % KEYS)).collect();
    deaf.iter_mut().for_each(|flood| flood.send(gets.as_bytes()));
}

#[test]
fn strings_that_wait_for_clients_are_memory_when_their_keys_have_lost_them_and_once() {
    let mut rig = Rig::start(&["--maxmemory", "64mb"]);
    set_all(&mut rig);
    let before = rig.number("used_memory");
    let mut deaf: Vec<Flood> = (0..CLIENTS).map(|_| Flood::deaf(rig.address)).collect();
    get_all_twice(&mut deaf);
    let all = (CLIENTS * 2 * KEYS) as u64;
    rig.wait_for("all is executed", |rig| rig.number("keyspace_hits") == all);
    assert_eq!(rig.ask("SET another value"), "OK");
    assert_eq!((rig.number("evicted_clients"), rig.ask("DBSIZE")), (0, "101".to_owned()));
    // A block or two of 64 KiB for each, and its queue: a hundredth of what waits.
    let waiting = rig.number("used_memory");
    assert!(waiting < before + 10 * MIB, "{waiting} bytes used, {before} before");

    set_all(&mut rig);
    let strings = (KEYS * LEN) as u64;
    rig.wait_for("what keys have lost counts", |rig| {
        rig.number("used_memory") > waiting + strings / 10 * 8
    });
    let lost = rig.number("used_memory");
    assert!(lost < waiting + strings / 10 * 12, "{lost} bytes used, {waiting} before");
    assert_eq!(rig.number("evicted_clients"), 0);
    drop(deaf);
    rig.wait_for("it is freed", |rig| rig.number("used_memory") < before + 2 * MIB);
}

#[test]
fn who_does_not_read_what_is_overwritten_again_and_again_is_closed() {
    let mut rig = Rig::start(&["--maxmemory", "32mb"]);
    let mut deaf: Vec<Flood> = (0..CLIENTS).map(|_| Flood::deaf(rig.address)).collect();
    let mut rounds = 0;
    while rig.number("evicted_clients") == 0 {
        set_all(&mut rig);
        get_all_twice(&mut deaf);
        let used = rig.number("used_memory");
        assert!(used < 48 * MIB, "{used} bytes used");
        rounds += 1;
        assert!(rounds < 50, "nobody is closed");
    }
    set_all(&mut rig);
    assert_eq!(rig.ask("DBSIZE"), KEYS.to_string());
    rig.wait_for("the memory is free", |rig| rig.number("used_memory") < 34 * MIB);
}
