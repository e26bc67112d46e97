// SPDX-License-Identifier: Apache-2.0
//! [`User`]: who the client is.

use crate::acl::{Account, DEFAULT};
use crate::wire::parse::Framing;
use std::sync::Arc;

/// The user of a connection, or that it is not authenticated yet.
#[derive(Clone, Debug)]
pub(crate) struct User {
    is_logged_in: bool,
    /// It must authenticate before it may do anything.
    is_stranger: bool,
    /// `None` for the default user.
    account: Option<Arc<Account>>,
}

impl User {
    /// The user of a new connection, which is logged in if no password is required.
    pub(crate) fn new(is_logged_in: bool) -> Self {
        User { is_logged_in, is_stranger: !is_logged_in, account: None }
    }

    /// Whether the client is authenticated, or need not be.
    #[inline]
    pub(crate) fn is_logged_in(&self) -> bool {
        self.is_logged_in
    }

    /// Whether the client had to authenticate when it came, and has not.
    pub(crate) fn is_stranger(&self) -> bool {
        self.is_stranger
    }

    /// Records whether a client that has not authenticated must.
    #[cold]
    pub(crate) fn set_stranger(&mut self, must: bool) {
        self.is_stranger = must;
    }

    /// Records that the client has authenticated, as this user or as the default user.
    pub(crate) fn log_in(&mut self, account: Option<Arc<Account>>) {
        *self = User { is_logged_in: true, is_stranger: false, account };
    }

    /// Its account, if it is not that of the default user.
    pub(crate) fn account(&self) -> Option<&Arc<Account>> {
        self.account.as_ref()
    }

    /// Its name.
    pub(crate) fn name(&self) -> &[u8] {
        self.account.as_ref().map_or(DEFAULT, |account| account.name())
    }

    /// The framing limits for arguments of up to `bulk_max` bytes. Requests of a client that must log in first are
    /// small.
    #[inline]
    pub(crate) fn framing(&self, bulk_max: usize) -> Framing {
        Framing { restricted: self.is_stranger, bulk_max }
    }
}
