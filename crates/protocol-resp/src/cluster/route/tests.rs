// SPDX-License-Identifier: Apache-2.0
//! Tests of routes.

use super::*;

const UP: WhenDown = WhenDown { needs_all_slots: true, serves_reads: false, serves_channels: true };

/// Two nodes: A has slots below 8000, B all others but `unserved`; C is a replica of A.
fn topology(myself: char, moves: &str, unserved: Option<u16>) -> Topology {
    let last = unserved.map_or(16_383, |slot| slot - 1);
    let text = format!(
        "A 10.0.0.1:1@1 master - 0 0 1 connected 0-7999\n\
         B 10.0.0.2:2@2 master - 0 0 1 connected 8000-{last}\n\
         C 10.0.0.3:3@3 slave A 0 0 1 connected\n"
    );
    let flags = |line: &str| {
        let line =
            line.replacen(" master", " myself,master", 1).replacen(" slave", " myself,slave", 1);
        format!("{line} {moves}")
    };
    let lines =
        text.lines().map(|line| if line.starts_with(myself) { flags(line) } else { line.into() });
    let text = lines.collect::<Vec<String>>().join("\n");
    let long = |text: String, letter: &str| text.replace(letter, &letter.to_lowercase().repeat(40));
    let text = ["A", "B", "C"].into_iter().fold(text, long);
    Topology::read(text.as_bytes()).unwrap()
}

/// Slots of keys: bar 5061, foo 12182.
fn decide(topology: &Topology, keys: &[&str], asked: Asked) -> Result<(), Redirection> {
    let mut route = Route::new(topology);
    for key in keys {
        // Those with an x are here.
        route.key(key.as_bytes(), |key| key.ends_with(b"x"));
    }
    route.decide(asked, UP)
}

const READ: Asked = Asked {
    writes: false,
    is_on_channels: false,
    reads_only: false,
    is_asking: false,
    moves_slots: false,
};
const WRITE: Asked = Asked { writes: true, ..READ };

#[test]
fn keys_of_other_nodes_are_theirs() {
    let topology = topology('A', "", None);
    assert_eq!(decide(&topology, &[], READ), Ok(()));
    assert_eq!(decide(&topology, &["bar", "{bar}2"], WRITE), Ok(()));
    let moved = Redirection::Moved { slot: 12_182, node: 1 };
    assert_eq!(decide(&topology, &["foo"], READ), Err(moved));
    assert_eq!(decide(&topology, &["bar", "foo"], READ), Err(Redirection::CrossSlot));
    let told = |endpoint| moved.fault(&topology, endpoint, false);
    assert_eq!(told(Endpoint::Ip).text(), b"MOVED 12182 10.0.0.2:2");
    assert_eq!(told(Endpoint::Hostname).text(), b"MOVED 12182 ?:2");
    assert_eq!(told(Endpoint::Unknown).text(), b"MOVED 12182 :2");
}

#[test]
fn a_replica_serves_reads_of_those_who_say_so() {
    let topology = topology('C', "", None);
    let moved = |slot, node| Err(Redirection::Moved { slot, node });
    let reads_only = Asked { reads_only: true, ..READ };
    assert_eq!(decide(&topology, &["bar"], READ), moved(5061, 0));
    assert_eq!(decide(&topology, &["bar"], reads_only), Ok(()));
    assert_eq!(decide(&topology, &["bar"], Asked { writes: true, ..reads_only }), moved(5061, 0));
    assert_eq!(decide(&topology, &["foo"], reads_only), moved(12_182, 1));
    assert_eq!(decide(&topology, &["bar"], Asked { is_on_channels: true, ..READ }), Ok(()));
}

#[test]
fn a_slot_that_goes_is_served_as_far_as_it_is_here() {
    let topology = topology('A', &format!("[5061->-{}]", "B"), None);
    assert_eq!(decide(&topology, &["{bar}x"], WRITE), Ok(()));
    let ask = Err(Redirection::Ask { slot: 5061, node: 1 });
    assert_eq!(decide(&topology, &["bar", "{bar}2"], WRITE), ask);
    assert_eq!(decide(&topology, &["{bar}x", "bar"], READ), Err(Redirection::TryAgain));
    let mut route = Route::new(&topology);
    route.channel(b"bar");
    assert_eq!(route.decide(Asked { is_on_channels: true, ..READ }, UP), Ok(()));
}

#[test]
fn a_slot_that_comes_is_served_to_those_who_ask() {
    let topology = topology('B', "[5061-<-A]", None);
    let asking = Asked { is_asking: true, ..WRITE };
    let moved = Err(Redirection::Moved { slot: 5061, node: 0 });
    assert_eq!(decide(&topology, &["bar"], WRITE), moved);
    assert_eq!(decide(&topology, &["bar"], asking), Ok(()));
    assert_eq!(decide(&topology, &["bar", "bar"], asking), Ok(()));
    assert_eq!(decide(&topology, &["bar", "{bar}x"], asking), Err(Redirection::TryAgain));
    assert_eq!(decide(&topology, &["{bar}1x", "{bar}2x"], asking), Ok(()));
}

#[test]
fn without_all_slots_nothing_is_served_unless_configured() {
    let topology = topology('A', "", Some(16_383));
    let decide = |asked, when_down| {
        let mut route = Route::new(&topology);
        route.key(b"bar", |_| true);
        route.decide(asked, when_down)
    };
    let on_channels = Asked { is_on_channels: true, ..READ };
    assert_eq!(decide(READ, UP), Err(Redirection::Down));
    assert_eq!(decide(on_channels, UP), Ok(()));
    let no_channels = WhenDown { serves_channels: false, ..UP };
    assert_eq!(decide(on_channels, no_channels), Err(Redirection::Down));
    let reads = WhenDown { serves_reads: true, ..UP };
    assert_eq!(decide(READ, reads), Ok(()));
    assert_eq!(decide(WRITE, reads), Err(Redirection::DownForWrites));
    assert_eq!(decide(WRITE, WhenDown { needs_all_slots: false, ..UP }), Ok(()));
    let mut route = Route::new(&topology);
    // The slot that nobody has.
    let last = crate::cluster::slots::tag_for(16_383);
    route.key(last.as_bytes(), |_| true);
    let served = route.decide(READ, WhenDown { needs_all_slots: false, ..UP });
    assert_eq!(served, Err(Redirection::Unserved));
}

#[test]
fn what_moves_slots_is_served_while_they_move() {
    let migrate = Asked { moves_slots: true, ..WRITE };
    let to_b = format!("[5061->-{}]", "b".repeat(40));
    for (myself, moves) in [('A', to_b.as_str()), ('B', &format!("[5061-<-{}]", "a".repeat(40)))] {
        let topology = topology(myself, moves, None);
        assert_eq!(decide(&topology, &["bar", "{bar}x"], migrate), Ok(()), "{myself}");
        let crossing = decide(&topology, &["bar", "foo"], migrate);
        assert_eq!(crossing, Err(Redirection::CrossSlot), "{myself}");
    }
    let settled = topology('B', "", None);
    assert_eq!(
        decide(&settled, &["bar"], migrate),
        Err(Redirection::Moved { slot: 5061, node: 0 })
    );
}
