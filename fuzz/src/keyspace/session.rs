// SPDX-License-Identifier: Apache-2.0
//! [`Session`]: the actions within one view.

use super::edit::{Edit, element, expiry};
use super::model::{Model, Place};
use super::value::Value;
use super::{DATABASES, database};
use arbitrary::{Result, Unstructured};
use keyspace::View;
use values::{Entry, Limits, Type};

/// A view, and the model of what it must show.
#[derive(Debug)]
pub(super) struct Session<'a, V> {
    pub(super) view: V,
    pub(super) model: &'a mut Model,
    pub(super) pins: &'a mut Vec<(bytes::Bytes, Vec<u8>)>,
    pub(super) limits: &'a Limits,
    /// The keys that are locked, for sure.
    pub(super) keys: &'a [Vec<u8>],
    /// Values may grow.
    pub(super) has_room: bool,
    /// Everything is locked.
    pub(super) is_whole: bool,
}

impl<V: View> Session<'_, V> {
    /// Carries out the next action of `input`.
    pub(super) fn act(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let place = self.place(input)?;
        match input.int_in_range(0..=15_u8)? {
            0 | 1 => self.look(&place),
            2..=7 if self.has_room => self.edit(&place, input)?,
            8 | 9 if self.has_room => self.put(&place, input)?,
            2 | 10 => self.take(&place),
            3 | 11 => self.set_expiry(&place, input)?,
            4 | 12 => self.rename(&place, input)?,
            5 | 13 => self.copy(&place, input)?,
            6 | 14 if self.is_whole => self.whole(place.0, input)?,
            _ => self.hear(),
        }
        Ok(())
    }

    /// The view tells what it has met.
    pub(super) fn hear(&mut self) {
        let model = &mut *self.model;
        self.view.drain_gone(&mut |gone| model.told_by_view(gone));
        model.check_told();
    }

    fn place(&self, input: &mut Unstructured<'_>) -> Result<Place> {
        Ok((database(input)?, input.choose(self.keys)?.clone()))
    }

    fn now_ms(&self) -> u64 {
        self.model.now_ms
    }

    /// Compares what is under a key.
    fn look(&mut self, place: &Place) {
        let (db, key) = (place.0, &place.1[..]);
        check(&self.view, self.model, place);
        let expected = self.model.live(place).map(|kept| (kept.value.data_type(), kept.expiry));
        let seen = self.view.get(db, key).map(|entry| (entry.data_type(), entry.expiry()));
        assert_eq!(seen, expected, "RULE-READ: get");
        match expected {
            Some(_) => self.model.counts.hits += 1,
            None => self.model.counts.misses += 1,
        }
        self.model.meet(place);
        if let Some(entry) = self.view.peek(db, key) {
            // One of the two is told, whatever the policy.
            assert!(self.view.idle_ms(entry).is_some() != self.view.frequency(entry).is_some());
            self.pins.extend(entry.pin().map(|pin| (pin.clone(), pin.to_vec())));
        }
    }

    /// Changes a value where it is, and its expiry maybe. A collection that is empty then goes.
    fn edit(&mut self, place: &Place, input: &mut Unstructured<'_>) -> Result<()> {
        let (db, key) = (place.0, &place.1[..]);
        let edits = input.int_in_range(1..=4_u8)?;
        let expiry = if input.ratio(1, 8)? { Some(expiry(input, self.now_ms())?) } else { None };
        let edit = Edit { limits: self.limits, now_ms: self.now_ms() };
        let entry = self.view.get_mut(db, key);
        assert_eq!(entry.is_some(), self.model.live(place).is_some(), "RULE-EDIT");
        self.model.meet(place);
        let (Some(mut entry), Some(kept)) = (entry, self.model.live_mut(place)) else {
            return Ok(());
        };
        let mut done = Ok(());
        for _ in 0..edits {
            done = done.and_then(|()| edit.apply(&mut entry, &mut kept.value, input));
            kept.value.check(&entry, edit.now_ms);
        }
        if let Some(expiry) = expiry {
            entry.set_expiry(expiry);
            kept.expiry = expiry;
        }
        let is_empty = entry.is_empty() && entry.data_type() != Type::String;
        drop(entry);
        if is_empty {
            assert_eq!(kept.value.len(edit.now_ms), 0, "elements are lost");
            self.take(place);
        }
        done
    }

    /// A new value.
    fn put(&mut self, place: &Place, input: &mut Unstructured<'_>) -> Result<()> {
        let expiry = expiry(input, self.now_ms())?;
        let edit = Edit { limits: self.limits, now_ms: self.now_ms() };
        let (mut entry, mut value) = fresh(&place.1, input)?;
        for _ in 0..input.int_in_range(1..=3_u8)? {
            edit.apply(&mut entry, &mut value, input)?;
        }
        value.check(&entry, edit.now_ms);
        if entry.is_empty() && entry.data_type() != Type::String {
            return Ok(());
        }
        entry.set_expiry(expiry);
        self.put_entry(entry, place, value, expiry);
        Ok(())
    }

    fn put_entry(&mut self, entry: Entry, place: &Place, value: Value, expiry: Option<u64>) {
        let old = self.view.put(entry, place.0);
        let expected = self.model.live(place);
        assert_eq!(old.is_some(), expected.is_some(), "RULE-READ: what a put replaces");
        if let (Some(old), Some(expected)) = (old, expected) {
            expected.value.check(&old, self.model.now_ms);
            self.view.dispose(old);
        }
        self.model.put(place.clone(), value, expiry);
        check(&self.view, self.model, place);
    }

    fn take(&mut self, place: &Place) {
        let taken = self.view.take(place.0, &place.1);
        let expected = self.model.live(place);
        assert_eq!(taken.is_some(), expected.is_some(), "RULE-READ: what is taken");
        if let (Some(taken), Some(expected)) = (taken, expected) {
            expected.value.check(&taken, self.model.now_ms);
            assert_eq!(taken.expiry(), expected.expiry, "RULE-READ: what is taken");
            self.view.dispose(taken);
        }
        self.model.meet(place);
        self.model.remove(place);
        assert!(self.view.peek(place.0, &place.1).is_none(), "RULE-READ: it is taken");
    }

    fn set_expiry(&mut self, place: &Place, input: &mut Unstructured<'_>) -> Result<()> {
        let expiry = expiry(input, self.now_ms())?;
        let is_set = self.view.set_expiry(place.0, &place.1, expiry);
        assert_eq!(is_set, self.model.live(place).is_some(), "RULE-EDIT: set_expiry");
        self.model.meet(place);
        if let Some(kept) = self.model.live_mut(place) {
            kept.expiry = expiry;
        }
        check(&self.view, self.model, place);
        Ok(())
    }

    /// Moves an entry to another place, its own maybe.
    fn rename(&mut self, place: &Place, input: &mut Unstructured<'_>) -> Result<()> {
        let to = self.place(input)?;
        let taken = self.view.take(place.0, &place.1);
        assert_eq!(taken.is_some(), self.model.live(place).is_some(), "RULE-READ: what is moved");
        self.model.meet(place);
        if let (Some(entry), Some(kept)) = (taken, self.model.remove(place)) {
            self.put_entry(entry.rename(&to.1), &to, kept.value, kept.expiry);
        }
        Ok(())
    }

    fn copy(&mut self, place: &Place, input: &mut Unstructured<'_>) -> Result<()> {
        let to = self.place(input)?;
        let Some(entry) = self.view.peek(place.0, &place.1) else { return Ok(()) };
        let copy = entry.copy_to(&to.1);
        let kept = self.model.live(place).expect("RULE-READ: what is copied").clone();
        if self.has_room {
            self.put_entry(copy, &to, kept.value, kept.expiry);
        }
        Ok(())
    }

    /// What needs everything locked.
    fn whole(&mut self, db: usize, input: &mut Unstructured<'_>) -> Result<()> {
        match input.int_in_range(0..=7_u8)? {
            0 => {
                self.view.clear(db);
                self.model.clear(db);
            }
            1 | 2 => {
                let other = input.int_in_range(0..=DATABASES - 1)?;
                self.view.swap(db, other);
                self.model.swap(db, other);
            }
            3 | 4 => {
                let random = input.arbitrary()?;
                // Those that it finds expired it removes; how many, only it knows.
                self.hear();
                let model = &mut *self.model;
                let drawn = self.view.random(db, random).map(|entry| (db, entry.key().to_vec()));
                let is_any_live = model.live_places().any(|(of, _)| *of == db);
                assert_eq!(drawn.is_some(), is_any_live, "RULE-RANDOM: database {db}");
                assert!(drawn.is_none_or(|drawn| model.live(&drawn).is_some()), "RULE-RANDOM");
                let policy = keyspace::Policy::NoEviction;
                self.view.drain_gone(&mut |gone| model.told(gone, policy));
            }
            _ => {
                self.hear();
                let here = || self.model.entries().filter(|((of, _), _)| *of == db);
                assert_eq!(self.view.len(db), here().count(), "RULE-LEN: database {db}");
                assert_eq!(self.view.is_empty(db), here().next().is_none());
                let volatile = here().filter(|(_, kept)| kept.expiry.is_some()).count();
                assert_eq!(self.view.volatile_len(db), volatile, "RULE-LEN: volatile, {db}");
            }
        }
        Ok(())
    }
}

