// SPDX-License-Identifier: Apache-2.0
//! Edits of sets.

use super::{Edit, element, many};
use arbitrary::{Result, Unstructured};
use std::collections::BTreeSet;
use values::SetMut;

impl Edit<'_> {
    pub(super) fn set(
        self,
        entry: &mut SetMut<'_>,
        set: &mut BTreeSet<Vec<u8>>,
        input: &mut Unstructured<'_>,
    ) -> Result<()> {
        match input.int_in_range(0..=9_u8)? {
            0..=2 => {
                let member = element(input)?;
                assert_eq!(entry.add(&member), set.insert(member));
            }
            3 | 4 => {
                let member = element(input)?;
                assert_eq!(entry.remove(&member), set.remove(&member));
            }
            5 => {
                let random = input.arbitrary()?;
                let popped = entry.pop(random);
                assert_eq!(popped.is_some(), !set.is_empty());
                assert!(
                    popped.is_none_or(|popped| set.remove(&popped)),
                    "popped what was not there"
                );
            }
            6 => {
                let (first, step) = (input.int_in_range(-300..=300_i64)?, input.arbitrary::<i8>()?);
                for number in 0..many(input, set.len())? as i64 {
                    let member = (first + i64::from(step) * number).to_string().into_bytes();
                    assert_eq!(entry.add(&member), set.insert(member));
                }
            }
            7 => {
                let (first, expected) = (element(input)?, many(input, 0)?);
                entry.expect(&first, expected);
                assert_eq!(entry.add(&first), set.insert(first));
            }
            8 => walk(entry, set, input)?,
            _ => sample(entry, set, input)?,
        }
        Ok(())
    }
}

fn walk(entry: &SetMut<'_>, set: &BTreeSet<Vec<u8>>, input: &mut Unstructured<'_>) -> Result<()> {
    let count = input.int_in_range(1..=20_usize)?;
    let (mut cursor, mut seen) = (0, BTreeSet::new());
    for _ in 0..=4 * set.len() {
        cursor = entry.read().scan(cursor, count, |member| {
            seen.insert(member.to_vec());
        });
        if cursor == 0 {
            break;
        }
    }
    assert!(cursor == 0 && seen == *set, "a walk over a set");
    // Any number is a cursor.
    let cursor = input.arbitrary()?;
    entry.read().scan(cursor, count, |member| assert!(set.contains(&*member), "no member"));
    Ok(())
}

fn sample(entry: &SetMut<'_>, set: &BTreeSet<Vec<u8>>, input: &mut Unstructured<'_>) -> Result<()> {
    let (mut random, count) = (input.arbitrary::<u64>()?, input.int_in_range(0..=40_usize)?);
    let drawn = entry.read().sample(random);
    assert_eq!(drawn.is_some(), !set.is_empty());
    assert!(drawn.is_none_or(|drawn| set.contains(&*drawn)), "no member");
    let mut distinct = Vec::new();
    let next = || {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        random ^ random >> 32
    };
    entry.read().sample_distinct(count, next, |member| distinct.push(member.to_vec()));
    assert_eq!(distinct.len(), count.min(set.len()), "{count} of {}", set.len());
    let distinct: BTreeSet<_> = distinct.into_iter().collect();
    assert_eq!(distinct.len(), count.min(set.len()), "they are not distinct");
    assert!(distinct.is_subset(set), "no member");
    Ok(())
}
