// SPDX-License-Identifier: Apache-2.0
//! [`Trial`]: a store and its model, and the operations that an input is read as.

use crate::model::{Expected, Model};
use arbitrary::{Result, Unstructured};
use clock::Ticks;
use std::time::Duration;
use storage::{Change, Condition, Digits, Expiry, Item, Put, Stage, Stats, Store, StoreError};
use storage_hashmap::HashMapStore;

/// Bytes that a store may need for an item besides its key and its value.
const ITEM_OVERHEAD_MAX: u64 = 512;

/// How the store under test was made.
#[derive(Clone, Copy, Debug)]
struct Setup {
    memory: u64,
    item_max: u64,
    shards: usize,
    evicts: bool,
}

impl Setup {
    /// Four bytes: sizes, shards and whether it evicts.
    fn read(input: &mut Unstructured<'_>) -> Result<Self> {
        Ok(Setup {
            memory: (64 << 10) << input.int_in_range(0..=3)?,
            item_max: *input.choose(&[64, 1000, 8192, 20_000, 1 << 20])?,
            shards: 1 << input.int_in_range(0..=3)?,
            evicts: input.ratio(3, 4)?,
        })
    }
}

/// A store and its model, side by side.
#[derive(Debug)]
pub(crate) struct Trial {
    store: HashMapStore,
    model: Model,
    setup: Setup,
    now: Ticks,
    /// Counts the writes, so that no two values are alike.
    serial: u32,
    /// Pinned values and what they must stay.
    pins: Vec<(bytes::Bytes, Vec<u8>)>,
}

impl Trial {
    /// An empty store of the size that `input` begins with.
    pub(crate) fn new(input: &mut Unstructured<'_>) -> Result<Self> {
        let setup = Setup::read(input)?;
        let store = HashMapStore::builder()
            .memory(setup.memory)
            .item_max(setup.item_max)
            .shards(setup.shards)
            .evict(setup.evicts)
            .seed(7)
            .build();
        let now = Ticks::from_millis(12_345);
        let model = Model::default();
        Ok(Trial { store, model, setup, now, serial: 0, pins: Vec::new() })
    }

    /// Carries out the next operation of `input` on both and compares.
    pub(crate) fn step(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let before = self.store.stats();
        match input.int_in_range(0..=13_u8)? {
            0..=3 => self.put(input)?,
            4 | 5 => self.read(input)?,
            6 => self.delete(input)?,
            7 | 8 => self.update(input)?,
            9 | 10 => self.now = self.now + Duration::from_millis(1 << input.int_in_range(0..=24)?),
            11 => self.expire(input.arbitrary::<u8>()?.into()),
            12 => self.prefetch(input)?,
            _ if input.ratio(1, 8)? => {
                self.store.clear();
                self.model.clear();
            }
            _ => self.pin(input)?,
        }
        self.settle(before);
        self.store.check_integrity();
        Ok(())
    }

    /// Compares everything.
    pub(crate) fn finish(mut self) {
        self.compare_all();
        drop(self.store);
        for (pin, expected) in &self.pins {
            assert!(pin[..] == expected[..], "a pinned value has changed");
        }
    }

    fn put(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let key = key(input)?;
        let value = self.value(input)?;
        let condition = self.condition(&key, input)?;
        let put = Put::new(&key, &value)
            .flags(self.serial)
            .expiry(self.expiry(input)?)
            .condition(condition);
        let refusal = self.model.refusal(&put, self.now);
        let old = self.model.live(&key, self.now).cloned();
        match self.store.put(put, self.now) {
            Ok(version) => {
                assert_eq!(refusal, None, "{condition:?} was to be refused");
                self.model.write(&put, version);
                self.compare(&key);
            }
            Err(error) => {
                let wanted = refusal == Some(error) || self.may_refuse(error, &key, value.len());
                assert!(wanted, "{error:?}, but {refusal:?} expected for {} bytes", value.len());
                assert_eq!(self.get(&key), old, "RULE-REFUSED after {error:?}");
            }
        }
        Ok(())
    }

