// SPDX-License-Identifier: Apache-2.0
//! What is done to many bytes at once: eight of them are read as one number, and the loops are such that the
//! compiler uses vector instructions.

use std::ops::Range;

/// So many bytes of each string are combined before the next ones are, so that they stay in the CPU's cache.
const BLOCK: usize = 16 * 1024;

/// The byte that a bit is in.
pub(super) fn of_bit(at: u64) -> usize {
    usize::try_from(at / 8).unwrap_or(usize::MAX)
}

/// The nine bytes from `at` on, with zeros behind the end: so many can have bits of one integer.
pub(super) fn window(text: &[u8], at: usize) -> [u8; 9] {
    let mut window = [0; 9];
    for (to, from) in window.iter_mut().zip(text.iter().skip(at)) {
        *to = *from;
    }
    window
}

/// How many bits of a range are set.
pub(super) fn count(text: &[u8], bits: Range<u64>) -> u64 {
    let edges = Edges::of(text, bits);
    let (words, rest) = edges.whole.as_chunks::<8>();
    let words: u64 =
        words.iter().map(|&word| u64::from(u64::from_ne_bytes(word).count_ones())).sum();
    let single = rest.iter().chain([&edges.first.1, &edges.last.1]);
    single.map(|byte| u64::from(byte.count_ones())).fold(words, u64::saturating_add)
}

/// Where the first bit of a range is that is set, or not.
pub(super) fn find(text: &[u8], bits: Range<u64>, set: bool) -> Option<u64> {
    // What is looked for becomes what is set. Bits of the edges that are not of the range must not be found.
    let flip = |(mask, byte): (u8, u8)| if set { byte } else { byte ^ mask };
    let from = of_bit(bits.start) as u64;
    let edges = Edges::of(text, bits);
    let at_bit =
        |at: u64, byte: u8| Some(at.saturating_mul(8).saturating_add(byte.leading_zeros().into()));
    let first = flip(edges.first);
    if first != 0 {
        return at_bit(from, first);
    }
    let after_first = from.saturating_add(u64::from(edges.first.0 != 0));
    let empty = if set { 0 } else { 0xff };
    let (words, _) = edges.whole.as_chunks::<8>();
    let skipped = words.iter().position(|word| *word != [empty; 8]).unwrap_or(words.len());
    let skipped = skipped.saturating_mul(8);
    let rest = edges.whole.get(skipped..).unwrap_or_default();
    if let Some(at) = rest.iter().position(|byte| *byte != empty) {
        let at = skipped.saturating_add(at);
        let byte = edges.whole.get(at).map_or(0, |byte| byte ^ empty);
        return at_bit(after_first.saturating_add(at as u64), byte);
    }
    let last = flip(edges.last);
    let after_whole = after_first.saturating_add(edges.whole.len() as u64);
    if last != 0 { at_bit(after_whole, last) } else { None }
}

/// A range of bits: the bytes that are in it as a whole, and those that are not at both ends.
#[derive(Debug)]
struct Edges<'a> {
    /// Which bits of the first byte are in the range, and those of them that are set. None, if the range begins
    /// with a byte.
    first: (u8, u8),
    whole: &'a [u8],
    last: (u8, u8),
}

impl<'a> Edges<'a> {
    /// Splits a range that lies within the text.
    fn of(text: &'a [u8], bits: Range<u64>) -> Self {
        let (from, to) = (of_bit(bits.start), of_bit(bits.end));
        let partly = |at: usize, mask: u8| (mask, text.get(at).map_or(0, |byte| byte & mask));
        let head: u8 = 0xff >> (bits.start % 8);
        let tail = !(0xff_u8 >> (bits.end % 8));
        let begins_inside = !bits.start.is_multiple_of(8);
        if begins_inside && from == to {
            let first = partly(from, head & tail);
            return Edges { first, whole: &[], last: (0, 0) };
        }
        let first = if begins_inside { partly(from, head) } else { (0, 0) };
        let whole = text.get(from.saturating_add(begins_inside.into())..to).unwrap_or_default();
        Edges { first, whole, last: partly(to, tail) }
    }
}

/// What becomes of the bits at the same place of several strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    And,
    Or,
    Xor,
    /// Of the first string alone.
    Not,
    /// In the first, and in none of the others.
    Diff,
    /// In some of the others, and not in the first.
    Diff1,
    /// In the first, and in some of the others.
    AndOr,
    /// In one of them alone.
    One,
}

/// Combines strings, as if all of them were as long as the longest of them, with zeros.
pub(super) fn combine(operation: Operation, texts: &[&[u8]]) -> Vec<u8> {
    let len = texts.iter().map(|text| text.len()).max().unwrap_or(0);
    let mut result = vec![0; len];
    let Some((first, others)) = texts.split_first() else { return result };
    let mut seen_twice = [0; BLOCK];
    for (index, block) in result.chunks_mut(BLOCK).enumerate() {
        let from = index.saturating_mul(BLOCK);
        let to = from.saturating_add(block.len());
        let part = |text: &[u8]| from.min(text.len())..to.min(text.len());
        let first = first.get(part(first)).unwrap_or_default();
        let others = others.iter().map(|text| text.get(part(text)).unwrap_or_default());
        combine_block(operation, block, first, others, &mut seen_twice);
    }
    result
}

