// SPDX-License-Identifier: Apache-2.0
//! Taking a table apart, step by step.

use crate::table::Table;

impl<T, A> Table<T, A> {
    /// Removes elements and buckets from the end, in up to `budget` steps, and returns how many it
    /// removed. 0 means that neither elements nor memory are left.
    ///
    /// The rest is a valid table with fewer elements.
    pub fn pop_some(&mut self, budget: usize, mut gone: impl FnMut(T)) -> usize {
        let steps = (0..budget).take_while(|_| {
            let Some(last) = self.heads.len().checked_sub(1) else {
                return self.trim_overflow();
            };
            match self.pop(last) {
                Some(item) => {
                    self.len -= 1;
                    gone(item.element);
                }
                None => self.drop_last(),
            }
            self.trim_overflow();
            true
        });
        steps.count()
    }
}
