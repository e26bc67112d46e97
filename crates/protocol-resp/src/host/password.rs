// SPDX-License-Identifier: Apache-2.0
//! [`Password`]: the password of the user `default` as it was given, for CONFIG GET.

use parking_lot::RwLock;

/// The text of `requirepass`; empty if it was given none. Rules of
/// users do not change it.
#[derive(Debug, Default)]
pub(crate) struct Password(RwLock<Box<[u8]>>);

impl Password {
    /// The password.
    pub(super) fn text(&self) -> Vec<u8> {
        self.0.read().to_vec()
    }

    /// Changes it.
    pub(super) fn set(&self, text: &[u8]) {
        *self.0.write() = text.into();
    }
}
