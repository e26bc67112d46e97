// SPDX-License-Identifier: Apache-2.0
//! Runs of registers with the same value, for a HyperLogLog most of whose registers are 0.
//!
//! ```text
//!  00LLLLLL            a run of 1 to 64 zeros
//!  01LLLLLL LLLLLLLL   a run of 1 to 16384 zeros
//!  1VVVVVLL            a run of 1 to 4 registers with a value of 1 to 32
//! ```

use super::{CORRUPT, REGISTERS};
use crate::wire::fault::Fault;
use std::ops::Range;

/// The largest value that a run can have.
pub(super) const VALUE_MAX: u8 = 32;

/// The most registers of a run of zeros in one byte.
const SHORT_MAX: usize = 64;

/// The most registers of a run with a value.
const VALUES_MAX: usize = 4;

/// So many runs are looked at, from the one before a change on, for neighbours with the same value.
const MERGED_MAX: usize = 5;

/// A run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Of all its registers.
    pub(super) value: u8,
    /// How many they are.
    pub(super) len: usize,
    /// How many bytes it takes.
    width: usize,
}

impl Run {
    /// The run that bytes begin with; `None` if there is no whole one.
    fn first(bytes: &[u8]) -> Option<Self> {
        let low = |byte: u8, mask: u8| usize::from(byte & mask);
        Some(match *bytes.first()? {
            byte if byte & 0x80 != 0 => {
                let value = (byte >> 2 & 0x1f).saturating_add(1);
                Run { value, len: low(byte, 3).saturating_add(1), width: 1 }
            }
            byte if byte & 0x40 != 0 => {
                let len = low(byte, 0x3f) << 8 | usize::from(*bytes.get(1)?);
                Run { value: 0, len: len.saturating_add(1), width: 2 }
            }
            byte => Run { value: 0, len: low(byte, 0x3f).saturating_add(1), width: 1 },
        })
    }

    /// Whether it is a run of zeros in two bytes.
    pub(super) fn is_long(self) -> bool {
        self.width == 2
    }

    /// Whether it has a value that is not 0.
    pub(super) fn has_value(self) -> bool {
        self.value != 0
    }
}

/// Adds a run of registers to bytes, unless it is empty.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "a run is not empty, and has a value of 32 at most"
)]
fn push(bytes: &mut Vec<u8>, value: u8, len: usize) {
    match (value, len) {
        (_, 0) => {}
        (0, 1..=SHORT_MAX) => bytes.push((len - 1) as u8),
        (0, _) => bytes.extend([0x40 | ((len - 1) >> 8) as u8, (len - 1) as u8]),
        _ => bytes.push(0x80 | (value - 1) << 2 | (len - 1) as u8),
    }
}

/// Registers all of which are 0.
pub(super) fn empty() -> Vec<u8> {
    let mut bytes = Vec::new();
    push(&mut bytes, 0, REGISTERS);
    bytes
}

/// The runs up to the first that is none.
pub(super) fn runs(mut bytes: &[u8]) -> impl Iterator<Item = Run> {
    std::iter::from_fn(move || {
        let run = Run::first(bytes)?;
        bytes = bytes.get(run.width..)?;
        Some(run)
    })
}

/// Shows all runs, each with its first register.
///
/// # Errors
///
/// They are not those of all registers.
pub(super) fn each(bytes: &[u8], mut see: impl FnMut(usize, Run)) -> Result<(), Fault> {
    let (mut first, mut width) = (0_usize, 0_usize);
    for run in runs(bytes) {
        let next = first.saturating_add(run.len);
        if next > REGISTERS {
            return Err(CORRUPT);
        }
        see(first, run);
        first = next;
        width = width.saturating_add(run.width);
    }
    if first == REGISTERS && width == bytes.len() { Ok(()) } else { Err(CORRUPT) }
}

/// A change of runs that raises a register.
#[derive(Debug)]
pub(super) struct Change {
    /// The bytes of the run that it is in.
    at: Range<usize>,
    /// What takes their place.
    with: Vec<u8>,
    /// Where the run before begins.
    previous: usize,
}

impl Change {
    /// What raises a register to a value up to [`VALUE_MAX`]; `None` if it has at least that.
    ///
    /// # Errors
    ///
    /// No run has the register.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "positions in the bytes, and in a run of them"
    )]
    pub(super) fn find(bytes: &[u8], index: usize, value: u8) -> Result<Option<Self>, Fault> {
        let (mut first, mut at, mut previous) = (0, 0, 0);
        for run in runs(bytes) {
            if index < first + run.len {
                if run.value >= value {
                    return Ok(None);
                }
                let mut with = Vec::with_capacity(5);
                push(&mut with, run.value, index - first);
                push(&mut with, value, 1);
                push(&mut with, run.value, first + run.len - index - 1);
                return Ok(Some(Change { at: at..at + run.width, with, previous }));
            }
            first += run.len;
            (previous, at) = (at, at + run.width);
        }
        Err(CORRUPT)
    }

    /// How many bytes there are more with it, if any.
    pub(super) fn growth(&self) -> usize {
        self.with.len().saturating_sub(self.at.len())
    }

    /// Makes the change in bytes that begin with `header` others, and joins neighbours with the same value.
    #[expect(clippy::arithmetic_side_effects, reason = "positions in the bytes")]
    pub(super) fn make(self, bytes: &mut Vec<u8>, header: usize) {
        bytes.splice(header + self.at.start..header + self.at.end, self.with);
        let mut at = header + self.previous;
        for _ in 0..MERGED_MAX {
            let Some(run) = Run::first(&bytes[at..]) else { break };
            let next = Run::first(&bytes[at + run.width..]);
            let joined = next.filter(|next| run.has_value() && next.value == run.value);
            match joined.map(|next| next.len + run.len) {
                // It may be joined with the next one, too.
                Some(len) if len <= VALUES_MAX => {
                    let mut both = Vec::with_capacity(1);
                    push(&mut both, run.value, len);
                    bytes.splice(at..at + 2, both);
                }
                _ => at += run.width,
            }
        }
    }
}
