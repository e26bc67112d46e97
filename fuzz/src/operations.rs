// SPDX-License-Identifier: Apache-2.0
//! [`Trial`]: a store and its model, and the operations that an input is read as.

use crate::engine::Engine;
use crate::model::{Expected, Model};
use arbitrary::{Result, Unstructured};
use clock::Ticks;
use std::time::Duration;
use storage::{
    Change, Condition, Digits, Expiry, Item, Put, ResizeError, Stage, Stats, Store, StoreError,
};

/// A store and its model, side by side.
#[derive(Debug)]
pub(crate) struct Trial<E: Engine> {
    engine: E,
    handles: Vec<E::Store>,
    /// The handle at work; the others rest.
    at_work: usize,
    model: Model,
    now: Ticks,
    /// Counts the writes, so that no two values are alike.
    serial: u32,
    /// Pinned values and what they must stay.
    pins: Vec<(bytes::Bytes, Vec<u8>)>,
    /// The memory limit, and what of it was reserved last.
    limit: u64,
    reserved: u64,
}

impl<E: Engine> Trial<E> {
    /// An empty store of the kind that `input` begins with.
    pub(crate) fn new(input: &mut Unstructured<'_>) -> Result<Self> {
        let engine = E::read(input)?;
        let (handles, model) = (engine.build(), Model::default());
        let now = Ticks::from_millis(12_345);
        let (limit, pins) = (handles[0].stats().limit_bytes, Vec::new());
        assert_eq!(limit, engine.memory(), "RULE-LIMIT");
        Ok(Trial { engine, handles, at_work: 0, model, now, serial: 0, pins, limit, reserved: 0 })
    }

    /// Carries out the next operation of `input` on both and compares.
    pub(crate) fn step(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let before = self.store().stats();
        match input.int_in_range(0..=E::OPERATIONS)? {
            0..=3 => self.put(input)?,
            4 | 5 => self.read(input)?,
            6 => self.delete(input)?,
            7 | 8 => self.update(input)?,
            9 | 10 => self.now = self.now + Duration::from_millis(1 << input.int_in_range(0..=24)?),
            11 => self.expire(input.arbitrary::<u8>()?.into()),
            12 => self.prefetch(input)?,
            13 => match input.int_in_range(1..=8)? {
                1 => {
                    self.store().clear();
                    self.model.clear();
                }
                2 => self.resize(input)?,
                _ => self.pin(input)?,
            },
            14 | 15 => self.fill(input)?,
            16 => self.store().rest(),
            17 => self.reserve(input)?,
            18 => self.pins.clear(),
            _ => self.change_handles(input)?,
        }
        self.settle(before);
        self.handles[self.at_work].check_integrity();
        Ok(())
    }

    /// Compares everything.
    pub(crate) fn finish(mut self) {
        self.compare_all();
        self.handles.clear();
        self.check_pins();
    }

    fn check_pins(&self) {
        for (pin, expected) in &self.pins {
            assert!(pin[..] == expected[..], "a pinned value has changed");
        }
    }

    fn store(&mut self) -> &mut E::Store {
        &mut self.handles[self.at_work]
    }

    fn put(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let key = key(input)?;
        let value = self.value(input)?;
        self.compare(&key);
        let condition = self.condition(&key, input)?;
        let put = Put::new(&key, &value)
            .flags(self.serial)
            .expiry(self.expiry(input)?)
            .condition(condition);
        let refusal = self.model.refusal(&put, self.now);
        let old = self.model.live(&key, self.now).cloned();
        let now = self.now;
        match self.store().put(put, now) {
            Ok(version) => {
                assert_eq!(refusal, None, "{condition:?} was to be refused");
                self.model.write(&put, version);
                self.compare(&key);
            }
            Err(error) => {
                let wanted = refusal == Some(error)
                    || self.may_refuse(error, &key, value.len())
                    || self.may_fail(condition, error);
                assert!(wanted, "{error:?}, but {refusal:?} expected for {} bytes", value.len());
                self.unchanged(&key, old.as_ref(), error);
            }
        }
        Ok(())
    }

