// SPDX-License-Identifier: Apache-2.0
//! The service in another dialect than text, one that does what text does not: it echoes an opaque, reports a
//! hit without its value, and still reports failures of a quiet request.

use super::*;
use crate::command::CommandId;
use crate::op::{Arith, Direction, Get, Set};
use crate::reply::{LoginReply, Refusal, Text};
use clock::{Clock, Ticks};
use protocol::{ConnectionId, Directory};
use std::fmt::Display;
use storage::{Change, Collects, Expiry, Item, Put, Stats, Store, StoreError, Version};

/// Letters for outcomes, behind an opaque.
#[derive(Clone, Copy)]
struct Terse {
    opaque: u8,
    quiet: bool,
}

impl Terse {
    fn success(self, out: &mut SendBuf, letter: u8) {
        if !self.quiet {
            self.failure(out, letter);
        }
    }

    fn failure(self, out: &mut SendBuf, letter: u8) {
        out.put(&[self.opaque, letter]);
    }
}

impl Dialect for Terse {
    fn is_text(self) -> bool {
        false
    }
    fn is_listed(self) -> bool {
        false
    }
    fn sends_value(self) -> bool {
        false
    }
    fn hit(self, bytes: &mut Vec<u8>, get: &Get<'_>, item: &impl Item, copied: bool) {
        assert!(!copied && item.key() == get.key);
        bytes.extend([self.opaque, b'0' + item.value().len() as u8]);
    }
    fn behind_value(self, _: &mut Vec<u8>) {
        unreachable!("no value is sent");
    }
    fn miss(self, bytes: &mut Vec<u8>, _: &Get<'_>) {
        if !self.quiet {
            bytes.extend([self.opaque, b'm']);
        }
    }
    fn list_end(self, _: &mut SendBuf) {
        unreachable!("there are no lists");
    }
    fn stored(self, out: &mut SendBuf, version: Version) {
        assert_eq!(version.get(), 7, "the reply can show it");
        self.success(out, b's');
    }
    fn not_stored(self, out: &mut SendBuf) {
        self.failure(out, b'n');
    }
    fn exists(self, out: &mut SendBuf) {
        self.failure(out, b'e');
    }
    fn not_found(self, out: &mut SendBuf) {
        self.failure(out, b'f');
    }
    fn deleted(self, out: &mut SendBuf) {
        self.success(out, b'd');
    }
    fn touched(self, out: &mut SendBuf, _: u32, _: Version) {
        self.success(out, b't');
    }
    fn number(self, out: &mut SendBuf, number: u64, version: Version) {
        assert_eq!(version.get(), 7, "the reply can show it");
        self.success(out, b'0' + number as u8);
    }
    fn not_a_number(self, out: &mut SendBuf) {
        self.failure(out, b'a');
    }
    fn too_large(self, out: &mut SendBuf) {
        self.failure(out, b'l');
    }
    fn out_of_memory(self, out: &mut SendBuf) {
        self.failure(out, b'o');
    }
    fn ok(self, out: &mut SendBuf) {
        self.failure(out, b'k');
    }
    fn version(self, out: &mut SendBuf, _: &str) {
        self.failure(out, b'v');
    }
    fn stat(self, out: &mut SendBuf, name: &str, _: &dyn Display) {
        out.put(&name.as_bytes()[..1]);
    }
    fn stats_end(self, out: &mut SendBuf) {
        self.failure(out, b'.');
    }
    fn stats_reset(self, out: &mut SendBuf) {
        self.failure(out, b'r');
    }
    fn no_topic(self, out: &mut SendBuf) {
        self.failure(out, b'?');
    }
    fn no_keys(self, out: &mut SendBuf) {
        self.failure(out, b'?');
    }
    fn detail_switched(self, out: &mut SendBuf) {
        self.failure(out, b'k');
    }
    fn prefixes(self, out: &mut SendBuf, lines: &[u8]) {
        out.put(lines);
    }
    fn no_prefixes(self, out: &mut SendBuf) {
        self.failure(out, b'?');
    }
    fn login(self, out: &mut SendBuf, _: LoginReply) {
        out.put(b"login ");
    }
    fn refused(self, out: &mut SendBuf, _: Refusal) {
        self.failure(out, b'!');
    }
    fn closed(self, out: &mut SendBuf) {
        self.success(out, b'q');
    }
}

