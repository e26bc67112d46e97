// SPDX-License-Identifier: Apache-2.0
//! Generated requests of the binary protocol, sent to memcached and to `segcache`: the replies are the same, byte
//! for byte but for CAS numbers.
//!
//! Requests come in batches, pipelined, quiet ones among them, and each server gets them cut into different
//! pieces. A request may demand the CAS number that its key had in an earlier reply. Of CAS numbers the pattern
//! is compared: which of a key's numbers are equal. The variables are those of `differential.rs`.
//!
//! Left out: what the sessions of `protocol-memcache` have, which is frames that lie, flushes with a time and
//! statistics; and numbers behind a read in one batch, because memcached pads a number that gets shorter only
//! while no unsent reply holds on to it. So does its LRU maintainer now and then, which is off here.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "support/process.rs"]
mod process;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use test_support::random::Random;

const HEADER_LEN: usize = 24;
const NOOP: u8 = 0x0a;

/// The opcodes of reads, which keep an item busy until the reply is sent.
const READS: [u8; 9] = [0x00, 0x09, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x23, 0x24];
/// The opcodes that change a number.
const ARITH: [u8; 4] = [0x05, 0x06, 0x15, 0x16];
/// Opcodes that go with both, those of writes twice.
const OTHERS: [u8; 27] = [
    0x01, 0x02, 0x03, 0x11, 0x12, 0x13, 0x0e, 0x0f, 0x19, 0x1a, 0x01, 0x02, 0x03, 0x11, 0x12, 0x13,
    0x0e, 0x0f, 0x19, 0x1a, 0x04, 0x14, 0x08, 0x18, NOOP, 0x1b, 0x60,
];
const KEYS: [&[u8]; 6] = [b"a", b"b", b"\0\r\n ", b"number", b"\xff", &[b'k'; 250]];
const VALUES: [&[u8]; 9] =
    [b"", b"1", b"99", b"007", b"5x", b"value", b"\r\nEND\r\n", b"10 ", &[b'v'; 70_000]];
const EXPTIMES: [u32; 7] = [0, 0, 0, 1000, 2_592_001, 0x8000_0000, u32::MAX];

/// A CAS number in a request.
#[derive(Clone, Copy, Debug)]
enum Demand {
    None,
    /// The last that the server has told for the key.
    Told,
    /// None that an item ever has.
    Bogus,
}

#[derive(Clone, Debug)]
struct Unit {
    opcode: u8,
    key: &'static [u8],
    extras: Vec<u8>,
    value: Vec<u8>,
    demand: Demand,
}

fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[random.below(from.len())]
}

fn unit(random: &mut Random, opcodes: &[u8]) -> Unit {
    let mut opcode =
        if random.below(3) == 0 { pick(random, &OTHERS) } else { pick(random, opcodes) };
    if matches!(opcode, 0x08 | 0x18) && random.below(8) > 0 {
        opcode = 0x01;
    }
    let exptime = pick(random, &EXPTIMES).to_be_bytes();
    let numbers = [0, 1, 7, 1000, 1 << 62];
    let (mut extras, mut value) = (Vec::new(), Vec::new());
    let key = match opcode {
        0x08 | 0x18 | NOOP | 0x1b | 0x60 => b"",
        _ => pick(random, &KEYS),
    };
    match opcode {
        0x01..=0x03 | 0x11..=0x13 => {
            extras = [(random.below(3) as u32 * 0x7fff_ffff).to_be_bytes(), exptime].concat();
            value = pick(random, &VALUES).to_vec();
            if random.below(300) == 0 {
                value = vec![b'l'; 1_100_000];
            }
        }
        0x0e | 0x0f | 0x19 | 0x1a => value = pick(random, &VALUES[..6]).to_vec(),
        0x1c..=0x1e | 0x23 | 0x24 => extras = exptime.to_vec(),
        0x05 | 0x06 | 0x15 | 0x16 => {
            let [delta, initial] = [0; 2].map(|_| u64::to_be_bytes(pick(random, &numbers)));
            extras = [&delta[..], &initial, &exptime].concat();
        }
        0x60 => value = vec![0x80; random.below(50)],
        _ => {}
    }
    let demand = match random.below(10) {
        0..2 => Demand::Told,
        2 => Demand::Bogus,
        _ => Demand::None,
    };
    Unit { opcode, key, extras, value, demand }
}

/// A connection to one server, with what it has told.
struct Client {
    stream: TcpStream,
    random: Random,
    /// By key: the numbers that it has had, in order.
    told: HashMap<&'static [u8], Vec<u64>>,
}