/// A value of any type, with an element at least.
fn fresh(key: &[u8], input: &mut Unstructured<'_>) -> Result<(Entry, Value)> {
    let of = *input.choose(&Type::ALL)?;
    Ok(match of {
        Type::List => (Entry::new_list(key), Value::empty(of)),
        Type::Set => (Entry::new_set(key), Value::empty(of)),
        Type::Zset => (Entry::new_zset(key), Value::empty(of)),
        Type::Hash => (Entry::new_hash(key), Value::empty(of)),
        Type::Stream => (Entry::new_stream(key), Value::empty(of)),
        _ => {
            let text = element(input)?;
            (Entry::string(key, &text), Value::String(text))
        }
    })
}

/// Compares what a view shows under a key with the model, without a trace.
pub(super) fn check(view: &impl View, model: &Model, place: &Place) {
    let seen = view.peek(place.0, &place.1);
    match (seen, model.live(place)) {
        (Some(entry), Some(kept)) => {
            assert_eq!(entry.key(), place.1, "RULE-READ: the key");
            assert_eq!(entry.expiry(), kept.expiry, "RULE-READ: the expiry");
            kept.value.check(entry, model.now_ms);
        }
        (None, None) => {}
        (seen, kept) => panic!("RULE-READ: {seen:?} instead of {kept:?} at {place:?}"),
    }
}
