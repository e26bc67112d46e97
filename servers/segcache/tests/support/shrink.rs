// SPDX-License-Identifier: Apache-2.0
//! Runs a sequence of commands against both servers, and makes one that they answer differently as
//! short as it gets.

use crate::support::exchange::{Answer, Client, End};
use crate::support::older;
use crate::support::process::{self, Server};
use crate::support::unit::{Side, Unit, batches};
use std::time::{Duration, Instant};
use test_support::memcached::Memcached;
use test_support::random::Random;

/// How long shorter sequences are tried.
const SHRINK_LIMIT: Duration = Duration::from_secs(60);

/// How a sequence is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Delivery {
    /// Pipelined in batches, cut in pieces.
    Batches { seed: u64 },
    /// One command after the other.
    Single,
}

/// Two answers that differ.
#[derive(Debug)]
pub(crate) struct Difference {
    /// The units up to the end of the batch that is answered differently.
    pub(crate) units: Vec<Unit>,
    pub(crate) oracle: Answer,
    pub(crate) ours: Answer,
}

/// Starts both servers and sends them `units`. `None` when they answer the same, or when there is no
/// oracle.
pub(crate) fn compare(
    storage: &str,
    units: &[Unit],
    delivery: Delivery,
) -> Option<Box<Difference>> {
    let installed = Memcached::find()?;
    let side = if installed.is_reference() { Side::Reference } else { Side::Older };
    let (oracle, ours) = servers(storage)?;
    let cuts = |salt| match delivery {
        Delivery::Batches { seed } => Some(Random::new(seed ^ salt)),
        Delivery::Single => None,
    };
    let mut oracle = Client::connect(side, oracle.address, cuts(1));
    let mut ours = Client::connect(Side::Ours, ours.address, cuts(2));
    let batches = match delivery {
        Delivery::Batches { .. } => batches(units),
        Delivery::Single => units.chunks(1).collect(),
    };
    let mut done = 0;
    for batch in batches {
        done += batch.len();
        let (theirs, answer) = std::thread::scope(|scope| {
            let theirs = scope.spawn(|| oracle.exchange(batch));
            let answer = ours.exchange(batch);
            (theirs.join().expect("the client does not fail"), answer)
        });
        if !agree(&theirs, &answer) {
            let units = units[..done].to_vec();
            return Some(Box::new(Difference { units, oracle: theirs, ours: answer }));
        }
    }
    None
}

/// Leaves out of `units` what the installed memcached is known to answer otherwise, because it is older than the
/// reference.
pub(crate) fn comparable(units: &mut Vec<Unit>) {
    let Some(installed) = Memcached::find() else { return };
    println!("memcached {}", installed.version);
    if !installed.is_reference() {
        let all = units.len();
        let version = installed.version;
        let differs =
            |line: &[u8]| older::has_other_meta(version, line) || older::answers_otherwise(line);
        units.retain(|unit| !unit.lines().any(differs));
        let left_out = all - units.len();
        installed.not_compared(&format!("{left_out} of {all} commands"));
    }
}

/// Both servers, ours over `storage`, with as much memory as keeps both from evicting.
pub(crate) fn servers(storage: &str) -> Option<(Server, Server)> {
    // -X: each lists items in an order of its own.
    // Its background threads hold on to items at times of their own, and then incr does not pad; nor does it while
    // another thread has not let go of an item whose reply has arrived.
    let quiet = "no_lru_maintainer,no_lru_crawler";
    let oracle = process::memcached(&["-m", "1024", "-I", "1m", "-X", "-t", "1", "-o", quiet])?;
    let flags = ["-m", "1024", "-I", "1m", "-X", "-t", "2"];
    let ours = process::segcache(&flags, &process::over(storage));
    Some((oracle, ours))
}

/// Whether two answers are the same. Neither server may be stuck, also not both.
fn agree(oracle: &Answer, ours: &Answer) -> bool {
    oracle == ours && ours.end != End::Stuck
}

/// The shortest sequence found that still shows a difference.
pub(crate) fn shrink(storage: &str, found: Box<Difference>, delivery: Delivery) -> Box<Difference> {
    let deadline = Instant::now() + SHRINK_LIMIT;
    let (mut best, delivery) = tail(storage, found, delivery);
    let mut size = best.units.len().div_ceil(2);
    loop {
        let mut at = 0;
        let mut shorter = false;
        while at < best.units.len() && Instant::now() < deadline {
            let end = (at + size).min(best.units.len());
            let rest = [&best.units[..at], &best.units[end..]].concat();
            match compare(storage, &rest, delivery) {
                Some(difference) => {
                    best = difference;
                    shorter = true;
                }
                None => at = end,
            }
        }
        if Instant::now() >= deadline || (size == 1 && !shorter) {
            return best;
        }
        size = size.div_ceil(2);
    }
}

/// The last units alone, if they show a difference, one by one if that is enough.
fn tail(storage: &str, found: Box<Difference>, delivery: Delivery) -> (Box<Difference>, Delivery) {
    for len in [10, 100, 1_000, 10_000] {
        let last = &found.units[found.units.len().saturating_sub(len)..];
        for delivery in [Delivery::Single, delivery] {
            if let Some(difference) = compare(storage, last, delivery) {
                return (difference, delivery);
            }
        }
    }
    (found, delivery)
}
