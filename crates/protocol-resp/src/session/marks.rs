// SPDX-License-Identifier: Apache-2.0
//! [`Marks`]: what makes the commands of a connection need more checks, in one byte, so that all others pay for one
//! test only.

/// A set of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(u8);

impl Marks {
    /// It sees all commands (MONITOR).
    pub(crate) const MONITOR: Marks = Marks(1);
    /// The server is a node of a cluster.
    pub(crate) const CLUSTER: Marks = Marks(1 << 1);
    /// Its next command may use a slot that is still on its way here (ASKING).
    pub(crate) const ASKING: Marks = Marks(1 << 2);
    /// It reads from a replica (READONLY).
    pub(crate) const READS_ONLY: Marks = Marks(1 << 3);

    /// Whether there is any.
    #[inline]
    pub(crate) fn any(self) -> bool {
        self.0 != 0
    }

    /// Whether this one is there.
    #[inline]
    pub(crate) fn has(self, mark: Marks) -> bool {
        self.0 & mark.0 != 0
    }

    /// Sets or removes a mark.
    pub(crate) fn set(&mut self, mark: Marks, on: bool) {
        if on { self.0 |= mark.0 } else { self.0 &= !mark.0 }
    }
}
