// SPDX-License-Identifier: Apache-2.0
//! Loads on memcached and redis-server, where they are installed.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use cacheperf::{Address, CompareSettings, Plan, Protocol, Target, compare, report};
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

#[test]
fn servers_are_compared_in_turns() {
    let (one, two) = (free_port(), free_port());
    let (Some(memcached), Some(redis)) = (memcached_command(one), redis_command(two)) else {
        return;
    };
    let servers = [
        format!("memcached=memcache,127.0.0.1:{one},{memcached}"),
        format!("redis=resp2,127.0.0.1:{two},{redis}"),
    ];
    let settings = CompareSettings {
        servers: servers.iter().map(|text| text.parse().unwrap()).collect(),
        floors: Vec::new(),
        rounds: 2,
        server_cpu: None,
        client_cpu: None,
        server_output: false,
        tls: None,
    };
    let plan = Plan { ..plan(target(Protocol::Memcache, ([127, 0, 0, 1], one).into())) };
    let mut turns = Vec::new();
    let comparison = compare(&settings, &plan, &mut |name, round, event| {
        if matches!(event, cacheperf::Event::Started) {
            turns.push((round, name.to_owned()));
        }
    });
    let comparison = comparison.unwrap();
    // The order changes from round to round.
    let names: Vec<_> = turns.iter().map(|(round, name)| (*round, name.as_str())).collect();
    assert_eq!(names, [(0, "memcached"), (0, "redis"), (1, "redis"), (1, "memcached")]);
    for contender in &comparison.contenders {
        assert_eq!(contender.samples.len(), 2);
        for sample in &contender.samples {
            assert_sound(&sample.outcome);
            assert!(sample.server_cpu_ns.unwrap() > 0.0, "3,000 requests cost something");
        }
    }
    let text = report::compare::summary(&comparison);
    assert!(text.contains("memcached") && text.contains("1.00 [1.00 – 1.00]"), "{text}");
    let page = report::compare::page_of(&comparison);
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(&page, options).unwrap();
    let plots = document.descendants().filter(|node| node.tag_name().name() == "svg").count();
    assert_eq!(plots, 3);
}
