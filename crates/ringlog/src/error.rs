// SPDX-License-Identifier: Apache-2.0
//! What can go wrong when a log is set up.

use std::io;
use std::path::PathBuf;

/// Why a log could not be set up. Later trouble (a full disk) is counted instead:
/// [`failed`](crate::failed).
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A ring without buffers would drop every line. Ask for at least one.
    #[error("a log needs room for at least one line")]
    ZeroCapacity,

    /// A line could not even hold its timestamp and the truncation mark.
    #[error("a log line of at most {given} bytes is too short; the least is {least}")]
    LineTooShort {
        /// The bytes asked for.
        given: usize,
        /// The least that is accepted.
        least: usize,
    },

    /// Two outputs name one file but rotate it differently. Give both the same options.
    #[error("log file {} is named twice with different rotation options", path.display())]
    ConflictingFile {
        /// The file in question.
        path: PathBuf,
    },

    /// The file could not be opened for appending: make its folder, or allow writing there.
    #[error("cannot open log file {}: {source}", path.display())]
    Open {
        /// The file in question.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },

    /// A process has one logger and one command log, and this one has its own already.
    #[error("a log is installed already")]
    AlreadyInstalled,
}
