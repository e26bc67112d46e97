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

/// Shows the values of all registers, in order.
pub(super) fn each(bytes: &[u8], mut see: impl FnMut(usize, u8)) {
    // Four registers in three bytes.
    let (groups, _) = bytes.as_chunks::<3>();
    for (group, &[a, b, c]) in groups.iter().enumerate() {
        let four = u32::from_le_bytes([a, b, c, 0]);
        let first = group.saturating_mul(4);
        for (at, shift) in [0, 6, 12, 18].into_iter().enumerate() {
            see(first.saturating_add(at), ((four >> shift) as u16 & MASK) as u8);
        }
    }
}

/// All registers in the bytes of a dense one.
pub(super) fn pack(registers: &Registers, bytes: &mut [u8]) {
    for (index, value) in registers.iter().enumerate() {
        set(bytes, index, *value);
    }
}
