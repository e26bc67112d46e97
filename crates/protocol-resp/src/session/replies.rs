// SPDX-License-Identifier: Apache-2.0
//! [`Replies`]: which replies a connection wants (CLIENT REPLY).

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
    /// Called when a command begins.
    pub(crate) fn begin(&mut self) {
        if *self == Replies::SkipNext {
            *self = Replies::Skip;
        }
    }

    /// Called when the command has ended, which may itself have turned replies on or off. Returns
    /// whether its reply is sent.
    pub(crate) fn end(&mut self) -> bool {
        let is_sent = *self == Replies::On;
        if *self == Replies::Skip {
            *self = Replies::On;
        }
        is_sent
    }
}
