// SPDX-License-Identifier: Apache-2.0
//! Generated RESP commands, sent to redis-server 7.0 and to `segcache`: the replies are the same, byte
//! for byte, in RESP2 and in RESP3, over every storage.
//!
//! Commands come in pipelines, and each server gets them cut into different pieces. Few keys are used, so
//! that commands work on data that earlier ones left. A difference is shrunk to the shortest sequence of
//! commands and printed.
//!
//! * `SHOEBILL_COMMANDS`: how many commands over the default storage in RESP2, 20,000 unless set; a
//!   fourth of them in RESP3, and over the other storage.
//! * `SHOEBILL_SEED`: which ones, 1 unless set.
//! * `SHOEBILL_SEGCACHE`: another build of the server, such as the release build.
//! * `SHOEBILL_REQUIRE_ORACLES=1`: fail where redis-server is missing, instead of passing with a message.
//!
//! Compared in part:
//!
//! * TTL, PTTL, EXPIRETIME, PEXPIRETIME: to two seconds, as the servers do not execute at once.
//! * KEYS, and all steps of a walk with SCAN together: as sets.
//! * DBSIZE: that it is an integer. Here it counts keys that are dead and not yet freed.
//!
//! Left out:
//!
//! * Commands that only Redis has, among them all of other types, MULTI and what CLIENT, COMMAND and
//!   CONFIG have besides what is here; they are unknown here.
//! * What describes the server: HELLO, INFO, COMMAND, CONFIG, CLIENT LIST and INFO.
//! * MSETNX of several keys, which is refused here. SELECT of another database than 0.
//! * Values of more than a mebibyte: the limit of `segcache` unless told otherwise.
//! * Numbers with spaces behind them, which Redis takes for none.
//! * Expiries in the near future, which depend on when the command arrives; the stories of
//!   `protocol-resp` have them, under a clock of their own.
//! * Requests that break the protocol, after which a connection closes: `protocol-resp` plays them.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[allow(dead_code, reason = "modules of several test binaries")]
mod support {
    pub(crate) mod process;
}
mod resp_support {
    pub(crate) mod compare;
    pub(crate) mod generate;
    pub(crate) mod peer;
    pub(crate) mod words;
}

use resp_support::compare::{Servers, shrink};
use resp_support::generate::Generator;
use support::process::STORAGES;

/// The number in an environment variable.
fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

#[test]
fn replies_are_those_of_redis() {
    let seed = variable("SHOEBILL_SEED").unwrap_or(1);
    let count = variable("SHOEBILL_COMMANDS").unwrap_or(20_000) as usize;
    let [default, other] = STORAGES;
    for (storage, version, share) in [(default, 2, 1), (default, 3, 4), (other, 2, 4)] {
        let Some(mut servers) = Servers::start(storage, version) else { return };
        println!("{count} / {share} commands of SHOEBILL_SEED={seed}, RESP{version}, {storage}");
        let units = Generator::new(seed + share as u64).units(count / share);
        if let Some(found) = servers.compare(&units, Some(seed)) {
            eprintln!(
                "\nSHOEBILL_SEED={seed} SHOEBILL_COMMANDS={count}: the replies in RESP{version} over \
                 {storage} differ, shrinking …"
            );
            panic!("{}", shrink(&mut servers, &units, found));
        }
    }
}
