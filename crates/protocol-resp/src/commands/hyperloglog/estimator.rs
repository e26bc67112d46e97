// SPDX-License-Identifier: Apache-2.0
//! [`Estimator`]: how many different elements were seen, about, without keeping any.

use super::{REGISTERS, Registers, hash, sketch};

/// Sees elements and estimates how many different ones there were. 16 KiB, however many there are.
#[derive(Debug)]
pub(crate) struct Estimator(Box<Registers>);

impl Estimator {
    /// It has seen none.
    pub(crate) fn new() -> Self {
        Estimator(Box::new([0; REGISTERS]))
    }

    /// Sees an element.
    pub(crate) fn add(&mut self, element: &[u8]) {
        let (index, run) = hash::place(element);
        if let Some(register) = self.0.get_mut(index) {
            *register = run.max(*register);
        }
    }

    /// How many different elements it has seen, about.
    pub(crate) fn estimate(&self) -> u64 {
        sketch::count_registers(&self.0)
    }
}
