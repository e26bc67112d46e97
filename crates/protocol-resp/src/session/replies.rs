// SPDX-License-Identifier: Apache-2.0
//! [`Replies`]: which replies a connection wants.

/// Which replies a connection wants (CLIENT REPLY).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Replies {
    /// All.
    #[default]
    On,
    /// None.
    Off,
    /// All but that to the next command.
    SkipNext,
    /// All but that to the present command.
    Skip,
}

impl Replies {
    /// A command begins.
    pub(crate) fn begin(&mut self) {
        if *self == Replies::SkipNext {
            *self = Replies::Skip;
        }
    }

    /// It has ended, and may have turned them on or off; whether its reply is sent.
    pub(crate) fn end(&mut self) -> bool {
        let is_sent = *self == Replies::On;
        if *self == Replies::Skip {
            *self = Replies::On;
        }
        is_sent
    }
}
