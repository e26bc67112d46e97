// SPDX-License-Identifier: Apache-2.0
//! [`Reserve`]: a spare file descriptor for when the process has run out of them.

use rustix::io::Errno;
use std::fs::File;
use std::io;

/// A descriptor that is given up when the process, or the system, has no more. Then one connection
/// can be accepted, told that there are too many, and closed, and the reserve is opened again.
#[derive(Debug)]
pub(super) struct Reserve(Option<File>);

impl Reserve {
    pub(super) fn new() -> Self {
        Reserve(take())
    }

    /// Closes the reserve, does `work`, which must close what it opens, and opens the reserve again. `None`
    /// when there is no reserve, because others took the descriptor first.
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

/// Whether an error means that there are no descriptors left.
pub(super) fn lacks_descriptors(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}
