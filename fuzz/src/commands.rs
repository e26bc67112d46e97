// SPDX-License-Identifier: Apache-2.0
//! [`play`]: clients that send commands from the table to a server of two workers, without sockets
//! and on manual time.
//!
//! An input is two bytes of [`Setup`](world::Setup), then steps. A step that begins with a printable
//! byte is a line of text: an inline request of the current client, or a directive ([`Script`]). So a
//! script of commands is a valid input. Any other byte begins a step that `reader.rs` decodes, most
//! often a command that `catalogue.rs` makes.
//!
//! After every step this must hold:
//!
//! * Each command gets one well-formed reply, in order; a blocking command gets it later (`client.rs`).
//! * A command that reads or fails changes nothing, and any other command changes only its keys
//!   (`rules.rs`).
//! * Commands on values give the replies and leave the data that plain collections do (`oracle/`): alone, in
//!   a pipeline and in a transaction. The passing of time removes what has expired, and nothing else
//!   (`sequence.rs`).
//! * A transaction runs only if no watched key has changed. No client waits for data that is there. A message
//!   reaches as many clients as PUBLISH says.
//! * The keyspace keeps its invariants, and no collection in it is empty (`state.rs`).
//!
//! In the end all clients leave, and the server holds nothing for them; then all data is removed, and no
//! memory is in use.

mod answer;
mod catalogue;
mod client;
mod oracle;
mod reader;
mod rules;
mod sequence;
mod state;
mod words;
mod world;

use answer::Answer;
use catalogue::Words;
use client::Sent;
use keyspace::{Keyspace, Scope, View};
use protocol::{Parsed, Protocol};
use protocol_resp::Codec;
use protocol_resp::client::{Encoder, Value};
use reader::Reader;
use rules::Run;
use sequence::{Sequence, check_time, is_in_vain, selected};
use state::State;
use std::time::Duration;
use world::{DATABASES, REQUEST_MAX, Setup, World};

/// Clients at once: the first half of each four speaks RESP2, the other RESP3, and so far.
const CLIENTS: usize = 4;

/// The most commands that a client sends once its replies cannot be predicted any more; then it leaves.
const STRANGE_MAX: usize = 6;

/// Calls of maintenance that must be enough to finish any work.
const CALLS_MAX: usize = 100_000;

/// Plays an input.
pub(crate) fn play(input: &[u8]) {
    let Some((setup, steps)) = input.split_first_chunk::<2>() else { return };
    let setup = Setup::read(*setup);
    let mut game = Game {
        world: World::new(setup, CLIENTS),
        at_work: 0,
        state: State::default(),
        is_paused: false,
    };
    let mut reader = Reader::new(steps);
    while !reader.is_empty() {
        game.step(&mut reader);
    }
    game.finish();
}

/// A server, its clients and what is known of both.
#[derive(Debug)]
struct Game {
    world: World,
    /// The client whose turn it is.
    at_work: usize,
    /// What the keyspace held after the last step.
    state: State,
    /// Clients have been paused. Paused clients and clients that wait for a key cannot be told apart then.
    is_paused: bool,
}

/// A line of text that is no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    /// `@2`: the second client is at work.
    Client(usize),
    /// `@+500`: so many milliseconds pass.
    Pass(u64),
    /// `@-`: the client at work leaves, and another comes in its place.
    Leave,
}

impl Script {
    fn read(line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?.strip_prefix('@')?;
        if text.trim() == "-" {
            return Some(Script::Leave);
        }
        match text.strip_prefix('+') {
            Some(ms) => Some(Script::Pass(ms.trim().parse().ok().filter(|ms| *ms < 1 << 40)?)),
            None => Some(Script::Client(text.trim().parse::<usize>().ok()? % CLIENTS)),
        }
    }
}

impl Game {
    fn step(&mut self, reader: &mut Reader<'_>) {
        if let Some(line) = reader.line() {
            return self.line(line);
        }
        match reader.byte() % 32 {
            0..=20 => {
                self.at_work = reader.below(CLIENTS);
                let words = catalogue::command(reader, self.world.now().unix_ms);
                self.send(&[words]);
            }
            21 => {
                let count = 1 + reader.below(5);
                let now_ms = self.world.now().unix_ms;
                let batch: Vec<Words> =
                    (0..count).map(|_| catalogue::command(reader, now_ms)).collect();
                self.send(&batch);
            }
            22..=25 => {
                let time = Duration::from_millis(1 << reader.below(24));
                self.pass(time);
            }
            26 | 27 => {
                let (worker, budget) = (reader.below(2), reader.below(256));
                self.let_be(false, |world| world.maintain(worker, budget));
            }
            28 => self.leave(),
            29 => {
                let len = reader.below(64);
                let bytes = reader.take(len);
                self.world.clients[self.at_work].is_lenient = true;
                self.world.arrive(self.at_work, bytes);
                self.receive_all(false);
            }
            _ => self.at_work = reader.below(CLIENTS),
        }
    }

