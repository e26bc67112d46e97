// SPDX-License-Identifier: Apache-2.0
//! [`User`]: whether the client is authenticated.

use crate::wire::parse::Framing;

/// The user of a connection: the default user, the only one there is, or not authenticated yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct User {
    is_logged_in: bool,
}

impl User {
    /// The user of a new connection, who is logged in if no password is required.
    pub(crate) fn new(is_logged_in: bool) -> Self {
        User { is_logged_in }
    }

    /// Whether the client is authenticated, or need not be.
    #[inline]
    pub(crate) fn is_logged_in(self) -> bool {
        self.is_logged_in
    }

    /// Records that the client has authenticated.
    pub(crate) fn log_in(&mut self) {
        self.is_logged_in = true;
    }

    /// The framing limits for arguments of up to `bulk_max` bytes. Requests of a client that is not
    /// logged in must be small.
    #[inline]
    pub(crate) fn framing(self, bulk_max: usize) -> Framing {
        Framing { restricted: !self.is_logged_in, bulk_max }
    }
}
