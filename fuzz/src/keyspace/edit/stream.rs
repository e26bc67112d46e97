// SPDX-License-Identifier: Apache-2.0
//! Edits of streams.

use super::super::value::Items;
use super::{Edit, element, many};
use arbitrary::{Result, Unstructured};
use values::{References, StreamId, StreamMut, Trim, TrimTo};

impl Edit<'_> {
    pub(super) fn stream(
        self,
        entry: &mut StreamMut<'_>,
        items: &mut Items,
        input: &mut Unstructured<'_>,
    ) -> Result<()> {
        match input.int_in_range(0..=9_u8)? {
            0..=3 => {
                let pairs = vec![(element(input)?, element(input)?); input.int_in_range(1..=3)?];
                add(entry, items, input.int_in_range(0..=2)?, &pairs);
            }
            4 => {
                let value = element(input)?;
                for _ in 0..many(input, items.len())? {
                    add(entry, items, 1, &[(b"field".to_vec(), value.clone())]);
                }
            }
            5 | 6 => {
                let at = input.int_in_range(0..=items.len())?;
                let id = items.keys().nth(at).copied().unwrap_or(StreamId::new(1, 1));
                assert_eq!(entry.remove(id), items.remove(&id).is_some());
            }
            7 => {
                let length = input.int_in_range(0..=items.len() + 1)?;
                let trim = exactly(TrimTo::Length(length));
                assert_eq!(entry.trim(&trim), items.len().saturating_sub(length));
                while items.len() > length {
                    items.pop_first();
                }
            }
            8 => {
                let at = input.int_in_range(0..=items.len())?;
                let id = items.keys().nth(at).copied().unwrap_or(StreamId::MAX);
                let trim = exactly(TrimTo::Id(id));
                let rest = items.split_off(&id);
                assert_eq!(entry.trim(&trim), items.len());
                *items = rest;
            }
            _ => group(entry, items, input)?,
        }
        Ok(())
    }
}

fn exactly(to: TrimTo) -> Trim {
    Trim { to, by_nodes: false, limit: None, references: References::Keep }
}

/// Adds an item, `step` milliseconds behind the last.
fn add(entry: &mut StreamMut<'_>, items: &mut Items, step: u64, pairs: &[(Vec<u8>, Vec<u8>)]) {
    let last = entry.read().last_id();
    let id = match step {
        0 => last.next().expect("ids are small"),
        step => StreamId::new(last.ms + step, 0),
    };
    entry.append(id, pairs.iter().map(|(field, value)| [&field[..], &value[..]]));
    items.insert(id, pairs.to_vec());
}

/// A consumer reads all that is new, and acknowledges some of it.
fn group(entry: &mut StreamMut<'_>, items: &Items, input: &mut Unstructured<'_>) -> Result<()> {
    let name = [input.int_in_range(b'a'..=b'c')?];
    entry.add_group(&name, StreamId::MIN, None);
    let mut group = entry.group_mut(&name).expect("it was just made");
    let (consumer, _) = group.see(&[input.int_in_range(b'a'..=b'c')?], 1);
    let behind = items.range(group.last_id()..).filter(|(id, _)| **id > group.last_id()).count();
    assert_eq!(group.deliver(consumer, usize::MAX, 1, false, |_| true), behind);
    let acknowledged = input.int_in_range(0..=items.len())?;
    items.keys().take(acknowledged).for_each(|id| {
        let was_pending = group.pending_item(*id).is_some();
        assert_eq!(group.acknowledge(*id), was_pending);
    });
    Ok(())
}