    fn line(&mut self, line: &[u8]) {
        match Script::read(line) {
            Some(Script::Client(client)) => self.at_work = client,
            Some(Script::Pass(ms)) => self.pass(Duration::from_millis(ms)),
            Some(Script::Leave) => self.leave(),
            None => self.inline(line),
        }
    }

    /// A line as an inline request.
    fn inline(&mut self, line: &[u8]) {
        let bytes = [line, b"\r\n"].concat();
        match Codec::default().parse(&mut Default::default(), &bytes) {
            Ok(Parsed::Request { request, consumed }) if consumed == bytes.len() => {
                let words: Words = request.iter().map(<[u8]>::to_vec).collect();
                self.send_as(&[words], &bytes);
            }
            _ => {
                self.world.clients[self.at_work].is_lenient = true;
                self.world.arrive(self.at_work, &bytes);
                self.receive_all(false);
            }
        }
    }

    fn leave(&mut self) {
        self.world.reconnect(self.at_work);
        self.receive_all(false);
    }

    fn pass(&mut self, time: Duration) {
        self.let_be(true, |world| world.pass(time, 200));
    }

    /// Runs something that no client has sent, and checks that nothing has changed except that expired keys
    /// are gone. Paused clients may continue, and the effects of their commands are not checked.
    fn let_be(&mut self, is_maintained: bool, happen: impl FnOnce(&mut World)) {
        let before = self.state.clone();
        let is_unclear = self.is_anybody_strange() || self.may_evict();
        happen(&mut self.world);
        let (replies, _) = self.receive_all(is_maintained);
        let has_gone_on = replies.iter().any(|(_, words, reply)| !is_in_vain(words, reply));
        if !has_gone_on && !is_unclear {
            check_time(&before, &self.state, self.world.now().unix_ms);
        }
    }

    /// Whether a client waits that may continue unnoticed.
    fn is_anybody_strange(&self) -> bool {
        self.world.clients.iter().any(|client| client.is_lenient && client.pipeline.is_blocked())
    }

    fn may_evict(&self) -> bool {
        self.world.store.settings().maxmemory() > 0
    }

    /// Sends commands at once.
    fn send(&mut self, batch: &[Words]) {
        let mut bytes = Vec::new();
        for words in batch {
            Encoder::new(&mut bytes).request(words);
        }
        self.send_as(batch, &bytes);
    }

    /// Sends commands as these bytes.
    fn send_as(&mut self, batch: &[Words], bytes: &[u8]) {
        let at = self.at_work;
        if self.world.clients[at].closed || self.world.clients[at].strange > STRANGE_MAX {
            return self.leave();
        }
        // What is too large is refused, whatever it says, and there are other tests of that.
        if bytes.len() > REQUEST_MAX || batch.iter().any(|words| self.is_confusing(words)) {
            return;
        }
        let now = self.world.now();
        let is_anybody_strange = self.is_anybody_strange();
        let client = &mut self.world.clients[at];
        let is_alone = client.sent.is_empty() && !client.is_lenient && !is_anybody_strange;
        let is_single = batch.len() == 1 && is_alone;
        let (db, queue) = (client.known.db, client.known.queue.clone());
        client.strange += usize::from(client.is_lenient);
        for words in batch {
            let confirmations = rules::confirmations(words, client);
            let name = rules::name(words);
            client.is_lenient |= name == "client|reply";
            self.is_paused |= name == "client|pause";
            if name == "monitor" {
                // Who sees all commands already gets no reply; nor does it here.
                client.is_lenient |= !is_single || client.known.is_monitor;
            }
            // What is in front may change how much this one stops listening to.
            client.is_lenient |= batch.len() > 1 && confirmations > 0;
            client.sent.push_back(Sent {
                words: words.clone(),
                confirmations,
                blocks_since_ms: None,
            });
        }
        let before = self.state.clone();
        let may_evict = self.may_evict();
        self.world.arrive(at, bytes);
        let (replies, messages) = self.receive_all(false);
        let is_whole = replies.len() == batch.len()
            && replies.iter().zip(batch).all(|(reply, words)| reply.0 == at && reply.1 == *words);
        if !is_alone || !is_whole {
            return;
        }
        if let [(_, words, reply)] = &replies[..]
            && is_single
        {
            self.compare(&before, may_evict, words, reply, messages);
        }
        // Those who listen to channels, or to everything, may not do everything.
        let known = &self.world.clients[at].known;
        if may_evict || self.may_evict() || !known.listens.is_empty() || known.is_monitor {
            return;
        }
        let sequence = Sequence { db, before: &before, after: &self.state, now_ms: now.unix_ms };
        match (&queue, &replies[..]) {
            (Some(queue), [(_, words, reply)]) if rules::name(words) == "exec" => {
                if let Some(items) = reply.as_items() {
                    sequence.check(queue.iter().zip(items));
                }
            }
            _ => sequence.check(replies.iter().map(|(_, words, reply)| (words, reply))),
        }
    }

