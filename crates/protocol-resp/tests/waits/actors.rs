// SPDX-License-Identifier: Apache-2.0
//! What clients do.

use super::crowd::{Actor, Next};
use fastrand::Rng;
use protocol_resp::client::Value;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) const LISTS: [&str; 6] = ["l0", "l1", "l2", "l3", "m0", "m1"];

pub(crate) const SETS: [&str; 2] = ["z0", "z1"];

/// What has been taken, and who still brings something.
pub(crate) struct Ledger {
    taken: Mutex<Vec<u32>>,
    producers: AtomicUsize,
}

impl Ledger {
    pub(crate) fn new(producers: usize) -> Self {
        Ledger { taken: Mutex::default(), producers: AtomicUsize::new(producers) }
    }

    pub(crate) fn taken(&self) -> Vec<u32> {
        self.taken.lock().expect("no other thread failed").clone()
    }

    fn take(&self, reply: &Value) -> usize {
        let elements = elements(reply);
        self.taken.lock().expect("no other thread failed").extend(&elements);
        elements.len()
    }
}

fn number(value: &Value) -> u32 {
    let text = value.as_bytes().expect("a text");
    std::str::from_utf8(text).expect("digits").parse().expect("a number")
}

/// The elements that the reply to a wait carries: behind its key, and in front of a score.
pub(crate) fn elements(reply: &Value) -> Vec<u32> {
    let Some([_, element, ..]) = reply.as_items() else { return Vec::new() };
    let Some(many) = element.as_items() else { return vec![number(element)] };
    many.iter().map(|one| number(one.as_items().map_or(one, |pair| &pair[0]))).collect()
}

/// The elements of a list or a sorted set.
pub(crate) fn all_elements(reply: &Value) -> Vec<u32> {
    reply.as_items().unwrap_or_default().iter().map(number).collect()
}

fn pick(random: &mut Rng, from: &[&str]) -> String {
    from[random.usize(..from.len())].to_owned()
}

fn end(random: &mut Rng) -> &'static str {
    if random.bool() { "LEFT" } else { "RIGHT" }
}

fn check(reply: Option<&Value>) {
    if let Some(Value::Error(text)) = reply {
        assert!(text.starts_with(b"UNBLOCKED"), "{}", text.escape_ascii());
    }
}

/// Brings numbers to lists and sorted sets, one by one, several at once, and in transactions.
pub(crate) fn producer(ledger: &Arc<Ledger>, mut random: Rng, numbers: Range<u32>) -> Actor {
    let (ledger, mut numbers) = (Arc::clone(ledger), numbers);
    let mut queue: Vec<String> = Vec::new();
    Box::new(move |reply| {
        check(reply.as_ref());
        if let Some(line) = queue.pop() {
            return Next::Send(line);
        }
        let Some(first) = numbers.next() else {
            ledger.producers.fetch_sub(1, SeqCst);
            return Next::Stop;
        };
        let mut more: Vec<u32> = vec![first];
        more.extend(numbers.by_ref().take(random.usize(..4)));
        let push = |random: &mut Rng, number: &u32| match random.u8(..4) {
            0 => format!("ZADD {} {} {number}", pick(random, &SETS), random.u8(..)),
            1 => format!("LPUSH {} {number}", pick(random, &LISTS)),
            _ => format!("RPUSH {} {number}", pick(random, &LISTS)),
        };
        Next::Send(match random.u8(..3) {
            0 => {
                // The queue is gone through from its end.
                queue.push("EXEC".to_owned());
                queue.extend(more.iter().map(|number| push(&mut random, number)));
                "MULTI".to_owned()
            }
            1 => {
                let words: Vec<_> = more.iter().map(u32::to_string).collect();
                format!("RPUSH {} {}", pick(&mut random, &LISTS), words.join(" "))
            }
            _ => {
                queue.extend(more[1..].iter().map(|number| push(&mut random, number)));
                push(&mut random, &first)
            }
        })
    })
}

