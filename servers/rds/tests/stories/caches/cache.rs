// SPDX-License-Identifier: Apache-2.0
//! [`Cache`]: a client that caches what it reads, in one of the [`MODES`], and drops what it is told to.

use super::peer::Peer;
use super::shared::{Shared, name};
use protocol_resp::client::Value;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use test_support::PATIENCE;
use test_support::random::Random;

/// How a cache is told of changes.
#[derive(Debug)]
pub(super) struct Mode {
    /// What it says behind CLIENT TRACKING ON.
    options: &'static str,
    caching: Caching,
    hears: Hears,
}

/// Which reads it may cache.
#[derive(Debug, PartialEq, Eq)]
enum Caching {
    All,
    /// Those behind CLIENT CACHING YES.
    In,
    /// Those that are not behind CLIENT CACHING NO.
    Out,
}

/// Where it hears of changes.
#[derive(Debug, PartialEq, Eq)]
enum Hears {
    /// On the connection that reads, in RESP3.
    Itself,
    /// On another one, which subscribes in RESP2.
    Subscriber,
    /// On another one, in RESP3.
    Other,
}

const fn mode(options: &'static str, caching: Caching, hears: Hears) -> Mode {
    Mode { options, caching, hears }
}

pub(super) static MODES: [Mode; 11] = [
    mode("", Caching::All, Hears::Itself),
    mode("NOLOOP", Caching::All, Hears::Itself),
    mode("OPTIN", Caching::In, Hears::Itself),
    mode("OPTOUT NOLOOP", Caching::Out, Hears::Itself),
    mode("BCAST PREFIX x: PREFIX y:", Caching::All, Hears::Itself),
    mode("BCAST NOLOOP", Caching::All, Hears::Itself),
    mode("", Caching::All, Hears::Subscriber),
    mode("OPTIN NOLOOP", Caching::In, Hears::Subscriber),
    mode("BCAST PREFIX x:", Caching::All, Hears::Subscriber),
    mode("OPTOUT", Caching::Out, Hears::Other),
    mode("BCAST NOLOOP PREFIX x:", Caching::All, Hears::Other),
];

/// A client with a cache.
#[derive(Debug)]
pub(super) struct Cache<'a> {
    mode: &'static Mode,
    shared: &'a Shared,
    reader: Peer,
    listener: Option<Peer>,
    /// A connection that does not cache.
    plain: Peer,
    /// The number under each key that it knows; `None`: the key is not there.
    values: BTreeMap<usize, Option<u64>>,
    random: Random,
    /// It does not listen to one of so many messages.
    deaf: Option<usize>,
    /// How many values it was told to drop.
    pub(super) dropped: usize,
    /// How many values were compared with what the server has.
    pub(super) compared: usize,
}

impl<'a> Cache<'a> {
    pub(super) fn new(
        address: SocketAddr,
        mode: &'static Mode,
        shared: &'a Shared,
        seed: u64,
        deaf: Option<usize>,
    ) -> Self {
        let (mut reader, plain) = (Peer::new(address), Peer::new(address));
        let mut redirect = String::new();
        let listener = (mode.hears != Hears::Itself).then(|| {
            let mut listener = Peer::new(address);
            if mode.hears == Hears::Other {
                listener.tell("HELLO 3");
            }
            let id = listener.tell("CLIENT ID");
            let Value::Integer(id) = id else { panic!("an id: {id:?}") };
            redirect = format!("REDIRECT {id}");
            if mode.hears == Hears::Subscriber {
                listener.tell("SUBSCRIBE __redis__:invalidate");
            }
            listener
        });
        if listener.is_none() || seed.is_multiple_of(2) {
            reader.tell("HELLO 3");
        }
        let reply = reader.tell(&format!("CLIENT TRACKING ON {} {redirect}", mode.options));
        assert_eq!(reply, Value::Simple(b"OK".to_vec()));
        let random = Random::new(seed);
        let values = BTreeMap::new();
        Cache {
            mode,
            shared,
            reader,
            listener,
            plain,
            values,
            random,
            deaf,
            dropped: 0,
            compared: 0,
        }
    }

    /// Does something: learns, listens, writes.
    pub(super) fn act(&mut self) {
        match self.random.below(16) {
            0..10 => self.learn(),
            10 => self.write(),
            _ => self.check_while_others_write(),
        }
    }

