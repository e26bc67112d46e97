// SPDX-License-Identifier: Apache-2.0
//! [`Transport`]: where a session's bytes come from and go to.

use crate::Stream;
use crate::carried::Carried;

/// The socket, and the bytes that a driver carries for a session that does not read and write itself.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) stream: Stream,
    /// `None` for a session that makes its own system calls. Boxed so that such sessions stay
    /// small.
    pub(crate) carried: Option<Box<Carried>>,
}

impl Transport {
    /// A socket that is read and written directly.
    pub(crate) fn direct(stream: Stream) -> Self {
        Transport { stream, carried: None }
    }

    /// Whether the next read is from the socket itself.
    #[inline]
    pub(crate) fn reads_socket(&self) -> bool {
        self.carried.as_ref().is_none_or(|carried| carried.is_spent())
    }

    /// Whether a short read means that the socket is drained. For a carried session the socket may hold more
    /// than the driver has delivered.
    #[inline]
    pub(crate) fn is_drained_by_less(&self) -> bool {
        self.carried.as_ref().is_none_or(|carried| carried.is_all())
    }
}