/// Takes what there is, in all ways that there are, and leaves now and then.
pub(crate) fn consumer(ledger: &Arc<Ledger>, mut random: Rng) -> Actor {
    let ledger = Arc::clone(ledger);
    Box::new(move |reply| {
        check(reply.as_ref());
        let are_done = ledger.producers.load(SeqCst) == 0;
        let taken = reply.as_ref().map_or(0, |reply| ledger.take(reply));
        if are_done && taken == 0 && reply.is_some() {
            return Next::Stop;
        }
        let (a, b) = (pick(&mut random, &LISTS), pick(&mut random, &LISTS));
        let (x, y) = (pick(&mut random, &SETS), pick(&mut random, &SETS));
        let wait = format!("0.0{}", random.u8(1..4));
        let (at, count) = (end(&mut random), random.u8(1..4));
        let line = match random.u8(..7) {
            0 => format!("BLPOP {a} {b} {wait}"),
            1 => format!("BRPOP {a} {b} {wait}"),
            2 => format!("BLMPOP {wait} 2 {a} {b} {at} COUNT {count}"),
            3 => format!("BZPOPMIN {x} {y} {wait}"),
            4 => format!("BZPOPMAX {x} {wait}"),
            5 => format!("BZMPOP {wait} 2 {x} {y} MAX COUNT {count}"),
            _ => format!("BLPOP {a} {wait}"),
        };
        if random.u8(..4) == 0 {
            let after = Duration::from_micros(random.u64(..3000));
            return Next::SendAndLeave(line, after);
        }
        Next::Send(line)
    })
}

/// Moves elements from list to list.
pub(crate) fn mover(ledger: &Arc<Ledger>, mut random: Rng) -> Actor {
    let ledger = Arc::clone(ledger);
    Box::new(move |reply| {
        check(reply.as_ref());
        if ledger.producers.load(SeqCst) == 0 {
            return Next::Stop;
        }
        let (from, to) = (pick(&mut random, &LISTS), pick(&mut random, &LISTS));
        let (take, put) = (end(&mut random), end(&mut random));
        Next::Send(match random.u8(..2) {
            0 => format!("BRPOPLPUSH {from} {to} 0.01"),
            _ => format!("BLMOVE {from} {to} {take} {put} 0.02"),
        })
    })
}

/// Ends waits of others.
pub(crate) fn disturber(ledger: &Arc<Ledger>, mut random: Rng) -> Actor {
    let ledger = Arc::clone(ledger);
    Box::new(move |_| {
        if ledger.producers.load(SeqCst) == 0 {
            return Next::Stop;
        }
        let how = if random.bool() { "TIMEOUT" } else { "ERROR" };
        Next::Send(format!("CLIENT UNBLOCK {} {how}", random.u16(..300)))
    })
}

/// Pushes to lists, one element after the other.
pub(crate) fn pusher(mut random: Rng, lists: Vec<String>, count: usize) -> Actor {
    let mut left = count;
    Box::new(move |_| {
        if left == 0 {
            return Next::Stop;
        }
        left -= 1;
        let list = &lists[random.usize(..lists.len())];
        Next::Send(format!("RPUSH {list} {left}"))
    })
}

/// Adds members to sorted sets, each another one.
pub(crate) fn adder(mut random: Rng, sets: usize, count: usize, line: usize) -> Actor {
    let mut left = count;
    Box::new(move |_| {
        if left == 0 {
            return Next::Stop;
        }
        left -= 1;
        let (set, score) = (random.usize(..sets), random.u8(..));
        Next::Send(format!("ZADD z{set} {score} {}", line * count + left))
    })
}

/// Waits for elements of a list for ever, so many times, and moves each to another.
pub(crate) fn carrier(mut random: Rng, from: String, lists: usize, count: usize) -> Actor {
    let mut left = count;
    Box::new(move |reply| {
        assert!(!matches!(reply, Some(Value::Null | Value::Error(_))), "{reply:?}");
        if left == 0 {
            return Next::Stop;
        }
        left -= 1;
        let to = random.usize(..lists);
        Next::Send(format!("BLMOVE {from} t{to} LEFT RIGHT 0"))
    })
}

/// Waits for an element of any of some keys for ever, so many times.
pub(crate) fn taker(
    ledger: &Arc<Ledger>,
    mut random: Rng,
    command: &'static str,
    keys: &'static str,
    lines: usize,
    count: usize,
) -> Actor {
    let (ledger, mut left) = (Arc::clone(ledger), count);
    Box::new(move |reply| {
        if let Some(reply) = reply {
            assert_eq!(ledger.take(&reply), 1, "{reply:?}");
        }
        if left == 0 {
            return Next::Stop;
        }
        left -= 1;
        let first = random.usize(..lines);
        let names = (0..lines).map(|line| format!("{keys}{}", (first + line) % lines));
        Next::Send(format!("{command} {} 0", names.collect::<Vec<_>>().join(" ")))
    })
}
