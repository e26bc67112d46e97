// SPDX-License-Identifier: Apache-2.0
//! [`Transport`]: where a session's bytes come from and go to.

use crate::Stream;
use crate::carried::Carried;

/// The socket, and what its driver has carried from it if the session does not read and write itself.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) stream: Stream,
    /// `None` for a session that calls the system itself. Boxed, for such sessions stay small.
    pub(crate) carried: Option<Box<Carried>>,
}

impl Transport {
    /// A socket that is read and written directly.
    pub(crate) fn direct(stream: Stream) -> Self {
        Transport { stream, carried: None }
    }

    /// Whether a read that came up short has drained it. Behind what a driver has delivered there may be
    /// more.
    #[inline]
    pub(crate) fn is_drained_by_less(&self) -> bool {
        self.carried.as_ref().is_none_or(|carried| carried.is_all())
    }
}