    /// Many items of one size, to fill memory and index.
    fn fill(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let count = 1_u32 << input.int_in_range(0..=7)?;
        let first = u32::from(input.arbitrary::<u8>()?) << 4;
        let len = self.engine.length(input.arbitrary()?).min(20_000);
        let expiry = self.expiry(input)?;
        for number in first..first + count {
            let key = [&b"fill"[..], &number.to_le_bytes()].concat();
            let value = self.value_of(len);
            let put = Put::new(&key, &value).flags(number).expiry(expiry);
            let now = self.now;
            match self.store().put(put, now) {
                Ok(version) => self.model.write(&put, version),
                Err(error) => assert!(self.may_refuse(error, &key, len), "{error:?}: {len} bytes"),
            }
        }
        Ok(())
    }

    fn update(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let key = key(input)?;
        self.compare(&key);
        let (value, other) = (self.value(input)?, self.value(input)?);
        let (expiry, flags) = (self.expiry(input)?, self.serial);
        let change = match input.int_in_range(0..=5_u8)? {
            0 => Change::Keep,
            1 => Change::Delete,
            2 => Change::Expire(expiry),
            3 => Change::Number(Digits::new(&value[..value.len().min(Digits::MAX)])),
            4 => Change::Extend { before: &value, after: &other },
            _ => Change::Put { value: &value, flags, expiry },
        };
        let old = self.model.live(&key, self.now).cloned();
        let written = self.model.changed(&key, &change, self.now);
        let len = match (&written, &change, &old) {
            (Some((value, ..)), ..) => Some(value.len()),
            // Another expiry may need another place.
            (None, Change::Expire(_), Some(old)) => Some(old.value().len()),
            _ => None,
        };
        let (now, evicts) = (self.now, self.engine.evicts());
        // It may be asked again after it has made room, for which the item may have gone or moved.
        let (mut is_first, mut went) = (true, false);
        let result = self.store().update(&key, now, |item| {
            let seen = item.map(|item| Expected::of(&item));
            went = !is_first && evicts && seen.is_none();
            let is_right = seen == old || !is_first && is_moved::<E>(seen.as_ref(), old.as_ref());
            is_first = false;
            assert!(went || is_right, "an update sees {seen:?} instead of {old:?}");
            (change, 42)
        });
        let needs = matches!(change, Change::Expire(_) | Change::Number(_) | Change::Extend { .. });
        match result {
            Ok(passed) => {
                assert_eq!(passed, 42, "an update loses its caller's result");
                assert!(old.is_some() && !went || !needs, "{change:?} needs an item");
                self.updated(&key, &change, written);
            }
            Err(StoreError::NotFound) if needs && (old.is_none() || went) => {}
            Err(error) if len.is_some_and(|len| self.may_refuse(error, &key, len)) => {
                self.unchanged(&key, old.as_ref(), error);
            }
            Err(error) => panic!("{error:?} for {change:?} of {old:?}"),
        }
        Ok(())
    }

    /// Takes over what a successful update did.
    fn updated(
        &mut self,
        key: &[u8],
        change: &Change<'_>,
        written: Option<(Vec<u8>, u32, Expiry)>,
    ) {
        match (change, written) {
            (_, Some((value, flags, expiry))) => {
                let put = Put::new(key, &value).flags(flags).expiry(expiry);
                // The store tells a version only to those who can read the item.
                match self.get(key) {
                    Some(seen) => self.model.write(&put, seen.version()),
                    None => {
                        assert!(expiry.is_past(self.now), "an update wrote nothing");
                        self.model.remove(key);
                    }
                }
            }
            (Change::Delete, None) => self.model.remove(key),
            (Change::Expire(expiry), None) => self.model.set_expiry(key, *expiry),
            _ => {}
        }
        self.compare(key);
    }

    fn read(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let key = key(input)?;
        self.compare(&key);
        Ok(())
    }

    fn delete(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let (key, now) = (key(input)?, self.now);
        let was_live = self.model.live(&key, now).is_some();
        assert_eq!(self.store().delete(&key, now), was_live, "delete {}", key.escape_ascii());
        self.model.remove(&key);
        self.compare(&key);
        Ok(())
    }