/// A store of one item at most, whose expiry nobody looks at.
#[derive(Debug, Default)]
struct Single(Option<Pair>);

/// Key and value.
#[derive(Debug)]
struct Pair(Vec<u8>, Vec<u8>);

impl Item for &Pair {
    fn key(&self) -> &[u8] {
        &self.0
    }
    fn value(&self) -> &[u8] {
        &self.1
    }
    fn flags(&self) -> u32 {
        0
    }
    fn version(&self) -> Version {
        Version::new(7).expect("not 0")
    }
    fn expiry(&self) -> Expiry {
        Expiry::NEVER
    }
}

impl Store for Single {
    type Item<'a> = &'a Pair;

    fn get(&mut self, key: &[u8], _: Ticks) -> Option<Self::Item<'_>> {
        self.0.as_ref().filter(|item| item.0 == key)
    }
    fn put(&mut self, put: Put<'_>, _: Ticks) -> Result<Version, StoreError> {
        self.0 = Some(Pair(put.key.to_vec(), put.value.to_vec()));
        Ok(Version::new(7).expect("not 0"))
    }
    fn update_versioned<'v, R>(
        &mut self,
        key: &[u8],
        now: Ticks,
        mut decide: impl FnMut(Option<Self::Item<'_>>) -> (Change<'v>, R),
    ) -> Result<(R, Option<Version>), StoreError> {
        let (change, result) = decide(self.get(key, now));
        if let (Change::Number(digits), Some(item)) = (change, &mut self.0) {
            item.1 = digits.as_bytes().to_vec();
        }
        Ok((result, self.get(key, now).map(|item| (&item).version())))
    }
    fn delete(&mut self, key: &[u8], now: Ticks) -> bool {
        let found = self.get(key, now).is_some();
        if found {
            self.0 = None;
        }
        found
    }
    fn expire(&mut self, _: Ticks, _: usize) -> usize {
        0
    }
    fn clear(&mut self) {
        self.0 = None;
    }
    fn stats(&self) -> Stats {
        Stats::default()
    }
    fn check_integrity(&self) {}
}

impl Collects for Single {}

/// What is written for the operations, one after the other.
fn told(reply: Terse, ops: &[Op<'_>]) -> String {
    let mut service = MemcacheService::new(Single::default(), ServiceOptions::new());
    let (mut out, mut outbox, directory) = (SendBuf::new(), Outbox::new(), Directory::new());
    let now = Clock::manual(0).now();
    let context = Context::new(now, ConnectionId::new(0, 1), &mut outbox, &directory);
    let mut codec = Memcache::new(100);
    for &op in ops {
        // The form of the text dialect does not matter: it is not asked.
        let request = Request::text(CommandId::Version, op, Text::Whole);
        service.run_in(reply, &mut codec, &request, &mut out, &context);
    }
    String::from_utf8_lossy(out.front()).into_owned()
}

#[test]
fn operations_are_told_in_the_words_of_any_dialect() {
    let key = &b"k"[..];
    let get = Op::Get(Get { key, cas: false, touch: None });
    let set = Op::Set(Set::new(key, b"5"));
    let add = |delta| Op::Arith(Arith::new(key, delta, Direction::Up));
    let ops = [
        get,
        set,
        get,
        add(3),
        Op::Delete { key, cas: 0 },
        add(1),
        Op::Noop,
        Op::Version,
        Op::Stats { topic: b"sizes" },
        Op::Stats { topic: b"nothing" },
        Op::Quit,
    ];
    let loud = told(Terse { opaque: b'*', quiet: false }, &ops);
    assert_eq!(loud, "*m*s*1*8*d*f*k*vs*.*?*q");
    let quiet = told(Terse { opaque: b'-', quiet: true }, &ops);
    assert_eq!(quiet, "-1-f-k-vs-.-?");
}
