// SPDX-License-Identifier: Apache-2.0
//! Edits of hashes.

use super::{Edit, element, expiry, many};
use crate::keyspace::value::Field;
use arbitrary::{Result, Unstructured};
use std::collections::{BTreeMap, BTreeSet};
use values::HashMut;

type Hash = BTreeMap<Vec<u8>, Field>;

impl Edit<'_> {
    pub(super) fn hash(
        self,
        entry: &mut HashMut<'_>,
        hash: &mut Hash,
        input: &mut Unstructured<'_>,
    ) -> Result<()> {
        match input.int_in_range(0..=11_u8)? {
            0..=2 => {
                let (name, value) = (element(input)?, element(input)?);
                self.set_field(entry, hash, name, value, false);
            }
            3 => {
                let (name, value) = (element(input)?, element(input)?);
                self.set_field(entry, hash, name, value, true);
            }
            4 | 5 => {
                let name = element(input)?;
                let was_live = hash.remove(&name).is_some_and(|field| field.is_live(self.now_ms));
                assert_eq!(entry.remove(&name, self.now_ms), was_live);
            }
            6 | 7 => {
                let (name, expiry) = (element(input)?, expiry(input, self.now_ms)?);
                let field = hash.get_mut(&name).filter(|field| field.is_live(self.now_ms));
                assert_eq!(entry.set_expiry(&name, expiry, self.now_ms), field.is_some());
                if let Some(field) = field {
                    field.expiry = expiry;
                }
            }
            8 => self.remove_expired(entry, hash, input)?,
            9 => {
                let (prefix, value) = (element(input)?, element(input)?);
                let (prefix, value) =
                    (&prefix[..prefix.len().min(100)], &value[..value.len().min(100)]);
                let expiry = expiry(input, self.now_ms)?;
                for number in 0..many(input, hash.len())? {
                    let name = [prefix, number.to_string().as_bytes()].concat();
                    self.set_field(entry, hash, name.clone(), value.to_vec(), false);
                    if expiry.is_some() {
                        assert!(entry.set_expiry(&name, expiry, self.now_ms));
                        hash.get_mut(&name).expect("it was just set").expiry = expiry;
                    }
                }
            }
            10 => self.walk_hash(entry, hash, input)?,
            _ => self.sample_hash(entry, hash, input)?,
        }
        Ok(())
    }

    fn set_field(
        self,
        entry: &mut HashMut<'_>,
        hash: &mut Hash,
        name: Vec<u8>,
        value: Vec<u8>,
        keeps_expiry: bool,
    ) {
        let old = hash.get(&name).filter(|field| field.is_live(self.now_ms));
        let is_new = if keeps_expiry {
            entry.set_keeping_expiry(&name, &value, self.now_ms)
        } else {
            entry.set(&name, &value, self.now_ms)
        };
        assert_eq!(is_new, old.is_none());
        let expiry = old.filter(|_| keeps_expiry).and_then(|field| field.expiry);
        hash.insert(name, Field { value, expiry });
    }

    fn remove_expired(
        self,
        entry: &mut HashMut<'_>,
        hash: &mut Hash,
        input: &mut Unstructured<'_>,
    ) -> Result<()> {
        let budget = 1 << input.int_in_range(0..=12_u32)?;
        let is_due = entry.read().next_expiry().is_some_and(|next| next <= self.now_ms);
        let mut gone = Vec::new();
        let count = entry.remove_expired(self.now_ms, budget, |name| gone.push(name.to_vec()));
        assert_eq!(count, gone.len());
        for name in gone {
            let field = hash.remove(&name).expect("what goes was there");
            assert!(!field.is_live(self.now_ms), "{} went too soon", name.escape_ascii());
        }
        assert!(is_due || count == 0, "{count} go before it is time");
        if is_due && budget > 2 * hash.len() + 64 {
            assert_eq!(entry.len(), entry.read().live(self.now_ms), "some are left");
        }
        Ok(())
    }

    fn walk_hash(
        self,
        entry: &HashMut<'_>,
        hash: &Hash,
        input: &mut Unstructured<'_>,
    ) -> Result<()> {
        let count = input.int_in_range(1..=20_usize)?;
        let is_there = |name: &[u8], value: &[u8]| {
            let field = hash.get(name).filter(|field| field.is_live(self.now_ms));
            field.is_some_and(|field| field.value == value)
        };
        let (mut cursor, mut seen) = (0, BTreeSet::new());
        for _ in 0..=4 * hash.len() {
            cursor = entry.read().scan(cursor, count, self.now_ms, |name, value| {
                assert!(is_there(name, value), "no field");
                seen.insert(name.to_vec());
            });
            if cursor == 0 {
                break;
            }
        }
        assert!(cursor == 0 && seen.len() == entry.read().live(self.now_ms), "a walk over a hash");
        let cursor = input.arbitrary()?;
        entry.read().scan(cursor, count, self.now_ms, |name, value| {
            assert!(is_there(name, value), "no field");
        });
        Ok(())
    }

    fn sample_hash(
        self,
        entry: &HashMut<'_>,
        hash: &Hash,
        input: &mut Unstructured<'_>,
    ) -> Result<()> {
        let (mut random, count) = (input.arbitrary::<u64>()?, input.int_in_range(0..=40_usize)?);
        let live = entry.read().live(self.now_ms);
        let drawn = entry.read().sample(random, self.now_ms);
        assert_eq!(drawn.is_some(), live > 0);
        let is_there = |name: &[u8], value: &[u8]| {
            let field = hash.get(name).filter(|field| field.is_live(self.now_ms));
            field.is_some_and(|field| field.value == value)
        };
        assert!(drawn.is_none_or(|(name, value)| is_there(name, value)), "no field");
        let mut distinct = BTreeSet::new();
        let next = || {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            random ^ random >> 32
        };
        entry.read().sample_distinct(count, self.now_ms, next, |name, value| {
            assert!(is_there(name, value), "no field");
            assert!(distinct.insert(name.to_vec()), "they are not distinct");
        });
        assert_eq!(distinct.len(), count.min(live), "{count} of {live}");
        Ok(())
    }
}
