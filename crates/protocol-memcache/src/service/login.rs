// SPDX-License-Identifier: Apache-2.0
//! Logging in.

use super::MemcacheService;
use super::outcome::Outcome;
use crate::metrics::{AUTH_CMDS, AUTH_ERRORS};
use crate::op::Login;
use crate::parse::Memcache;
use crate::reply::LoginReply;
use protocol::Context;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use storage::Receive;

/// Milliseconds between two lines in the log about failures.
const PAUSE_MS: u64 = 1000;

/// The failures of all workers that are logged: one a second, with the number of those in between.
#[derive(Debug, Default)]
pub(super) struct Failures {
    /// When the next may be logged, in milliseconds since the clock's start.
    next_ms: AtomicU64,
    held_back: AtomicU64,
}

impl Failures {
    /// How many were not logged since the last that was; `None` if this one is not to be logged either.
    fn note(&self, now_ms: u64) -> Option<u64> {
        let next_ms = self.next_ms.load(Relaxed);
        let after_ms = now_ms.saturating_add(PAUSE_MS);
        let is_due = now_ms >= next_ms
            && self.next_ms.compare_exchange(next_ms, after_ms, Relaxed, Relaxed).is_ok();
        if is_due {
            return Some(self.held_back.swap(0, Relaxed));
        }
        self.held_back.fetch_add(1, Relaxed);
        None
    }
}

impl<S: Receive> MemcacheService<S> {
    /// Checks what a client says of itself.
    #[cold]
    #[inline(never)]
    pub(super) fn log_in(
        &mut self,
        login: Login<'_>,
        connection: &mut Memcache,
        context: &Context<'_>,
    ) -> Outcome {
        let Some(file) = self.shared.options.users.as_deref() else {
            return Outcome::Login(LoginReply::NoUsers);
        };
        let is_user = match login {
            Login::Mechanisms => return Outcome::Login(LoginReply::Mechanisms),
            Login::LongMechanism => return Outcome::Login(LoginReply::LongMechanism),
            Login::TooLarge => return Outcome::OutOfMemory,
            Login::Begin => {
                connection.set_logged_in(false);
                return Outcome::Login(LoginReply::GoOn);
            }
            Login::Password { user, password } => file.users().admit(user, password),
            Login::Wrong => false,
        };
        AUTH_CMDS.increment();
        connection.set_logged_in(is_user);
        if is_user {
            return Outcome::Login(LoginReply::Admitted);
        }
        AUTH_ERRORS.increment();
        self.log_failure(context);
        Outcome::Login(LoginReply::Denied)
    }

    /// Logs from where somebody has failed to log in; not as whom, because a password that was typed for a user must
    /// not get into the log.
    fn log_failure(&self, context: &Context<'_>) {
        let Some(held_back) = self.shared.failures.note(context.now.ticks.as_millis()) else {
            return;
        };
        let peer = context.directory.get(context.connection);
        let remote = peer.as_ref().map_or("a client", |peer| &peer.remote);
        if held_back == 0 {
            ::log::warn!("{remote} has failed to log in");
        } else {
            ::log::warn!(
                "{remote} has failed to log in, as {held_back} others since the last line"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failure_a_second_is_logged() {
        let failures = Failures::default();
        assert_eq!(failures.note(5), Some(0), "the first");
        assert_eq!((failures.note(6), failures.note(1004)), (None, None));
        assert_eq!(failures.note(1005), Some(2));
        assert_eq!(failures.note(9000), Some(0));
    }
}
