// SPDX-License-Identifier: Apache-2.0
//! [`Reserve`]: a descriptor that is kept for when there is no other.

use rustix::io::Errno;
use std::fs::File;
use std::io;

/// A descriptor to give up when the process, or the system, has no more: then one connection can be
/// accepted, told that there are too many, and closed, and the reserve is taken again.
#[derive(Debug)]
pub(super) struct Reserve(Option<File>);

impl Reserve {
    pub(super) fn new() -> Self {
        Reserve(take())
    }

    /// Does `work`, which must close what it opens, with a descriptor more than there is; `None` when
    /// there is no reserve, which is so while others were quicker to take it.
    pub(super) fn lend<R>(&mut self, work: impl FnOnce() -> R) -> Option<R> {
        drop(self.0.take().or_else(take)?);
        let result = work();
        self.0 = take();
        Some(result)
    }
}

fn take() -> Option<File> {
    File::open("/dev/null").ok()
}

/// Whether an error says that there are no descriptors.
pub(super) fn lacks_descriptors(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}
