// SPDX-License-Identifier: Apache-2.0
//! Edits of lists.

use super::{Edit, element, many};
use arbitrary::{Result, Unstructured};
use std::collections::VecDeque;
use std::num::NonZeroI64;
use values::{End, ListMut};

type List = VecDeque<Vec<u8>>;

impl Edit<'_> {
    pub(super) fn list(
        self,
        entry: &mut ListMut<'_>,
        list: &mut List,
        input: &mut Unstructured<'_>,
    ) -> Result<()> {
        match input.int_in_range(0..=11_u8)? {
            0 | 1 => push(entry, list, input)?,
            2 | 3 => pop(entry, list, input)?,
            4 => set(entry, list, input)?,
            5 => insert(entry, list, input)?,
            6 => remove(entry, list, input)?,
            7 => {
                let (start, end) = (index(list, input)?, index(list, input)?);
                entry.trim(start..end);
                list.truncate(end);
                list.drain(..start.min(list.len()));
            }
            8 => {
                let (start, end) = (index(list, input)?, index(list, input)?);
                let seen = entry.read().range(start..end);
                let expected = list.iter().take(end).skip(start).map(Vec::as_slice);
                assert!(seen.clone().eq(expected.clone()), "{start}..{end}");
                let backwards: Vec<_> = expected.collect();
                assert!(seen.rev().eq(backwards.into_iter().rev()), "{start}..{end} backwards");
            }
            9 => positions(entry, list, input)?,
            10 => fill(entry, list, input)?,
            _ => {
                let index = signed(list, input)?;
                let expected = resolve(list, index).map(|index| list[index].as_slice());
                assert_eq!(entry.read().get(index).as_deref(), expected, "the element {index}");
            }
        }
        Ok(())
    }
}

/// An index, maybe a bit too large.
fn index(list: &List, input: &mut Unstructured<'_>) -> Result<usize> {
    input.int_in_range(0..=list.len() + 2)
}

/// An index from either end, maybe of no element.
fn signed(list: &List, input: &mut Unstructured<'_>) -> Result<i64> {
    let index = index(list, input)? as i64;
    Ok(match input.int_in_range(0..=15_u8)? {
        0 => i64::MIN,
        1 => i64::MAX,
        2..=8 => -1 - index,
        _ => index,
    })
}

fn resolve(list: &List, index: i64) -> Option<usize> {
    let index = if index < 0 { index.checked_add(list.len() as i64)? } else { index };
    usize::try_from(index).ok().filter(|&index| index < list.len())
}

fn end(input: &mut Unstructured<'_>) -> Result<End> {
    Ok(if input.arbitrary()? { End::Front } else { End::Back })
}

fn put(list: &mut List, end: End, text: Vec<u8>) {
    match end {
        End::Front => list.push_front(text),
        End::Back => list.push_back(text),
    }
}

fn push(entry: &mut ListMut<'_>, list: &mut List, input: &mut Unstructured<'_>) -> Result<()> {
    let end = end(input)?;
    let texts: Vec<_> =
        (0..input.int_in_range(1..=3)?).map(|_| element(input)).collect::<Result<_>>()?;
    if input.arbitrary()? {
        entry.announce(texts.len(), texts.iter().map(Vec::len).sum());
    }
    for text in texts {
        entry.push(end, &text);
        put(list, end, text);
    }
    Ok(())
}

fn pop(entry: &mut ListMut<'_>, list: &mut List, input: &mut Unstructured<'_>) -> Result<()> {
    let end = end(input)?;
    for _ in 0..many(input, 0)?.min(16) {
        let expected = match end {
            End::Front => list.pop_front(),
            End::Back => list.pop_back(),
        };
        assert_eq!(entry.pop(end, <[u8]>::to_vec), expected);
    }
    Ok(())
}

fn set(entry: &mut ListMut<'_>, list: &mut List, input: &mut Unstructured<'_>) -> Result<()> {
    let (index, text) = (signed(list, input)?, element(input)?);
    let place = resolve(list, index);
    assert_eq!(entry.set(index, &text), place.is_some(), "set {index}");
    if let Some(place) = place {
        list[place] = text;
    }
    Ok(())
}

/// An element of the list, or any.
fn known(list: &List, input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let index = index(list, input)?;
    list.get(index).cloned().map_or_else(|| element(input), Ok)
}

fn insert(entry: &mut ListMut<'_>, list: &mut List, input: &mut Unstructured<'_>) -> Result<()> {
    let (pivot, text, side) = (known(list, input)?, element(input)?, end(input)?);
    let place = list.iter().position(|other| *other == pivot);
    let is_done = match side {
        End::Front => entry.insert_before(&pivot, &text),
        End::Back => entry.insert_after(&pivot, &text),
    };
    assert_eq!(is_done, place.is_some(), "insert");
    if let Some(place) = place {
        list.insert(place + usize::from(side == End::Back), text);
    }
    Ok(())
}

fn remove(entry: &mut ListMut<'_>, list: &mut List, input: &mut Unstructured<'_>) -> Result<()> {
    let (text, count) = (known(list, input)?, input.int_in_range(-4..=4_i64)?);
    let before = list.len();
    let mut left = if count == 0 { usize::MAX } else { count.unsigned_abs() as usize };
    let mut is_kept = |other: &Vec<u8>| {
        let goes = left > 0 && *other == text;
        left -= usize::from(goes);
        !goes
    };
    if count < 0 {
        let kept: List = list.drain(..).rev().filter(|other| is_kept(other)).collect();
        *list = kept.into_iter().rev().collect();
    } else {
        list.retain(&mut is_kept);
    }
    assert_eq!(entry.remove(count, &text), before - list.len(), "remove {count}");
    Ok(())
}

fn positions(entry: &ListMut<'_>, list: &List, input: &mut Unstructured<'_>) -> Result<()> {
    let text = known(list, input)?;
    let rank = match NonZeroI64::new(input.int_in_range(-3..=3_i64)?) {
        Some(rank) => rank,
        None => NonZeroI64::MIN,
    };
    let maxlen = match index(list, input)? {
        0 => None,
        maxlen => Some(maxlen),
    };
    let most = maxlen.unwrap_or(usize::MAX);
    let skip = usize::try_from(rank.get().unsigned_abs() - 1).unwrap_or(usize::MAX);
    let found = |index: &usize| list[*index] == text;
    let expected: Vec<usize> = if rank.get() > 0 {
        (0..list.len()).take(most).filter(found).skip(skip).collect()
    } else {
        (0..list.len()).rev().take(most).filter(found).skip(skip).collect()
    };
    assert!(entry.read().positions(&text, rank, maxlen).eq(expected), "from {rank}, {maxlen:?}");
    Ok(())
}

fn fill(entry: &mut ListMut<'_>, list: &mut List, input: &mut Unstructured<'_>) -> Result<()> {
    let (end, text) = (end(input)?, element(input)?);
    let text = &text[..text.len().min(100)];
    for number in 0..many(input, list.len())? {
        let text = [text, number.to_string().as_bytes()].concat();
        entry.push(end, &text);
        put(list, end, text);
    }
    Ok(())
}
