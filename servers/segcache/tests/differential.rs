// SPDX-License-Identifier: Apache-2.0
//! Generated commands, sent to memcached and to `segcache`: the replies are the same, byte for byte.
//!
//! Commands come in batches, pipelined, quiet ones among them, and each server gets them cut into different pieces. Few
//! keys are used, so that commands work on data that earlier ones left. There are three tests: of lines, which are text
//! and meta commands; of frames of the binary protocol; and of all three dialects, each on its own connection, over the
//! same keys. A difference is shrunk to the shortest sequence of commands and printed.
//!
//! * `SHOEBILL_COMMANDS`: how many commands of each test over the default storage, 20,000 unless set; a tenth of them
//!   over the other.
//! * `SHOEBILL_SEED`: which ones, 1 unless set.
//! * `SHOEBILL_SEGCACHE`: another build of the server, such as the release build.
//! * `SHOEBILL_MEMCACHED`: another memcached than that on the `PATH`; its version is printed.
//! * `SHOEBILL_REQUIRE_ORACLES=1`: fail where memcached is missing, instead of passing with a message.
//!
//! Compared in part:
//!
//! * CAS numbers by their pattern: which of a key's numbers are equal, and in what order they were
//!   first seen. memcached's never come again under another key, ours may.
//! * `version`, of lines: that there is an answer, not its text.
//! * `stats`: what ends it; the `STAT` lines are left out, names and figures differ by nature.
//! * A key that is too long, in a list: memcached writes an empty line behind the error, which is left out.
//! * With a memcached before 1.6.45, whose replies are not those to reproduce: what it is known to answer otherwise is
//!   left out ([`older`](support::older)), and the bodies of refused lines are sent to `segcache` alone, because it
//!   parses them.
//!
//! Left out:
//!
//! * Of frames what the sessions of `protocol-memcache` have: those that lie, flushes with a time, statistics, `Version`.
//! * Of meta commands what [`meta`](support::meta) says.
//! * Commands that tune memcached: `lru`, `lru_crawler`, `slabs`, `extstore`. The sessions of `protocol-memcache` have
//!   them.
//! * `watch`, after which a connection tells what happens in the server.
//! * `cache_memlimit`: servers whose limits change differ in what they keep.
//! * `shutdown` and `refresh_certs`, which are about the server as a whole.
//! * `stats detail on`: prefixes are shown in another order. The sessions have it.
//! * `incr` and `decr` of white space: memcached then looks beyond the end of the value, into what its memory held
//!   before.
//! * Lines of 2,048 to 40,000 bytes other than of `get` and `gets`: whether memcached closes the
//!   connection then depends on how they arrive.
//! * Expiry times and flushes in the near future, which depend on when the command arrives; the
//!   sessions of `protocol-memcache` have them, under a clock of their own.
//! * Commands before a reading command whose line has a key that is too long, in one batch:
//!   memcached drops those of their replies that it has not sent yet.
//! * A reading command with a key that is too long and `noreply` as its last key, to which memcached answers with an
//!   empty line alone.
//! * `incr` and `decr` behind a reading command in one batch: memcached pads a number that gets shorter
//!   with spaces, but not while a reply that is not sent yet holds on to it.
//! * A delayed `flush_all` right behind an immediate one: memcached shows again what it flushed, as
//!   far as nobody has asked for it in between. So all keys are read before.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support {
    pub(crate) mod exchange;
    pub(crate) mod frames;
    pub(crate) mod generate;
    pub(crate) mod meta;
    pub(crate) mod mixed;
    pub(crate) mod older;
    pub(crate) mod process;
    pub(crate) mod replies;
    pub(crate) mod shrink;
    pub(crate) mod unit;
    pub(crate) mod words;
}

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use support::frames::{self, Keys};
use support::generate::Generator;
use support::mixed;
use support::older::{ANSWERED_BEFORE, BEFORE, SAMPLES, answers_otherwise};
use support::process::{STORAGES, Server};
use support::shrink::{Delivery, Difference, comparable, compare, servers, shrink};
use support::unit::Unit;
use test_support::PATIENCE;
use test_support::memcached::Memcached;
use test_support::random::Random;

