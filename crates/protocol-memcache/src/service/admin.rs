// SPDX-License-Identifier: Apache-2.0
//! What changes the server as a whole: `shutdown`, `verbosity`, `refresh_certs`.

use super::MemcacheService;
use super::outcome::Outcome;
use crate::op::Manage;
use crate::reply::Refusal;
use protocol::Context;
use storage::Store;

impl<S: Store> MemcacheService<S> {
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
                Outcome::Closed
            }
            Manage::Verbosity(level) => {
                platform.set_verbosity(level);
                Outcome::Ok
            }
            Manage::Reread => self.reread(context),
        }
    }
}
