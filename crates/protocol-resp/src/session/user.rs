// SPDX-License-Identifier: Apache-2.0
//! [`User`]: who the client is.

use crate::wire::parse::Framing;

/// Who a client is: the only user there is, or somebody who has yet to say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct User {
    is_logged_in: bool,
}

impl User {
    /// The user of a new connection, who is logged in if no password is asked for.
    pub(crate) fn new(is_logged_in: bool) -> Self {
        User { is_logged_in }
    }

    /// Whether the client has said who it is, or need not.
    #[inline]
    pub(crate) fn is_logged_in(self) -> bool {
        self.is_logged_in
    }

    /// Notes that the client has said who it is.
    pub(crate) fn log_in(&mut self) {
        self.is_logged_in = true;
    }

    /// How requests are framed whose arguments have up to `bulk_max` bytes: those of a client that
    /// is not logged in must be small.
    #[inline]
    pub(crate) fn framing(self, bulk_max: usize) -> Framing {
        Framing { restricted: !self.is_logged_in, bulk_max }
    }
}