impl Client {
    fn connect(address: SocketAddr, seed: u64) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Client { stream, random: Random::new(seed), told: HashMap::new() }
    }

    fn frame(&self, at: usize, unit: &Unit) -> Vec<u8> {
        let cas = match unit.demand {
            Demand::None => 0,
            Demand::Told => {
                self.told.get(unit.key).and_then(|all| all.last()).copied().unwrap_or(0)
            }
            Demand::Bogus => u64::MAX - 5,
        };
        let Unit { opcode, key, extras, value, .. } = unit;
        let body = (extras.len() + key.len() + value.len()) as u32;
        let mut frame = vec![0x80, *opcode, 0, key.len() as u8, extras.len() as u8, 0, 0, 0];
        frame.extend(body.to_be_bytes());
        frame.extend((at as u32).to_be_bytes());
        frame.extend(cas.to_be_bytes());
        [&frame[..], extras, key, value].concat()
    }

    /// Sends a batch and a noop; returns the replies to all of it, with numbers in place of CAS numbers.
    fn exchange(&mut self, batch: &[Unit]) -> Vec<Vec<u8>> {
        let end =
            Unit { opcode: NOOP, key: b"", extras: vec![], value: vec![], demand: Demand::None };
        let units = batch.iter().chain([&end]).enumerate();
        let bytes: Vec<u8> = units.flat_map(|(at, unit)| self.frame(at, unit)).collect();
        let mut writer = self.stream.try_clone().unwrap();
        let most = [3, 30, 2_000, 1 << 20][self.random.below(4)];
        let mut pieces = Vec::new();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let cut = if pieces.len() < 100 { 1 + self.random.below(most) } else { rest.len() };
            let (piece, behind) = rest.split_at(cut.min(rest.len()));
            pieces.push(piece);
            rest = behind;
        }
        std::thread::scope(|scope| {
            scope.spawn(move || pieces.into_iter().try_for_each(|piece| writer.write_all(piece)));
            let mut replies = Vec::new();
            loop {
                let (at, reply) = self.reply(batch);
                replies.push(reply);
                if at == batch.len() {
                    return replies;
                }
            }
        })
    }

    /// The next reply, and which request it is to.
    fn reply(&mut self, batch: &[Unit]) -> (usize, Vec<u8>) {
        let mut reply = vec![0; HEADER_LEN];
        self.stream.read_exact(&mut reply).expect("a reply");
        let word =
            |reply: &[u8], at: usize| u32::from_be_bytes(reply[at..at + 4].try_into().unwrap());
        let (len, at) = (word(&reply, 8) as usize, word(&reply, 12) as usize);
        let cas = u64::from_be_bytes(reply[16..].try_into().unwrap());
        if cas != 0 {
            let told = self.told.entry(batch[at].key).or_default();
            let known = told.iter().position(|&known| known == cas);
            if known.is_none() {
                told.push(cas);
            }
            let number = known.unwrap_or(told.len() - 1) as u64 + 1;
            reply[16..].copy_from_slice(&number.to_be_bytes());
        }
        reply.resize(HEADER_LEN + len, 0);
        self.stream.read_exact(&mut reply[HEADER_LEN..]).expect("all of a reply");
        (at, reply)
    }
}

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

fn show(batch: &[Unit]) -> String {
    let mut text = String::new();
    for Unit { opcode, key, extras, value, demand } in batch {
        let [key, extras] =
            [key, &extras[..]].map(|bytes| bytes[..bytes.len().min(30)].escape_ascii());
        let start = value[..value.len().min(20)].escape_ascii();
        let len = value.len();
        writeln!(text, "{opcode:#04x} {key} [{extras}] {demand:?} {len}: {start}").unwrap();
    }
    text
}

#[test]
fn replies_are_those_of_memcached() {
    let seed = variable("SHOEBILL_SEED", 1);
    let count = variable("SHOEBILL_COMMANDS", 20_000) as usize;
    for storage in process::STORAGES {
        let Some(memcached) = process::memcached(&["-o", "no_lru_maintainer,no_lru_crawler"])
        else {
            return;
        };
        let segcache = process::segcache(&["-t", "2"], &process::over(storage));
        let mut theirs = Client::connect(memcached.address, seed + 1);
        let mut ours = Client::connect(segcache.address, seed + 2);
        let mut random = Random::new(seed);
        let (mut left, mut failures) = (count, 0);
        while left > 0 {
            let len = 1 + random.below(20);
            left = left.saturating_sub(len);
            let opcodes = if random.below(3) == 0 { &ARITH[..] } else { &READS };
            let batch: Vec<Unit> = (0..len).map(|_| unit(&mut random, opcodes)).collect();
            let (expected, replies) = (theirs.exchange(&batch), ours.exchange(&batch));
            let same = expected.iter().zip(&replies).take_while(|(a, b)| a == b).count();
            assert!(
                expected == replies,
                "SHOEBILL_SEED={seed} over {storage}: reply {same} differs\nmemcached: {:?}\nsegcache:  {:?}\n{}",
                expected
                    .get(same)
                    .map(|reply| reply[..reply.len().min(100)].escape_ascii().to_string()),
                replies
                    .get(same)
                    .map(|reply| reply[..reply.len().min(100)].escape_ascii().to_string()),
                show(&batch)
            );
            failures += replies.iter().filter(|reply| reply[6..8] != [0, 0]).count();
        }
        assert!(failures > count / 20, "much is refused: {failures}");
        println!("{count} requests over {storage}, SHOEBILL_SEED={seed}: {failures} failures");
    }
}