    fn expire(&mut self, budget: usize) {
        let (now, before) = (self.now, self.store().stats().items);
        let freed = self.store().expire(now, budget);
        assert!(freed <= budget, "freed {freed} with a budget of {budget}");
        let gone = before - self.store().stats().items;
        let is_right = if E::IS_EXACT { gone == freed as u64 } else { gone >= freed as u64 };
        assert!(is_right, "freed {freed}, and {gone} are gone");
    }

    fn prefetch(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let key = key(input)?;
        for stage in Stage::ALL {
            self.store().prefetch(&key, stage);
        }
        Ok(())
    }

    fn pin(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let key = key(input)?;
        let now = self.now;
        let pin = self.store().get(&key, now).and_then(|item| item.pin());
        if let Some(pin) = pin {
            let expected = self.model.live(&key, self.now).expect("it was just read");
            assert!(pin[..] == *expected.value(), "a pin is not the value");
            self.pins.push((pin, expected.value().to_vec()));
            self.pins.truncate(8);
        }
        Ok(())
    }

    fn reserve(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let bytes = self.engine.memory() / 256 * u64::from(input.arbitrary::<u8>()?);
        self.store().reserve(bytes);
        self.reserved = bytes;
        Ok(())
    }

    /// Sets another limit, and waits until the store is within it as far as it can be. What fits stays.
    fn resize(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let limit = self.engine.memory() / 4 * input.int_in_range(1..=20)?;
        let before = self.store().stats();
        match self.store().resize(limit) {
            Ok(()) => self.limit = limit,
            Err(ResizeError::TooSmall { least }) => assert!(limit < least && least <= self.limit),
            Err(ResizeError::TooLarge { most }) => assert!(limit > most && most >= self.limit),
        }
        if self.limit >= before.limit_bytes {
            return Ok(());
        }
        self.check_pins();
        self.pins.clear();
        for _ in 0..20_000 {
            let mut is_shrinking = false;
            for handle in &mut self.handles {
                handle.expire(self.now, 64);
                is_shrinking |= handle.is_shrinking();
                handle.rest();
            }
            let stats = self.store().stats();
            if stats.used_bytes <= stats.limit_bytes && !is_shrinking {
                break;
            }
        }
        // Small items, of which there are few.
        let room = self.limit.saturating_sub(self.reserved);
        if before.item_bytes <= room / 4 && self.model.longest() <= 2_000 {
            let evicted = self.store().stats().evicted;
            assert_eq!(evicted, before.evicted, "RULE-RESIZE: {before:?} in {limit} bytes");
        }
        Ok(())
    }

    /// Another handle goes to work, if there are several.
    fn change_handles(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        self.store().rest();
        self.at_work = input.int_in_range(0..=self.handles.len() - 1)?;
        Ok(())
    }

    /// Strikes evicted items out of the model, and checks the numbers.
    fn settle(&mut self, before: Stats) {
        let after = self.store().stats();
        let evicted = after.evicted - before.evicted;
        assert!(self.engine.evicts() || evicted == 0, "evicts, but was told not to");
        if evicted > 0 {
            let mut missing = 0;
            for key in self.model.live_keys(self.now) {
                if self.handles[self.at_work].get(&key, self.now).is_none() {
                    self.model.remove(&key);
                    missing += 1;
                }
            }
            assert!(missing <= evicted, "{missing} items are gone, {evicted} evicted");
        }
        let live = self.model.live_count(self.now) as u64;
        assert!(after.items >= live, "{} items, of which {live} are live", after.items);
        let (used, limit) = (after.used_bytes, after.limit_bytes);
        assert_eq!(limit, self.limit, "RULE-LIMIT: another one than was set");
        // Where nothing may be evicted, what is there may be more than a lower limit.
        let may_exceed = !self.engine.evicts() && before.used_bytes >= used;
        assert!(used <= limit || may_exceed, "RULE-LIMIT: {used} of {limit}");
    }

    /// Whether the store may refuse a value of `len` bytes with `error`.
    fn may_refuse(&self, error: StoreError, key: &[u8], len: usize) -> bool {
        self.engine.may_refuse(error, key.len(), len)
    }

