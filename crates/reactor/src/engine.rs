// SPDX-License-Identifier: Apache-2.0
//! [`Engine`]: how a worker learns what its sockets do, and which ways there are on this system.

use std::fmt;

/// How a worker learns what its sockets do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The system says which sockets are ready, and the worker reads and writes.
    #[default]
    Epoll,
    /// The system reads and writes, and says what it has done.
    IoUring,
}

impl Engine {
    /// The engines that can be used here, for whoever goes through all of them.
    pub fn usable() -> Vec<Engine> {
        let io_uring = Engine::probe_io_uring().is_ok().then_some(Engine::IoUring);
        std::iter::once(Engine::Epoll).chain(io_uring).collect()
    }

    /// Tries out whether io_uring can be used here: built in, new enough and permitted. Returns in words
    /// what was found.
    ///
    /// # Errors
    ///
    /// Why not, in words.
    pub fn probe_io_uring() -> Result<&'static str, String> {
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        return crate::uring::probe();
        #[cfg(not(all(feature = "io-uring", target_os = "linux")))]
        return Err("this program was built without io_uring".to_owned());
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::Epoll => "epoll",
            Engine::IoUring => "io_uring",
        })
    }
}