/// Combines the parts of strings for `block`, which is all zeros. They may be shorter.
fn combine_block<'a>(
    operation: Operation,
    block: &mut [u8],
    first: &[u8],
    others: impl Iterator<Item = &'a [u8]>,
    seen_twice: &mut [u8; BLOCK],
) {
    match operation {
        Operation::And => {
            copy(block, first);
            others.for_each(|other| {
                merge(block, other, |bits, more| bits & more);
                block.iter_mut().skip(other.len()).for_each(|byte| *byte = 0);
            });
        }
        Operation::Or => {
            copy(block, first);
            others.for_each(|other| merge(block, other, |bits, more| bits | more));
        }
        Operation::Xor => {
            copy(block, first);
            others.for_each(|other| merge(block, other, |bits, more| bits ^ more));
        }
        Operation::Not => {
            copy(block, first);
            block.iter_mut().for_each(|byte| *byte = !*byte);
        }
        Operation::Diff => {
            copy(block, first);
            others.for_each(|other| merge(block, other, |bits, more| bits & !more));
        }
        Operation::Diff1 => {
            others.for_each(|other| merge(block, other, |bits, more| bits | more));
            merge(block, first, |bits, more| bits & !more);
        }
        Operation::AndOr => {
            others.for_each(|other| merge(block, other, |bits, more| bits | more));
            merge(block, first, |bits, more| bits & more);
            block.iter_mut().skip(first.len()).for_each(|byte| *byte = 0);
        }
        Operation::One => {
            copy(block, first);
            seen_twice.fill(0);
            others.for_each(|other| {
                for ((bits, twice), more) in block.iter_mut().zip(&mut *seen_twice).zip(other) {
                    *twice |= *bits & more;
                    *bits ^= more;
                }
            });
            merge(block, seen_twice, |bits, twice| bits & !twice);
        }
    }
}

fn copy(block: &mut [u8], from: &[u8]) {
    merge(block, from, |_, byte| byte);
}

/// Changes the bytes that have a counterpart.
#[inline]
fn merge(block: &mut [u8], with: &[u8], change: impl Fn(u8, u8) -> u8) {
    for (byte, other) in block.iter_mut().zip(with) {
        *byte = change(*byte, *other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bit(text: &[u8], at: u64) -> bool {
        text.get(of_bit(at)).is_some_and(|byte| byte & (0x80 >> (at % 8)) != 0)
    }

    /// Texts with long runs of zeros and ones.
    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let run = (prop_oneof![Just(0), Just(0xff), any::<u8>()], 0..40_usize);
        let runs = proptest::collection::vec(run, 0..6);
        runs.prop_map(|runs| runs.iter().flat_map(|&(byte, len)| vec![byte; len]).collect())
    }

    proptest! {
        #[test]
        fn bits_are_counted_and_found_as_one_by_one(text in texts(), a in 0..2000_u64, b in 0..2000_u64) {
            let end = b.min(text.len() as u64 * 8);
            let range = a.min(end)..end;
            let set = range.clone().filter(|at| bit(&text, *at)).count() as u64;
            prop_assert_eq!(count(&text, range.clone()), set);
            for wanted in [false, true] {
                let first = range.clone().find(|at| bit(&text, *at) == wanted);
                prop_assert_eq!(find(&text, range.clone(), wanted), first);
            }
        }

        #[test]
        fn strings_are_combined_as_bit_by_bit(texts in proptest::collection::vec(texts(), 1..5)) {
            let slices: Vec<&[u8]> = texts.iter().map(|text| &text[..]).collect();
            let len = texts.iter().map(Vec::len).max().unwrap();
            type Rule = fn(bool, usize) -> bool;
            let rules: [(Operation, Rule); 5] = [
                (Operation::Not, |first, _| !first),
                (Operation::Diff, |first, others| first && others == 0),
                (Operation::Diff1, |first, others| !first && others > 0),
                (Operation::AndOr, |first, others| first && others > 0),
                (Operation::One, |first, others| usize::from(first) + others == 1),
            ];
            for (operation, rule) in rules {
                let found = combine(operation, &slices);
                prop_assert_eq!(found.len(), len);
                for at in 0..len as u64 * 8 {
                    let others = slices[1..].iter().filter(|text| bit(text, at)).count();
                    prop_assert_eq!(bit(&found, at), rule(bit(slices[0], at), others), "{:?}", operation);
                }
            }
            for at in 0..len as u64 * 8 {
                let set = slices.iter().filter(|text| bit(text, at)).count();
                prop_assert_eq!(bit(&combine(Operation::And, &slices), at), set == slices.len());
                prop_assert_eq!(bit(&combine(Operation::Or, &slices), at), set > 0);
                prop_assert_eq!(bit(&combine(Operation::Xor, &slices), at), set % 2 == 1);
            }
        }
    }

    #[test]
    fn strings_of_many_blocks_are_combined() {
        let (a, b) = (vec![0x0f; 3 * BLOCK + 5], vec![0x3c; BLOCK + 1]);
        let found = combine(Operation::One, &[&a, &b, &a[..2]]);
        assert_eq!(&found[..4], [0x30, 0x30, 0x33, 0x33]);
        assert_eq!(found[BLOCK..][..3], [0x33, 0x0f, 0x0f]);
        assert!(found[BLOCK + 1..].iter().all(|&byte| byte == 0x0f) && found.len() == a.len());
        let found = combine(Operation::And, &[&a, &b]);
        assert_eq!(found[BLOCK..][..2], [0x0c, 0]);
    }
}
