// SPDX-License-Identifier: Apache-2.0
//! [`Engine`]: the event engine of a worker, and which engines this system offers ([`UringSupport`]).

use std::fmt;

/// The event engine of a worker: how it learns about its sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Readiness: the system reports which sockets are ready, and the worker reads and writes.
    #[default]
    Epoll,
    /// Completions: the system reads and writes, and reports what it has done.
    IoUring,
}

/// What this system's io_uring can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UringSupport {
    /// What kind of ring it is, for people.
    pub ring: &'static str,
    /// Whether connections share the buffers that the kernel receives into (Linux 6.12), so that few serve many.
    pub shares_buffers: bool,
}

impl Engine {
    /// All engines that can be used on this system, for example to run a test on each of them.
    pub fn usable() -> Vec<Engine> {
        let io_uring = Engine::probe_io_uring().is_ok().then_some(Engine::IoUring);
        std::iter::once(Engine::Epoll).chain(io_uring).collect()
    }

    /// Its name, as the system has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Engine::Epoll => "epoll",
            Engine::IoUring => "io_uring",
        }
    }

    /// Tries out whether io_uring can be used here: compiled in, new enough and permitted. Returns what it can do.
    ///
    /// # Errors
    ///
    /// A description of why not.
    pub fn probe_io_uring() -> Result<UringSupport, String> {
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        return crate::uring::probe();
        #[cfg(not(all(feature = "io-uring", target_os = "linux")))]
        return Err("this program was built without io_uring".to_owned());
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
