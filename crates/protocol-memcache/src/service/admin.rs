// SPDX-License-Identifier: Apache-2.0
//! What changes the server as a whole: `shutdown`, `verbosity`, `refresh_certs`, `cache_memlimit`.

use super::MemcacheService;
use super::outcome::Outcome;
use crate::op::Manage;
use crate::reply::Refusal;
use protocol::Context;
use storage::{Receive, ResizeError};

const MEBIBYTE: u64 = 1 << 20;

/// The least and the most that a memory limit may be, in MiB, as memcached has them.
const MEBIBYTES_MIN: u32 = 8;
const MEBIBYTES_MAX: u32 = 1_000_000_000;

impl<S: Receive> MemcacheService<S> {
    /// Executes what an operator asks for.
    #[cold]
    #[inline(never)]
    pub(super) fn admin(&mut self, admin: Manage, context: &Context<'_>) -> Outcome {
        let platform = &self.shared.platform;
        match admin {
            Manage::Shutdown { .. } if !self.shared.options.shutdown => {
                Outcome::Refused(Refusal::Shutdown)
            }
            Manage::Shutdown { understood: false } => Outcome::Refused(Refusal::ShutdownMode),
            // Without a reply: the client sees the connection end.
            Manage::Shutdown { understood: true } => {
                log::info!("a client has asked for the server to stop");
                platform.stop();
                self.note_stop(context.connection);
                Outcome::Closed
            }
            Manage::Verbosity(level) => {
                platform.set_verbosity(level);
                Outcome::Ok
            }
            Manage::Reread => self.reread(context),
            Manage::MemoryLimit(mebibytes) => match self.limit_memory(mebibytes) {
                Ok(()) => Outcome::Ok,
                Err(refusal) => Outcome::Refused(refusal),
            },
        }
    }

    fn limit_memory(&mut self, mebibytes: u32) -> Result<(), Refusal> {
        if mebibytes > MEBIBYTES_MAX {
            return Err(Refusal::MemoryInBytes);
        }
        // No store takes 0: it tells its own least then, of which there may be more than memcached's.
        let asked = if mebibytes < MEBIBYTES_MIN { 0 } else { mebibytes };
        let (asked, before) = (u64::from(asked) * MEBIBYTE, self.store.limit_bytes());
        match self.store.resize(asked) {
            Ok(()) => {
                let before = before / MEBIBYTE;
                log::info!(
                    "a client has set the memory limit to {mebibytes} MB; it was {before} MB"
                );
                self.shared.platform.memory_limit_set(asked);
                Ok(())
            }
            Err(ResizeError::TooSmall { least }) => {
                let least = least.div_ceil(MEBIBYTE).max(MEBIBYTES_MIN.into());
                Err(Refusal::MemoryTooSmall(least))
            }
            Err(ResizeError::TooLarge { most }) => Err(Refusal::MemoryTooLarge(most / MEBIBYTE)),
        }
    }

    /// The store gives memory back under a lower limit.
    #[cold]
    pub(super) fn shrinks(&self) {
        self.shared.platform.memory_freed();
    }
}
