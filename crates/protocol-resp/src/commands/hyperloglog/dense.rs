// SPDX-License-Identifier: Apache-2.0
//! Registers of six bits each, one after the other from the lowest bit of the first byte on.

use super::{Packed, REGISTERS, Registers};

/// Bytes of all registers.
pub(super) const LEN: usize = REGISTERS * BITS / 8;

/// Bits of a register.
const BITS: usize = 6;

/// The largest value of a register.
const MASK: u16 = (1 << BITS) - 1;

/// The byte in which a register begins, and the bit.
#[expect(clippy::arithmetic_side_effects, reason = "the index of a register is small")]
fn place(index: usize) -> (usize, u32) {
    (index * BITS / 8, (index * BITS % 8) as u32)
}

/// A register and the rest of the two bytes that it is in. Behind the last byte there is nothing of any register.
fn pair(bytes: &[u8], at: usize) -> u16 {
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    u16::from_le_bytes([byte(at), byte(at.saturating_add(1))])
}

/// The value of a register.
pub(super) fn get(bytes: &[u8], index: usize) -> u8 {
    let (at, shift) = place(index);
    ((pair(bytes, at) >> shift) & MASK) as u8
}

/// Changes the value of a register.
pub(super) fn set(bytes: &mut [u8], index: usize, value: u8) {
    let (at, shift) = place(index);
    let rest = pair(bytes, at) & !(MASK << shift);
    let new = rest | (u16::from(value) & MASK) << shift;
    for (to, from) in bytes.iter_mut().skip(at).zip(new.to_le_bytes()) {
        *to = from;
    }
}

/// Raises a register to a value; whether it was less.
pub(super) fn raise(bytes: &mut [u8], index: usize, value: u8) -> bool {
    let is_more = value > get(bytes, index);
    if is_more {
        set(bytes, index, value);
    }
    is_more
}

/// Bytes of 32 registers, which are three words: four times eight registers of 48 bits.
const GROUP: usize = 24;

const _: () = assert!(LEN.is_multiple_of(GROUP));

/// Every other one of eight registers, from the first on. Above each there are six bits that are free then.
const EVEN: u64 = 0x3f | 0x3f << 12 | 0x3f << 24 | 0x3f << 36;

/// The lowest of the free bits above each.
const ABOVE: u64 = (EVEN << 1) & !EVEN;

/// Raises registers to those of another HyperLogLog, eight at a time.
pub(super) fn merge(bytes: &[u8], into: &mut Packed) {
    let ((theirs, _), (ours, _)) = (bytes.as_chunks::<GROUP>(), into.as_chunks_mut::<GROUP>());
    for (ours, theirs) in ours.iter_mut().zip(theirs) {
        let (mut all, more) = (eights(ours), eights(theirs));
        for (eight, other) in all.iter_mut().zip(more) {
            let even = larger(*eight & EVEN, other & EVEN);
            let odd = larger(*eight >> BITS & EVEN, other >> BITS & EVEN);
            *eight = even | odd << BITS;
        }
        let [a, b, c, d] = all;
        let words = [a | b << 48, b >> 16 | c << 32, c >> 32 | d << 16];
        for (bytes, word) in ours.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
    }
}

/// Four times eight registers, each in the low 48 bits; what is above is of others.
#[inline]
fn eights(group: &[u8; GROUP]) -> [u64; 4] {
    let mut words = [0; 3];
    for (word, bytes) in words.iter_mut().zip(group.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    let [a, b, c] = words;
    [a, a >> 48 | b << 16, b >> 32 | c << 32, c >> 16]
}

/// The larger of each two registers, all of which are in [`EVEN`] bits.
#[inline]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "nothing is borrowed: each register is subtracted from 64 more than another, and 1 from 64"
)]
fn larger(a: u64, b: u64) -> u64 {
    // The bit above stays where nothing had to be borrowed from it: where `a` is as large at least.
    let is_a = ((a | ABOVE) - b) & ABOVE;
    let from_a = is_a - (is_a >> BITS);
    a & from_a | b & !from_a
}

/// All registers, one in each byte.
pub(super) fn unpack(bytes: &[u8]) -> Box<Registers> {
    let mut registers = Box::new([0; REGISTERS]);
    let ((groups, _), (fours, _)) = (bytes.as_chunks(), registers.as_chunks_mut());
    for (four, group) in fours.iter_mut().zip(groups) {
        *four = unpacked(group);
    }
    registers
}

/// The four registers in three bytes.
#[inline]
fn unpacked(&[a, b, c]: &[u8; 3]) -> [u8; 4] {
    [a, a >> 6 | b << 2, b >> 4 | c << 4, c >> 2].map(|value| value & MASK as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Registers of any values, many of which are 0 or the largest there is.
    fn registers() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![Just(0), Just(0xff), any::<u8>()];
        proptest::collection::vec(byte, LEN)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn merged_registers_are_the_larger_ones(ours in registers(), theirs in registers()) {
            let mut merged: Packed = ours.as_slice().try_into().unwrap();
            merge(&theirs, &mut merged);
            let all = unpack(&merged);
            for (index, value) in all.iter().enumerate() {
                let larger = get(&ours, index).max(get(&theirs, index));
                prop_assert_eq!((*value, get(&merged, index)), (larger, larger), "{}", index);
            }
        }
    }

    #[test]
    fn any_two_values_are_compared() {
        for a in 0..64 {
            for b in 0..64 {
                let larger_one = u64::from(a.max(b));
                let spread = |value: u8| u64::from(value) << 12 | u64::from(63 - value);
                let both = larger_one << 12 | u64::from(63 - a.min(b));
                assert_eq!(larger(spread(a), spread(b)), both, "{a} {b}");
            }
        }
    }
}
