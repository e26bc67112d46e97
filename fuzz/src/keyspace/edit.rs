// SPDX-License-Identifier: Apache-2.0
//! Edits of one value, on an entry and on a model of it. A file for each type.

mod hash;
mod list;
mod set;
mod stream;
mod string;
mod words;
mod zset;

pub(crate) use words::{element, expiry};

use super::value::Value;
use arbitrary::{Result, Unstructured};
use values::{Entry, Limits};

/// The context of an edit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit<'a> {
    pub(crate) limits: &'a Limits,
    pub(crate) now_ms: u64,
}

/// The most elements that an edit leaves in a value, about: it is compared after each one.
const ELEMENTS_MAX: usize = 2000;

impl Edit<'_> {
    /// Carries out the next edit of `input` on both, and compares what it returns. Each reads all it
    /// needs before it changes anything, so a failure leaves the two alike.
    pub(crate) fn apply(
        self,
        entry: &mut Entry,
        value: &mut Value,
        input: &mut Unstructured<'_>,
    ) -> Result<()> {
        if input.ratio(1, 32)? {
            return self.replace(entry, value, input);
        }
        match value {
            Value::String(text) => self.string(entry, text, input),
            Value::List(list) => {
                self.list(&mut entry.list_mut(self.limits).expect("it is a list"), list, input)
            }
            Value::Set(set) => {
                self.set(&mut entry.set_mut(self.limits).expect("it is a set"), set, input)
            }
            Value::Zset(zset) => {
                self.zset(&mut entry.zset_mut(self.limits).expect("it is a zset"), zset, input)
            }
            Value::Stream(items) => {
                let mut stream = entry.stream_mut(self.limits).expect("it is a stream");
                self.stream(&mut stream, items, input)
            }
            Value::Hash(hash) => {
                self.hash(&mut entry.hash_mut(self.limits).expect("it is a hash"), hash, input)
            }
        }
    }
}

/// One of a few numbers of elements, mostly small.
fn many(input: &mut Unstructured<'_>, present: usize) -> Result<usize> {
    let many = 1 << input.int_in_range(0..=8_u32)?;
    Ok(if present + many > ELEMENTS_MAX { 1 } else { many })
}