    /// Commands whose replies in a transaction could not be told apart: those of Redis cannot, too.
    fn is_confusing(&self, words: &Words) -> bool {
        let client = &self.world.clients[self.at_work];
        let is_about_channels = rules::confirmations(words, client) > 0;
        let is_reply = rules::name(words) == "client|reply";
        let may_be_queued = client.known.queue.is_some() || !client.sent.is_empty();
        may_be_queued && (is_about_channels || is_reply)
    }

    /// Takes all replies, checks what holds after every step, and returns the replies and how many
    /// messages came.
    fn receive_all(&mut self, is_maintained: bool) -> (Vec<(usize, Words, Value)>, usize) {
        let now_ms = self.world.now().unix_ms;
        self.world.store.check_integrity();
        let before = std::mem::take(&mut self.state);
        self.state = State::of(&mut self.world.store, now_ms);
        let changes = before.changes(&self.state);
        self.state.check(&changes, &mut self.world.store, now_ms);
        let (mut all, mut messages) = (Vec::new(), 0);
        for at in 0..self.world.clients.len() {
            let received = self.world.clients[at].receive(now_ms);
            messages += received.messages;
            for (words, reply) in received.replies {
                self.note(at, &words, &reply);
                all.push((at, words, reply));
            }
        }
        for client in self.world.clients.iter().filter(|_| !self.is_paused) {
            rules::check_waits(client, &self.state, now_ms, is_maintained);
        }
        (all, messages)
    }

    /// Records what a reply says about its client.
    fn note(&mut self, at: usize, words: &Words, reply: &Value) {
        let known = &mut self.world.clients[at].known;
        let is_ok = *reply == Value::Simple(b"OK".to_vec());
        match (rules::name(words), reply) {
            (_, Value::Simple(text)) if text == b"QUEUED" => {
                known.queue.get_or_insert_default().push(words.clone());
            }
            ("multi", _) if is_ok => known.queue = Some(Vec::new()),
            ("select", _) if is_ok => {
                known.db = selected(words);
            }
            ("watch", _) if is_ok => {
                known.watched.extend(words[1..].iter().map(|key| (known.db, key.clone())));
            }
            ("unwatch" | "discard", _) if is_ok => known.forget_transaction(),
            ("monitor", _) if is_ok => known.is_monitor = true,
            ("reset", Value::Simple(text)) if text == b"RESET" => {
                *known = Default::default();
            }
            ("exec", Value::Error(text)) if !text.starts_with(b"EXECABORT") => {}
            ("exec", _) => {
                let queue = known.queue.take().unwrap_or_default();
                assert!(
                    !known.is_spoilt || reply.as_items().is_none(),
                    "a watched key has changed"
                );
                known.forget_transaction();
                let items = reply.as_items().unwrap_or_default();
                assert!(
                    items.is_empty() || items.len() == queue.len(),
                    "EXEC of {queue:?}: {reply:?}"
                );
                for (words, reply) in queue.iter().zip(items) {
                    self.note(at, words, reply);
                }
            }
            _ => {}
        }
    }

    /// Checks a command that ran alone.
    fn compare(
        &mut self,
        before: &State,
        may_evict: bool,
        words: &Words,
        reply: &Value,
        messages: usize,
    ) {
        let after = &self.state;
        Run { words, reply, before, after, may_evict }.check();
        let changes = before.changes(after);
        for client in &mut self.world.clients {
            let known = &mut client.known;
            known.is_spoilt |= !known.watched.is_disjoint(&changes);
        }
        let answer = Answer::from(reply);
        let is_publish = matches!(rules::name(words), "publish" | "spublish");
        let is_everybody =
            self.world.clients.iter().all(|client| !client.closed && !client.is_lenient);
        if is_publish && is_everybody && !answer.is_error() {
            let is_queued = answer == Answer::text(b"QUEUED");
            assert!(is_queued || answer == Answer::count(messages), "{reply:?} got {messages}");
        }
    }

    /// All clients leave, and everything goes.
    fn finish(mut self) {
        for at in 0..self.world.clients.len() {
            if !self.world.clients[at].closed {
                self.world.end(at);
            }
        }
        // As with each turn: what the clients held no longer counts as used.
        self.world.pass(Duration::ZERO, 200);
        let now_ms = self.world.now().unix_ms;
        let mut view = self.world.store.view(Scope::ALL, now_ms);
        (0..DATABASES).for_each(|db| view.clear(db));
        drop(view);
        for _ in 0..CALLS_MAX {
            let mut store = self.world.store.clone();
            if !store.maintain(now_ms, 1000, &mut |_| ()) && store.stats().leaving_bytes == 0 {
                break;
            }
        }
        self.world.store.check_integrity();
        assert_eq!(self.world.store.stats().used_bytes, 0, "bytes are left in use");
    }
}
