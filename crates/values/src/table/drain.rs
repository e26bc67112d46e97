// SPDX-License-Identifier: Apache-2.0
//! Taking a table apart, step by step.

use crate::table::Table;

impl<T, A> Table<T, A> {
    /// Takes elements and buckets out from the end, in up to `budget` steps, and returns how many it
    /// took. 0 means that nothing is left, no memory either.
    ///
    /// What stays is a table as before, with fewer elements.
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
