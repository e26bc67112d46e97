// SPDX-License-Identifier: Apache-2.0
//! [`Bell`]: wakes a worker that sleeps in its ring.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// An event counter (eventfd) that becomes readable when it is rung.
#[derive(Debug)]
pub(crate) struct Bell(OwnedFd);

impl Bell {
    /// A bell that has not been rung.
    ///
    /// # Errors
    ///
    /// When the system has no descriptor left.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Bell(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Rings it, from any thread.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn ring(&self) -> io::Result<()> {
        match rustix::io::write(&self.0, &1_u64.to_ne_bytes()) {
            // The counter is at its maximum, so the bell has been rung already.
            Ok(_) | Err(rustix::io::Errno::AGAIN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Resets the counter.
    pub(crate) fn quieten(&self) {
        // Fails when the bell was not rung, which is fine.
        let _ = rustix::io::read(&self.0, &mut [0_u8; 8]);
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
