// SPDX-License-Identifier: Apache-2.0
//! Generated commands, sent to memcached and to `segcache`: the replies are the same, byte for byte.
//!
//! Commands come in batches, pipelined, and each server gets them cut into different pieces. Few keys are
//! used, so that commands work on data that earlier ones left. A difference is shrunk to the shortest
//! sequence of commands and printed.
//!
//! * `SHOEBILL_COMMANDS`: how many commands over the default storage, 20,000 unless set; a tenth of them
//!   over the other.
//! * `SHOEBILL_SEED`: which ones, 1 unless set.
//! * `SHOEBILL_SEGCACHE`: another build of the server, such as the release build.
//! * `SHOEBILL_REQUIRE_ORACLES=1`: fail where memcached is missing, instead of passing with a message.
//!
//! Compared in part:
//!
//! * CAS numbers by their pattern: which of a key's numbers are equal, and in what order they were
//!   first seen. memcached's never come again under another key, ours may.
//! * `version`: that there is an answer, not its text.
//! * `stats`: what ends it; the `STAT` lines are left out, names and figures differ by nature.
//! * A storage line that is refused although its length can be read: memcached 1.6.18 goes on to parse
//!   its body, which is dropped here as by 1.6.45. So only `segcache` gets the body, and the same must
//!   come of it.
//!
//! Left out:
//!
//! * Storage lines with more words than they take, `cas` without its number, and lengths of 2^32 and
//!   more, of which memcached 1.6.18 keeps the low half: all are as in 1.6.45 here. The sessions of
//!   `protocol-memcache` have them.
//! * Commands that only memcached has: meta (`mg` …), `lru`, `lru_crawler`, `slabs`, `watch`,
//!   `cache_memlimit`, `shutdown`, `refresh_certs`, `extstore`. Here they are unknown: `ERROR`.
//! * `stats detail`: it counts by prefix of key, which is refused here.
//! * `incr` and `decr` of 2^63 and more, and of white space: memcached then looks beyond the end of the
//!   value, into what its memory held before.
//! * Values in the last 400 bytes below the limit, which memcached counts with key and header.
//! * Lines of 2,048 to 40,000 bytes other than of `get` and `gets`: whether memcached closes the
//!   connection then depends on how they arrive.
//! * Expiry times and flushes in the near future, which depend on when the command arrives; the
//!   sessions of `protocol-memcache` have them, under a clock of their own.
//! * Commands before a reading command whose line has a key that is too long, in one batch:
//!   memcached drops those of their replies that it has not sent yet.
//! * `incr` and `decr` behind a reading command in one batch: memcached pads a number that gets shorter
//!   with spaces, but not while a reply that is not sent yet holds on to it.
//! * A delayed `flush_all` right behind an immediate one: memcached shows again what it flushed, as
//!   far as nobody has asked for it in between. So all keys are read before.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support {
    pub(crate) mod exchange;
    pub(crate) mod generate;
    pub(crate) mod process;
    pub(crate) mod replies;
    pub(crate) mod shrink;
    pub(crate) mod unit;
    pub(crate) mod words;
}

use support::generate::Generator;
use support::process::STORAGES;
use support::shrink::{Delivery, Difference, compare, servers, shrink};

/// The number in an environment variable.
fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

#[test]
fn replies_are_those_of_memcached() {
    for (storage, share) in STORAGES.into_iter().zip([1, 10]) {
        compare_all(storage, share);
    }
}

/// Compares one of `share` commands over `storage`.
fn compare_all(storage: &str, share: usize) {
    if servers(storage).is_none() {
        return;
    }
    let seed = variable("SHOEBILL_SEED").unwrap_or(1);
    let count = variable("SHOEBILL_COMMANDS").unwrap_or(20_000) as usize;
    println!("{count} / {share} commands of SHOEBILL_SEED={seed} over {storage}");
    let units = Generator::new(seed).units(count / share);
    let delivery = Delivery::Batches { seed };
    if let Some(difference) = compare(storage, &units, delivery) {
        eprintln!(
            "\nSHOEBILL_SEED={seed} SHOEBILL_COMMANDS={count}: the replies over {storage} differ, \
             shrinking …"
        );
        let difference = shrink(storage, difference, delivery);
        panic!("{}", report(&difference));
    }
}

/// The commands, the last of which are answered differently, and both answers.
fn report(difference: &Difference) -> String {
    let mut report = String::from("memcached and segcache differ after\n");
    for unit in &difference.units {
        report.push_str(&format!("  > {}\n", unit.show()));
    }
    let answers = [("memcached", &difference.oracle), ("segcache", &difference.ours)];
    let [oracle, ours] = answers.map(|(_, answer)| &answer.replies);
    let same = oracle.iter().zip(ours).take_while(|(a, b)| a == b).count();
    report.push_str(&format!("after {same} bytes of replies that are the same:\n"));
    for (name, answer) in answers {
        let start = same.saturating_sub(200);
        let end = answer.replies.len().min(same + 400);
        let shown = answer.replies[start..end].escape_ascii();
        report.push_str(&format!("{name}: {:?}\n  < … {shown}\n", answer.end));
    }
    report
}