/// The number in an environment variable.
fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

#[test]
fn replies_to_lines_are_those_of_memcached() {
    compare_all("lines", |seed, count| Generator::new(seed).units(count));
}

#[test]
fn replies_to_frames_are_those_of_memcached() {
    compare_all("frames", |seed, count| {
        let (mut random, keys) = (Random::new(seed), Keys::own());
        (0..count).map(|_| frames::unit(&mut random, &keys)).collect()
    });
}

#[test]
fn dialects_share_items_as_with_memcached() {
    compare_all("all dialects", mixed::units);
}

/// An older memcached differs where this test says so, and `segcache` is as the reference.
#[test]
fn what_older_versions_answer_otherwise_is_known() {
    let Some(memcached) = Memcached::find() else { return };
    println!("memcached {}", memcached.version);
    let (oracle, ours) = servers("seg").expect("memcached is there");
    for (bytes, older, reference) in SAMPLES {
        let shown = bytes.escape_ascii();
        let line = bytes.split(|&byte| byte == b'\n').next().unwrap();
        assert!(answers_otherwise(line), "{shown} is expected to be answered alike");
        let theirs = if memcached.is_reference() { reference } else { older };
        for (name, server, expected) in
            [("memcached", &oracle, theirs), ("segcache", &ours, reference)]
        {
            let answer = ask(server, bytes);
            let is_as_expected = match *expected {
                b"VERSION " => answer.starts_with(expected),
                _ => answer == *expected,
            };
            assert!(is_as_expected, "{name} answers {shown} with {}", answer.escape_ascii());
        }
    }
}

/// What `server` answers to `bytes` when there is a key `k`; `closed` when it closes the connection.
fn ask(server: &Server, bytes: &[u8]) -> Vec<u8> {
    const MARK: &[u8] = b"set mark 5 0 4\r\nmark\r\nget mark\r\n";
    const MARKED: &[u8] = b"STORED\r\nVALUE mark 5 4\r\nmark\r\nEND\r\n";
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&[BEFORE, bytes, MARK].concat()).unwrap();
    let mut answer = Vec::new();
    let mut block = [0; 4096];
    while !answer.ends_with(MARKED) {
        match stream.read(&mut block) {
            Ok(0) => {
                answer.extend_from_slice(b"closed");
                break;
            }
            Ok(read) => answer.extend_from_slice(&block[..read]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                answer.extend_from_slice(b"closed");
                break;
            }
            Err(error) => panic!("{} is answered {answer:?}: {error}", bytes.escape_ascii()),
        }
    }
    let answer = answer.strip_suffix(MARKED).unwrap_or(&answer);
    // What was answered before may be lost when the connection closes.
    answer.strip_prefix(ANSWERED_BEFORE).unwrap_or(answer).to_vec()
}

/// Compares what `generate` makes of a seed and a count, and a tenth as much over the other storage.
fn compare_all(what: &str, generate: impl Fn(u64, usize) -> Vec<Unit>) {
    let seed = variable("SHOEBILL_SEED").unwrap_or(1);
    let count = variable("SHOEBILL_COMMANDS").unwrap_or(20_000) as usize;
    for (storage, share) in STORAGES.into_iter().zip([1, 10]) {
        if servers(storage).is_none() {
            return;
        }
        println!("{count} / {share} commands in {what} of SHOEBILL_SEED={seed} over {storage}");
        let mut units = generate(seed, count / share);
        comparable(&mut units);
        let delivery = Delivery::Batches { seed };
        if let Some(difference) = compare(storage, &units, delivery) {
            eprintln!(
                "\nSHOEBILL_SEED={seed} SHOEBILL_COMMANDS={count}: the replies to {what} over {storage} \
                 differ, shrinking …"
            );
            let difference = shrink(storage, difference, delivery);
            panic!("{}", report(&difference));
        }
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
