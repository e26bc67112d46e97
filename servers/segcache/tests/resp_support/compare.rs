// SPDX-License-Identifier: Apache-2.0
//! [`Servers`]: both servers side by side; and making a difference as short as it gets.

use crate::resp_support::generate::{Compared, Unit};
use crate::resp_support::peer::Peer;
use protocol_resp::client::{self, Value};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::{Duration, Instant};
use test_support::random::Random;

/// How long shorter sequences are tried.
const SHRINK_LIMIT: Duration = Duration::from_secs(60);

/// The most commands of a pipeline.
const BATCH_MAX: usize = 40;

/// The server that is right, and ours.
#[derive(Debug)]
pub(crate) struct Servers {
    oracle: Peer,
    ours: Peer,
}

/// The first difference.
#[derive(Debug)]
pub(crate) struct Difference {
    /// The number of the unit.
    at: usize,
    oracle: String,
    ours: String,
}

impl Servers {
    /// Starts both; `None` without an oracle.
    pub(crate) fn start(storage: &str, version: u8) -> Option<Self> {
        Some(Servers { oracle: Peer::redis(version)?, ours: Peer::segcache(storage, version) })
    }

    /// Sends `units` to both servers, empty before: in pipelines that are cut into pieces by `seed`, or
    /// one by one.
    pub(crate) fn compare(&mut self, units: &[Unit], seed: Option<u64>) -> Option<Difference> {
        for peer in [&mut self.oracle, &mut self.ours] {
            for words in [&["FLUSHALL"][..], &["CLIENT", "SETNAME", ""]] {
                let words: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().into()).collect();
                assert_eq!(peer.ask(&words), b"+OK\r\n");
            }
        }
        let mut cuts = seed.map(|seed| [seed, seed ^ 1, seed ^ 2].map(Random::new));
        let mut at = 0;
        while at < units.len() {
            let most = cuts.as_mut().map_or(1, |[_, _, sizes]| 1 + sizes.below(BATCH_MAX));
            let batch = batch(&units[at..], most);
            let found = if batch.is_empty() {
                self.walk(&units[at])
            } else {
                let cuts = match &mut cuts {
                    Some([first, second, _]) => [Some(first), Some(second)],
                    None => [None, None],
                };
                self.exchange(&batch, cuts)
            };
            if let Some(found) = found {
                return Some(Difference { at: at + found.at, ..found });
            }
            at += batch.len().max(1);
        }
        None
    }

    fn exchange(
        &mut self,
        batch: &[(&[Vec<u8>], Compared)],
        cuts: [Option<&mut Random>; 2],
    ) -> Option<Difference> {
        let commands: Vec<&[Vec<u8>]> = batch.iter().map(|(words, _)| *words).collect();
        let [first, second] = cuts;
        let theirs = self.oracle.exchange(&commands, first);
        let ours = self.ours.exchange(&commands, second);
        let pairs = theirs.into_iter().zip(ours).zip(batch);
        pairs.enumerate().find_map(|(at, ((theirs, ours), (_, compared)))| {
            let differs = !agree(&theirs, &ours, *compared);
            let show = |reply: &[u8]| format!("{:.400}", reply.escape_ascii());
            differs.then(|| Difference { at, oracle: show(&theirs), ours: show(&ours) })
        })
    }

    /// Walks over both servers' keys.
    fn walk(&mut self, unit: &Unit) -> Option<Difference> {
        let Unit::Walk(options) = unit else { unreachable!("a command is in a batch") };
        let [oracle, ours] = [&mut self.oracle, &mut self.ours].map(|peer| {
            let (mut cursor, mut found) = (b"0".to_vec(), BTreeSet::new());
            loop {
                let words = [&[b"SCAN".to_vec(), cursor][..], options].concat();
                let reply = value(&peer.ask(&words));
                let Some([Value::Bulk(next), Value::Array(keys)]) = reply.as_items() else {
                    return format!("{reply:?}");
                };
                found.extend(keys.iter().map(|key| format!("{key:?}")));
                if next == b"0" {
                    return format!("{found:?}");
                }
                cursor = next.clone();
            }
        });
        (oracle != ours).then_some(Difference { at: 0, oracle, ours })
    }
}

/// The commands at the front of `units`, up to the first walk.
fn batch(units: &[Unit], most: usize) -> Vec<(&[Vec<u8>], Compared)> {
    let commands = units.iter().take(most).map_while(|unit| match unit {
        Unit::Command(words, compared) => Some((words.as_slice(), *compared)),
        Unit::Walk(_) => None,
    });
    commands.collect()
}

fn value(reply: &[u8]) -> Value {
    let (value, _) = client::parse(reply).expect("RESP").expect("a whole reply");
    value.into()
}

/// Whether two replies are the same, as far as they are compared.
fn agree(theirs: &[u8], ours: &[u8], compared: Compared) -> bool {
    match compared {
        Compared::Exactly => theirs == ours,
        Compared::ByType => theirs[0] == ours[0],
        Compared::Nearly(by) => match (value(theirs), value(ours)) {
            (Value::Integer(a), Value::Integer(b)) if a > 0 && b > 0 => a.abs_diff(b) <= by,
            _ => theirs == ours,
        },
        Compared::Unordered => {
            let sorted = |reply: &[u8]| {
                let items: Vec<Value> = value(reply).as_items()?.to_vec();
                let mut items: Vec<String> = items.iter().map(|item| format!("{item:?}")).collect();
                items.sort();
                Some(items)
            };
            theirs == ours || theirs[0] == ours[0] && sorted(theirs) == sorted(ours)
        }
    }
}

/// Looks for the shortest sequence that shows a difference, and reports it.
pub(crate) fn shrink(servers: &mut Servers, units: &[Unit], found: Difference) -> String {
    let deadline = Instant::now() + SHRINK_LIMIT;
    let mut best = units[..=found.at].to_vec();
    let mut shown = found;
    // One by one if that is enough.
    let Some(alone) = servers.compare(&best, None) else {
        return report(&best[best.len().saturating_sub(20)..], &shown, "of a pipeline");
    };
    best.truncate(alone.at + 1);
    shown = alone;
    let mut size = best.len().div_ceil(2);
    loop {
        let (mut at, mut shorter) = (0, false);
        while at < best.len() && Instant::now() < deadline {
            let end = (at + size).min(best.len());
            let rest = [&best[..at], &best[end..]].concat();
            match servers.compare(&rest, None) {
                Some(difference) => {
                    best = rest[..=difference.at].to_vec();
                    (shown, shorter) = (difference, true);
                }
                None => at = end,
            }
        }
        if Instant::now() >= deadline || size == 1 && !shorter {
            return report(&best, &shown, "of commands that are sent one by one");
        }
        size = size.div_ceil(2);
    }
}

fn report(units: &[Unit], difference: &Difference, how: &str) -> String {
    let mut report = format!("redis-server and segcache differ at the end {how}:\n");
    for unit in units {
        let (name, words) = match unit {
            Unit::Command(words, _) => ("", words),
            Unit::Walk(options) => ("a walk with SCAN ", options),
        };
        let words: Vec<String> =
            words.iter().map(|word| format!("\"{:.200}\"", word.escape_ascii())).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(report, "  > {name}{}", words.join(" "));
    }
    let Difference { oracle, ours, .. } = difference;
    let _ = writeln!(report, "redis-server: {oracle}\nsegcache:     {ours}");
    report
}
