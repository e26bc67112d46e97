// SPDX-License-Identifier: Apache-2.0
//! `[worker] engine`: how workers learn what their sockets do.

use crate::Error;
use serde::{Deserialize, Serialize};

/// How workers learn what their sockets do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Engine {
    /// What serves best on this system.
    #[default]
    Auto,
    /// The system says which sockets are ready.
    Epoll,
    /// The system reads and writes by itself, and says what it has done.
    IoUring,
}

impl Engine {
    /// The engine of this process, and in words why.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`] when it is to be io_uring and that cannot be used here.
    pub(crate) fn choose(self) -> Result<(reactor::Engine, String), Error> {
        let probed = match self {
            Engine::Epoll => return Ok((reactor::Engine::Epoll, "as configured".to_owned())),
            Engine::Auto | Engine::IoUring => reactor::Engine::probe_io_uring(),
        };
        match probed {
            Ok(found) => Ok((reactor::Engine::IoUring, found.to_owned())),
            Err(reason) if self == Engine::Auto => {
                Ok((reactor::Engine::Epoll, format!("io_uring cannot be used: {reason}")))
            }
            Err(reason) => {
                let problem = format!("io_uring cannot be used: {reason}");
                Err(Error::Setting { key: "[worker] engine", problem })
            }
        }
    }
}
