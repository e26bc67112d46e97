// SPDX-License-Identifier: Apache-2.0
//! [`Writer`]: changes its keys, and some that others change, by commands of many kinds.

use super::peer::Peer;
use super::shared::{Shared, name};
use protocol_resp::client::Value;
use std::net::SocketAddr;
use test_support::random::Random;

/// What makes caches drop keys that nobody names. Unless it is nothing, no writer can tell that all caches have been told
/// of what was there before its change: another worker may have removed that, and tell of it later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// FLUSHALL and FLUSHDB.
    Flush,
    /// Values for which others are evicted.
    Eviction,
    /// Keys whose readers the server cannot all note.
    Readers,
    Nothing,
}

/// A client that writes.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    number: usize,
    shared: &'a Shared,
    peer: Peer,
    random: Random,
    loss: Loss,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        address: SocketAddr,
        number: usize,
        shared: &'a Shared,
        seed: u64,
        loss: Loss,
    ) -> Self {
        Writer { number, shared, peer: Peer::new(address), random: Random::new(seed), loss }
    }

    /// Makes a change.
    pub(super) fn write(&mut self) {
        match (self.loss, self.random.below(50)) {
            (Loss::Flush, 0) => {
                let line = self.random.pick(&["FLUSHALL", "FLUSHDB", "FLUSHALL ASYNC"]);
                self.peer.tell(line);
            }
            (Loss::Eviction, 0..20) => {
                let (key, value) = (self.random.below(10_000), "v".repeat(20_000));
                self.peer.tell(&format!("SET fill:{key} {value}"));
            }
            _ => self.change(),
        }
    }

    fn change(&mut self) {
        let n = self.shared.number();
        if self.random.one_in(6) {
            let key = name(self.shared.common_key(&mut self.random));
            let command = self.random.pick(&["SET", "GETSET"]);
            self.peer.tell(&format!("{command} {key} {n}"));
            return;
        }
        let key = self.shared.key_of(self.number, &mut self.random);
        let (name, new) = (name(key), format!("new:{}", self.number));
        // Also what has expired may be removed by another worker.
        let expires = key.is_multiple_of(2);
        let kind = self.random.below(if expires { 16 } else { 14 });
        let lines = match kind {
            0 => vec![
                "MULTI".to_owned(),
                "INCR other".to_owned(),
                format!("SET {name} {n}"),
                "EXEC".to_owned(),
            ],
            1 => vec![format!("MSET other {n} {name} {n}")],
            2 => vec![format!("SET {new} {n}"), format!("RENAME {new} {name}")],
            3 => vec![format!("SET {new} {n}"), format!("COPY {new} {name} REPLACE")],
            4 => vec![format!("EVAL \"return redis.call('set',KEYS[1],ARGV[1])\" 1 {name} {n}")],
            // A key that the script does not declare.
            5 => vec![format!("EVAL \"return redis.call('set',ARGV[1],ARGV[2])\" 0 {name} {n}")],
            6 => vec![format!("DEL {name} {new}")],
            7 => vec![format!("UNLINK {name}")],
            8 => vec![format!("GETDEL {name}")],
            9 => vec![format!("SET {name} {n}"), format!("RENAME {name} {new}")],
            10 => vec![format!("SETEX {name} 1000 {n}"), format!("PEXPIREAT {name} 1")],
            11 => vec![format!("DEL {name}"), format!("INCRBY {name} {n}")],
            14 => vec![format!("SET {name} {n} PX 1")],
            15 => vec![format!("SET {name} {n}"), format!("GETEX {name} PX 1")],
            _ => vec![format!("SET {name} {n}")],
        };
        let reply = self.peer.ask(&lines, |message| panic!("not asked for: {message:?}"));
        if matches!(reply, Value::Error(_)) {
            // What was to be renamed has gone, or there is no room.
            assert!(matches!(self.loss, Loss::Flush | Loss::Eviction), "{lines:?}: {reply:?}");
            return;
        }
        if kind >= 14 {
            while self.peer.tell(&format!("EXISTS {name}")) != Value::Integer(0) {}
        }
        if self.loss == Loss::Nothing && !expires {
            self.shared.note_answer(key, n);
        }
    }
}