    /// Whether the item of a condition may have gone, or moved, in the attempt to make room.
    fn may_fail(&self, condition: Condition, error: StoreError) -> bool {
        match (condition, error) {
            (Condition::IfPresent | Condition::IfVersion(_), StoreError::NotFound) => {
                self.engine.evicts()
            }
            (Condition::IfVersion(_), StoreError::Exists) => E::MOVES_VERSIONS,
            _ => false,
        }
    }

    /// A refused write has left the item as it was, unless it had to go in the attempt to make room.
    fn unchanged(&mut self, key: &[u8], old: Option<&Expected>, error: StoreError) {
        let seen = self.get(key);
        let for_room = matches!(error, StoreError::OutOfMemory | StoreError::NotFound);
        let went = seen.is_none() && for_room && self.engine.evicts();
        let is_same = seen.as_ref() == old || is_moved::<E>(seen.as_ref(), old);
        assert!(went || is_same, "RULE-REFUSED after {error:?}: {seen:?}, {old:?}");
    }

    fn get(&mut self, key: &[u8]) -> Option<Expected> {
        let now = self.now;
        let item = self.store().get(key, now)?;
        assert_eq!(item.key(), key, "an item with another key");
        Some(Expected::of(&item))
    }

    fn compare(&mut self, key: &[u8]) {
        let item = self.handles[self.at_work].get(key, self.now);
        let expected = self.model.live(key, self.now);
        let (Some(item), Some(expected)) = (&item, expected) else {
            let seen = item.map(|item| Expected::of(&item));
            assert_eq!(seen.as_ref(), expected, "RULE-READ: {}", key.escape_ascii());
            return;
        };
        // Without a copy of the value, as this is most of the work.
        let is_right = item.key() == key && expected.is_like(item);
        let version = item.version();
        if is_right && version != expected.version() && E::MOVES_VERSIONS {
            self.model.moved(key, version);
            return;
        }
        let seen = || Expected::of(item);
        let is_right = is_right && version == expected.version();
        assert!(is_right, "RULE-READ: {}: {:?}, {expected:?}", key.escape_ascii(), seen());
    }

    fn compare_all(&mut self) {
        for key in self.model.live_keys(self.now) {
            self.compare(&key);
        }
    }

    /// A value that no other write has, of a length between nothing and more than is accepted.
    fn value(&mut self, input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
        let len = self.engine.length(input.arbitrary()?);
        Ok(self.value_of(len))
    }

    fn value_of(&mut self, len: usize) -> Vec<u8> {
        self.serial += 1;
        let mut value = self.serial.to_string().into_bytes();
        value.resize(len, b'.');
        value
    }

    fn condition(&self, key: &[u8], input: &mut Unstructured<'_>) -> Result<Condition> {
        Ok(match input.int_in_range(0..=7_u8)? {
            0 => Condition::IfAbsent,
            1 => Condition::IfPresent,
            // The right version, and that of another time or key.
            2 => match self.model.live(key, self.now) {
                Some(item) => Condition::IfVersion(item.version()),
                None => Condition::IfPresent,
            },
            3 => match storage::Version::new(input.arbitrary::<u8>()?.into()) {
                Some(version) => Condition::IfVersion(version),
                None => Condition::IfAbsent,
            },
            _ => Condition::Always,
        })
    }

    fn expiry(&self, input: &mut Unstructured<'_>) -> Result<Expiry> {
        Ok(match input.int_in_range(0..=31_u32)? {
            0..=7 => Expiry::NEVER,
            8 => Expiry::at(Ticks::ZERO),
            9 => Expiry::at(self.now),
            shift => Expiry::after(Duration::from_millis(1 << (shift - 10)), self.now),
        })
    }
}

/// Whether an item is the same but for its version, and that may be.
fn is_moved<E: Engine>(seen: Option<&Expected>, old: Option<&Expected>) -> bool {
    E::MOVES_VERSIONS && seen.zip(old).is_some_and(|(seen, old)| seen.is_moved(old))
}

/// One of 64 keys, of all lengths up to 250 bytes.
fn key(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let number = input.int_in_range(0..=63_usize)?;
    let mut key = vec![b'a' + (number % 26) as u8; 1 + number * number / 16];
    key[0] = number as u8;
    Ok(key)
}
