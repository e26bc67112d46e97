// SPDX-License-Identifier: Apache-2.0
//! The string that is a HyperLogLog: a header, and registers in one of two [`Form`]s.
//!
//! ```text
//!  HYLL │ form u8 │ unused 3 bytes │ the last estimate, u64 │ registers
//! ```
//!
//! The highest bit of the estimate is set if it does not hold any more.

use super::sparse::{self, Change};
use super::{CORRUPT, NOT_ONE, Packed, Registers, dense, estimate, hash};
use crate::wire::fault::Fault;

/// Bytes before the registers.
pub(super) const HEADER: usize = 16;

/// Bytes of a dense one.
pub(super) const DENSE_LEN: usize = HEADER + dense::LEN;

const MAGIC: &[u8] = b"HYLL";
const FORM: usize = 4;
const CACHE: std::ops::Range<usize> = 8..16;

/// How the registers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Dense,
    Sparse,
}

impl Form {
    /// The form of a string that is a HyperLogLog, as far as its header and its length tell.
    pub(super) fn of(text: &[u8]) -> Result<Self, Fault> {
        if text.len() < HEADER || !text.starts_with(MAGIC) {
            return Err(NOT_ONE);
        }
        match text.get(FORM) {
            Some(0) if text.len() == DENSE_LEN => Ok(Form::Dense),
            Some(1) => Ok(Form::Sparse),
            _ => Err(NOT_ONE),
        }
    }
}

/// The bytes behind the header.
fn body(text: &[u8]) -> &[u8] {
    text.get(HEADER..).unwrap_or_default()
}

/// An empty one, which has no elements to count.
pub(super) fn empty() -> Vec<u8> {
    let mut text = [MAGIC, &[1, 0, 0, 0], &[0; 8]].concat();
    text.extend(sparse::empty());
    text
}

/// The last estimate, if it still holds.
pub(super) fn cached(text: &[u8]) -> Option<u64> {
    let bytes = text.get(CACHE)?.try_into().ok()?;
    let cached = u64::from_le_bytes(bytes);
    (cached >> 63 == 0).then_some(cached)
}

/// Remembers an estimate.
pub(super) fn set_cached(text: &mut [u8], estimate: u64) {
    if let Some(cache) = text.get_mut(CACHE) {
        cache.copy_from_slice(&estimate.to_le_bytes());
    }
}

/// Notes that the last estimate does not hold any more.
pub(super) fn forget_cached(text: &mut [u8]) {
    if let Some(last) = text.get_mut(CACHE).and_then(|cache| cache.last_mut()) {
        *last |= 0x80;
    }
}

/// Raises the register of an element in a dense one; whether that changed it.
pub(super) fn add_dense(text: &mut [u8], element: &[u8]) -> bool {
    let (index, run) = hash::place(element);
    text.get_mut(HEADER..).is_some_and(|registers| dense::raise(registers, index, run))
}

/// Raises the register of an element; whether that changed it.
///
/// # Errors
///
/// The string is none.
pub(super) fn add(text: &mut Vec<u8>, element: &[u8], sparse_max: usize) -> Result<bool, Fault> {
    let (index, run) = hash::place(element);
    raise(text, index, run, sparse_max)
}

/// Raises a register; whether it was less. What gets longer than `sparse_max`, or needs it for a large value,
/// becomes dense.
///
/// # Errors
///
/// The string is none.
pub(super) fn raise(
    text: &mut Vec<u8>,
    index: usize,
    value: u8,
    sparse_max: usize,
) -> Result<bool, Fault> {
    if Form::of(text)? == Form::Sparse {
        if value <= sparse::VALUE_MAX {
            let Some(change) = Change::find(body(text), index, value)? else { return Ok(false) };
            let growth = change.growth();
            if growth == 0 || text.len().saturating_add(growth) <= sparse_max {
                change.make(text, HEADER);
                forget_cached(text);
                return Ok(true);
            }
        }
        *text = to_dense(text)?;
    }
    Ok(text.get_mut(HEADER..).is_some_and(|registers| dense::raise(registers, index, value)))
}

/// The same registers as a dense one.
///
/// # Errors
///
/// The string is none.
pub(super) fn to_dense(text: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut made = vec![0; DENSE_LEN];
    let (header, registers) = made.split_at_mut(HEADER);
    header.copy_from_slice(text.get(..HEADER).ok_or(CORRUPT)?);
    header[FORM] = 0;
    sparse::each(body(text), |first, run| raise_run(registers, first, run))?;
    Ok(made)
}

/// Raises the registers of a run.
fn raise_run(registers: &mut [u8], first: usize, run: sparse::Run) {
    if run.has_value() {
        for index in first..first.saturating_add(run.len) {
            dense::raise(registers, index, run.value);
        }
    }
}

/// Raises registers to those of a HyperLogLog; returns its form.
///
/// # Errors
///
/// The string is none.
pub(super) fn merge(text: &[u8], into: &mut Packed) -> Result<Form, Fault> {
    let form = Form::of(text)?;
    match form {
        Form::Dense => dense::merge(body(text), into),
        Form::Sparse => sparse::each(body(text), |first, run| raise_run(into, first, run))?,
    }
    Ok(form)
}

/// How many elements it has seen, about.
///
/// # Errors
///
/// The string is none.
pub(super) fn count(text: &[u8]) -> Result<u64, Fault> {
    match Form::of(text)? {
        Form::Dense => Ok(count_registers(&dense::unpack(body(text)))),
        Form::Sparse => {
            let mut histogram = estimate::Histogram::default();
            sparse::each(body(text), |_, run| histogram.add(run.value, run.len))?;
            Ok(histogram.estimate())
        }
    }
}

/// [`count`] of registers.
pub(super) fn count_registers(registers: &Registers) -> u64 {
    estimate::Histogram::of_registers(registers).estimate()
}

/// The values of all registers.
///
/// # Errors
///
/// The string is none.
pub(super) fn registers(text: &[u8]) -> Result<Box<Registers>, Fault> {
    let mut registers = none();
    merge(text, &mut registers)?;
    Ok(dense::unpack(&*registers))
}

/// Registers all of which are 0.
pub(super) fn none() -> Box<Packed> {
    Box::new([0; dense::LEN])
}

/// The runs of a sparse one, for people; those behind anything that is none are left out.
pub(super) fn decoded(text: &[u8]) -> String {
    let show = |run: sparse::Run| match run.value {
        0 if run.is_long() => format!("Z:{}", run.len),
        0 => format!("z:{}", run.len),
        value => format!("v:{value},{}", run.len),
    };
    sparse::runs(body(text)).map(show).collect::<Vec<_>>().join(" ")
}

/// Replaces the registers of a dense one.
pub(super) fn set_dense(text: &mut [u8], registers: &Packed) {
    if let Some(bytes) = text.last_chunk_mut() {
        *bytes = *registers;
    }
}
