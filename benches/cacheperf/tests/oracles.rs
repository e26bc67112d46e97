// SPDX-License-Identifier: Apache-2.0
//! Loads on memcached and redis-server, where they are installed.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use cacheperf::{
    Address, CompareSettings, Comparison, KeySpace, Load, Offer, Protocol, Spread, Target, compare,
    report,
};
use support::oracle::{free_port, memcached_command, redis_command, start};
use support::{assert_sound, outcome, plan};

fn target(protocol: Protocol, address: std::net::SocketAddr) -> Target {
    Target::new(protocol, Address::Tcp(address.to_string()))
}

#[test]
fn memcached_understands_both_kinds_of_commands() {
    let Some(server) = start(memcached_command) else { return };
    for protocol in [Protocol::Memcache, Protocol::Meta] {
        assert_sound(&outcome(&plan(target(protocol, server.address))));
    }
}

#[test]
fn redis_understands_both_versions() {
    let Some(server) = start(redis_command) else { return };
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        assert_sound(&outcome(&plan(target(protocol, server.address))));
    }
}

#[test]
fn what_lives_for_a_second_is_stored() {
    let Some(server) = start(memcached_command) else { return };
    for protocol in [Protocol::Memcache, Protocol::Meta] {
        let mut plan = plan(target(protocol, server.address));
        plan.workload = support::workload("set=1");
        plan.workload.ttl_s = "10-20".parse().unwrap();
        let outcome = outcome(&plan);
        assert_eq!((outcome.sets, outcome.errors), (3_000, 0), "{:?}", outcome.first_errors);
    }
}

/// Both servers, and how they are compared twice.
fn both() -> Option<CompareSettings> {
    let (one, two) = (free_port(), free_port());
    let servers = [
        format!("memcached=memcache,127.0.0.1:{one},{}", memcached_command(one)?),
        format!("redis=resp2,127.0.0.1:{two},{}", redis_command(two)?),
    ];
    Some(CompareSettings {
        servers: servers.iter().map(|text| text.parse().unwrap()).collect(),
        floors: Vec::new(),
        rounds: 2,
        server_cpu: None,
        client_cpu: None,
        server_output: false,
        tls: None,
    })
}

fn load(name: &str) -> Load {
    let nowhere = target(Protocol::Memcache, ([127, 0, 0, 1], 0).into());
    Load { name: name.to_owned(), plan: plan(nowhere), offers: Vec::new() }
}

/// The measurements in their order: round, load, server.
fn compared(settings: &CompareSettings, loads: &[Load]) -> (Vec<String>, Vec<Comparison>) {
    let mut turns = Vec::new();
    let found = compare(settings, loads, &mut |turn, event| {
        if let (cacheperf::Event::Started, Some(round)) = (event, turn.round) {
            turns.push(format!("{round} {} {}", turn.load, turn.server));
        }
    });
    (turns, found.unwrap())
}

#[test]
fn servers_are_compared_in_turns() {
    let Some(settings) = both() else { return };
    let (turns, found) = compared(&settings, &[load("")]);
    // The order changes from round to round.
    assert_eq!(turns, ["0  memcached", "0  redis", "1  redis", "1  memcached"]);
    assert_eq!(found.len(), 1);
    for contender in &found[0].contenders {
        assert_eq!(contender.samples.len(), 2);
        for sample in &contender.samples {
            assert_sound(&sample.outcome);
            assert!(sample.server_cpu_ns.unwrap() > 0.0, "3,000 requests cost something");
        }
    }
    let text = report::compare::summary(&found);
    assert!(text.contains("memcached") && text.contains("1.00 [1.00 – 1.00]"), "{text}");
}

#[test]
fn loads_take_turns_and_have_their_own_keys() {
    let Some(settings) = both() else { return };
    let gets = |name: &str, value_size: u32| {
        let mut load = load(name);
        load.plan.workload = support::workload("get=1");
        let sizes = (Spread::fixed(20), Spread::fixed(value_size));
        load.plan.workload.keys = KeySpace::new(200, sizes.0, sizes.1).unwrap();
        load
    };
    let (turns, found) = compared(&settings, &[gets("small", 10), gets("large", 2_000)]);
    let expected = [
        "0 small memcached",
        "0 small redis",
        "0 large memcached",
        "0 large redis",
        "1 large redis",
        "1 large memcached",
        "1 small redis",
        "1 small memcached",
    ];
    assert_eq!(turns, expected);
    for (comparison, name) in found.iter().zip(["small", "large"]) {
        assert_eq!(comparison.name, name);
        for sample in comparison.contenders.iter().flat_map(|contender| &contender.samples) {
            let outcome = &sample.outcome;
            // All is there, and as it was written.
            assert_eq!((outcome.gets, outcome.hits, outcome.errors), (3_000, 3_000, 0));
        }
    }
}

#[test]
fn rates_are_shares_of_the_peak_of_the_first() {
    let Some(settings) = both() else { return };
    let mut load = load("");
    load.offers = vec![Offer::OfPeak(0.1), Offer::OfPeak(0.2)];
    let (turns, found) = compared(&settings, &[load]);
    assert_eq!((turns.len(), found.len()), (8, 2));
    for (comparison, share) in found.iter().zip([0.1, 0.2]) {
        let peak = comparison.peak.unwrap();
        assert!(peak.rate > 100.0 && peak.share == share);
        for sample in comparison.contenders.iter().flat_map(|contender| &contender.samples) {
            let offered = sample.outcome.offered_rate.unwrap();
            assert!((offered - peak.rate * share).abs() <= 1.0, "{offered} of {peak:?}");
            assert_eq!((sample.outcome.answered, sample.outcome.errors), (3_000, 0));
        }
    }
    let rates = found.iter().map(|one| one.peak.unwrap().rate).collect::<Vec<_>>();
    assert_eq!(rates[0], rates[1], "measured once");
}
