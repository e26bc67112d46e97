// SPDX-License-Identifier: Apache-2.0
//! [`Error`]: what is wrong with a rule about a user.

use std::fmt;

/// Why a rule of a user is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Error {
    /// It is no rule.
    Syntax,
    /// There is no such command or category.
    Unknown,
    /// A sub-command cannot be allowed by its first argument.
    FirstArgument,
    /// All keys are allowed already.
    AllKeys,
    /// All channels are allowed already.
    AllChannels,
    /// It is no SHA-256.
    Hash,
    /// The user does not have this password.
    NoPassword,
    /// No database can have this number.
    Database,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Syntax => "Syntax error",
            Error::Unknown => "Unknown command or category name in ACL",
            Error::FirstArgument => "Allowing first-arg of a subcommand is not supported",
            Error::AllKeys => {
                "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any \
                 effect. Try 'resetkeys' to start with an empty list of patterns"
            }
            Error::AllChannels => {
                "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any \
                 effect. Try 'resetchannels' to start with an empty list of channels"
            }
            Error::Hash => {
                "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters"
            }
            Error::NoPassword => {
                "The password you are trying to remove from the user does not exist"
            }
            Error::Database => "The provided database ID is out of range",
        })
    }
}
