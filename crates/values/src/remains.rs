// SPDX-License-Identifier: Apache-2.0
//! [`Remains`]: a value that is freed step by step.

use crate::Entry;

/// The rest of a removed entry, which is freed in bounded steps.
#[derive(Debug)]
pub struct Remains(Option<Entry>);

impl From<Entry> for Remains {
    fn from(entry: Entry) -> Self {
        Remains(Some(entry))
    }
}

impl Remains {
    /// Frees about `budget` elements. Returns true when nothing is left.
    pub fn free_some(&mut self, budget: usize) -> bool {
        let finished = match self.0.as_mut().and_then(Entry::large_mut) {
            Some(large) => large.free_some(budget),
            None => true,
        };
        if finished {
            self.0 = None;
        }
        finished
    }

    /// The memory that is still held.
    pub fn heap_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, Entry::heap_bytes)
    }
}