    /// Learns the values of some keys that it does not know.
    pub(super) fn learn(&mut self) {
        let mut keys: Vec<_> =
            (0..=self.random.below(3)).map(|_| self.shared.key(&mut self.random)).collect();
        keys.retain(|key| !self.values.contains_key(key));
        keys.dedup();
        let Some(first) = keys.first().copied() else { return };
        let names = keys.iter().map(|key| name(*key)).collect::<Vec<_>>().join(" ");
        let number = keys.len();
        let mut lines = Vec::new();
        let is_cached = match (&self.mode.caching, self.random.one_in(4)) {
            (Caching::All, _) | (Caching::Out, false) => true,
            (Caching::In, false) => {
                lines.push("CLIENT CACHING YES".to_owned());
                true
            }
            (Caching::In, true) => false,
            (Caching::Out, true) => {
                lines.push("CLIENT CACHING NO".to_owned());
                false
            }
        };
        match self.random.below(5) {
            0 => {
                keys.truncate(1);
                lines.push(format!("GET {}", name(first)));
            }
            1 => lines
                .push(format!("EVAL \"return redis.call('mget',unpack(KEYS))\" {number} {names}")),
            2 => lines.push(format!(
                "EVAL_RO \"return redis.pcall('mget',unpack(KEYS))\" {number} {names}"
            )),
            3 => lines.extend(["MULTI".to_owned(), format!("MGET {names}"), "EXEC".to_owned()]),
            _ => lines.push(format!("MGET {names}")),
        }
        let mut heard = Vec::new();
        let reply = self.reader.ask(&lines, |message| heard.push(message));
        heard.iter().for_each(|message| self.hear(message));
        if is_cached {
            self.values.extend(keys.into_iter().zip(numbers(&reply)));
        }
    }

    /// Writes a key that others write, too. With NOLOOP it must drop what it knows by itself.
    ///
    /// If another client has just changed the key, or the server has evicted it, this one is told by the worker that
    /// did so, before that worker replies, and that may be later than here. So only [`Cache::check`] looks whether
    /// it was told.
    fn write(&mut self) {
        let (key, number) = (self.shared.common_key(&mut self.random), self.shared.number());
        if self.mode.options.contains("NOLOOP") {
            self.values.remove(&key);
        }
        let mut heard = Vec::new();
        let line = format!("SET {} {number}", name(key));
        self.reader.ask(&[line], |message| heard.push(message));
        heard.iter().for_each(|message| self.hear(message));
    }

    /// Nothing that it knows may be older than what was written, and answered, before it asked.
    fn check_while_others_write(&mut self) {
        let answered = self.shared.answered();
        self.listen();
        for (key, number) in &self.values {
            if number.is_some_and(|number| number < answered[*key]) {
                self.shared.find(format!(
                    "{:?} knows {number:?} of {key}, over which {} was written",
                    self.mode, answered[*key]
                ));
            }
        }
    }

    /// While nobody writes, all that it knows is what the server has, or was, if the server has just removed it by
    /// itself: a worker that evicts or sweeps tells of that at the end of its turn. What is lost is never told.
    pub(super) fn check(&mut self) {
        self.compared += self.values.len();
        let patience = if self.deaf.is_some() { Duration::ZERO } else { PATIENCE };
        let end = Instant::now() + patience;
        while let Some((key, truth)) = self.wrong() {
            if Instant::now() > end {
                let (mode, known) = (self.mode, self.values[&key]);
                return self
                    .shared
                    .find(format!("{mode:?} knows {known:?} of {key}, which is {truth:?}"));
            }
        }
    }

    /// A key of which it knows something that is not what the server has, and what that is.
    fn wrong(&mut self) -> Option<(usize, Option<u64>)> {
        let keys: Vec<_> = self.values.keys().copied().collect();
        if keys.is_empty() {
            return None;
        }
        let names: Vec<_> = keys.iter().map(|key| name(*key)).collect();
        // Afterwards a key may still be evicted, so this comes first.
        let truth = numbers(&self.plain.tell(&format!("MGET {}", names.join(" "))));
        self.listen();
        let mut pairs = keys.into_iter().zip(truth);
        pairs.find(|(key, number)| self.values.get(key).is_some_and(|known| known != number))
    }

    /// Hears what has come: all that was sent before the reply to a PING.
    fn listen(&mut self) {
        let mut heard = Vec::new();
        let peer = self.listener.as_mut().unwrap_or(&mut self.reader);
        peer.ask(&["PING".to_owned()], |message| heard.push(message));
        heard.iter().for_each(|message| self.hear(message));
    }

    /// Forgets the keys that a message names, or all.
    fn hear(&mut self, message: &Value) {
        let parts = message.as_items().expect("a message");
        let before = self.values.len();
        if self.deaf.is_some_and(|times| self.random.one_in(times)) {
            return;
        }
        match parts.last() {
            Some(Value::Array(keys)) => {
                for key in keys.iter().filter_map(key_of) {
                    self.values.remove(&key);
                }
            }
            Some(Value::Null) => self.values.clear(),
            other => panic!("not of keys: {other:?}"),
        }
        self.dropped += before - self.values.len();
    }
}

/// The number of a key that a message names; `None` of one that caches do not read.
fn key_of(name: &Value) -> Option<usize> {
    std::str::from_utf8(name.as_bytes()?.strip_prefix(b"x:")?).ok()?.parse().ok()
}

/// The values in a reply to GET, MGET or EXEC.
fn numbers(reply: &Value) -> Vec<Option<u64>> {
    match reply {
        Value::Null => vec![None],
        Value::Bulk(text) => vec![Some(String::from_utf8_lossy(text).parse().expect("a number"))],
        Value::Array(parts) => parts.iter().flat_map(numbers).collect(),
        other => panic!("no value: {other:?}"),
    }
}