    fn update(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let key = key(input)?;
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
        let result = self.store.update(&key, self.now, |item| {
            assert_eq!(item.map(|item| Expected::of(&item)), old, "an update sees another item");
            (change, 42)
        });
        let needs = matches!(change, Change::Expire(_) | Change::Number(_) | Change::Extend { .. });
        match (result, written) {
            (Ok(passed), written) => {
                assert_eq!(passed, 42, "an update loses its caller's result");
                assert!(old.is_some() || !needs, "{change:?} needs an item");
                self.updated(&key, &change, written);
            }
            (Err(StoreError::NotFound), _) if needs && old.is_none() => {}
            (Err(error), Some((value, ..))) if self.may_refuse(error, &key, value.len()) => {
                assert_eq!(self.get(&key), old, "RULE-REFUSED after {error:?}");
            }
            (Err(error), _) => panic!("{error:?} for {change:?} of {old:?}"),
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
        let key = key(input)?;
        let was_live = self.model.live(&key, self.now).is_some();
        assert_eq!(self.store.delete(&key, self.now), was_live, "delete {}", key.escape_ascii());
        self.model.remove(&key);
        self.compare(&key);
        Ok(())
    }

    fn expire(&mut self, budget: usize) {
        let before = self.store.stats().items;
        let freed = self.store.expire(self.now, budget);
        assert!(freed <= budget, "freed {freed} with a budget of {budget}");
        assert_eq!(self.store.stats().items, before - freed as u64, "freed {freed}");
        self.compare_all();
    }

    fn prefetch(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let key = key(input)?;
        self.store.prefetch(&key, Stage::Index);
        self.store.prefetch(&key, Stage::Item);
        self.store.prefetch(&key, Stage::Value);
        Ok(())
    }

    fn pin(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let key = key(input)?;
        let pin = self.store.get(&key, self.now).and_then(|item| item.pin());
        if let Some(pin) = pin {
            let expected = self.model.live(&key, self.now).expect("it was just read");
            assert!(pin[..] == *expected.value(), "a pin is not the value");
            self.pins.push((pin, expected.value().to_vec()));
            self.pins.truncate(8);
        }
        Ok(())
    }

    /// Strikes evicted items out of the model, and checks the numbers.
    fn settle(&mut self, before: Stats) {
        let after = self.store.stats();
        let evicted = after.evicted - before.evicted;
        assert!(self.setup.evicts || evicted == 0, "evicts, but was told not to");
        if evicted > 0 {
            let mut missing = 0;
            for key in self.model.live_keys(self.now) {
                if self.get(&key).is_none() {
                    self.model.remove(&key);
                    missing += 1;
                }
            }
            assert!(missing <= evicted, "{missing} items are gone, {evicted} evicted");
        }
        let live = self.model.live_keys(self.now).len() as u64;
        assert!(after.items >= live, "{} items, of which {live} are live", after.items);
        let (used, limit) = (after.used_bytes, after.limit_bytes);
        assert!(used <= limit && limit <= self.setup.memory, "RULE-LIMIT: {used} of {limit}");
    }

    /// Whether the store may refuse a value of `len` bytes with `error`.
    fn may_refuse(&self, error: StoreError, key: &[u8], len: usize) -> bool {
        let needed = (key.len() + len) as u64 + ITEM_OVERHEAD_MAX;
        match error {
            StoreError::TooLarge => {
                len as u64 > self.setup.item_max || needed > self.setup.memory / 2
            }
            StoreError::OutOfMemory => !self.setup.evicts,
            _ => false,
        }
    }

    fn get(&mut self, key: &[u8]) -> Option<Expected> {
        let item = self.store.get(key, self.now)?;
        assert_eq!(item.key(), key, "an item with another key");
        Some(Expected::of(&item))
    }

    fn compare(&mut self, key: &[u8]) {
        let seen = self.get(key);
        let expected = self.model.live(key, self.now);
        assert_eq!(seen.as_ref(), expected, "RULE-READ: {}", key.escape_ascii());
    }

    fn compare_all(&mut self) {
        for key in self.model.live_keys(self.now) {
            self.compare(&key);
        }
    }

    /// A value that no other write has, of a length between nothing and more than is accepted.
    fn value(&mut self, input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
        self.serial += 1;
        let small = usize::from(input.arbitrary::<u8>()?);
        let len = match small % 4 {
            3 => small * small / 2,
            _ => small,
        };
        let mut value = self.serial.to_string().into_bytes();
        value.resize(len, b'.');
        Ok(value)
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

/// One of 64 keys, of all lengths up to 250 bytes.
fn key(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let number = input.int_in_range(0..=63_usize)?;
    let mut key = vec![b'a' + (number % 26) as u8; 1 + number * number / 16];
    key[0] = number as u8;
    Ok(key)
}
