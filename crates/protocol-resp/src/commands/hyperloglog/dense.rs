// SPDX-License-Identifier: Apache-2.0
//! Registers of six bits each, one after the other from the lowest bit of the first byte on.

use super::{REGISTERS, Registers};

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

/// Raises registers to those in the bytes of a dense one.
pub(super) fn merge(bytes: &[u8], into: &mut Registers) {
    let ((groups, _), (fours, _)) = (bytes.as_chunks(), into.as_chunks_mut::<4>());
    for (registers, group) in fours.iter_mut().zip(groups) {
        let more = unpacked(group);
        for (register, value) in registers.iter_mut().zip(more) {
            *register = value.max(*register);
        }
    }
}

/// All registers in the bytes of a dense one.
pub(super) fn pack(registers: &Registers, bytes: &mut [u8]) {
    let ((groups, _), (fours, _)) = (bytes.as_chunks_mut::<3>(), registers.as_chunks::<4>());
    for (group, four) in groups.iter_mut().zip(fours) {
        let [a, b, c, d] = four.map(|value| value & MASK as u8);
        *group = [a | b << 6, b >> 2 | c << 4, c >> 4 | d << 2];
    }
}

/// The four registers in three bytes.
#[inline]
fn unpacked(&[a, b, c]: &[u8; 3]) -> [u8; 4] {
    [a, a >> 6 | b << 2, b >> 4 | c << 4, c >> 2].map(|value| value & MASK as u8)
}
