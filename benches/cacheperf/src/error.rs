// SPDX-License-Identifier: Apache-2.0
//! [`Error`]: why a run cannot be made, or has no useful result.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a run cannot be made, or has no useful result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting that makes no sense. Says which, and what would.
    #[error("{0}")]
    Setting(String),
    /// The server cannot be reached. It does not run, or listens elsewhere.
    #[error("cannot connect to {address}: {source}")]
    Connect {
        /// Where it was looked for.
        address: String,
        /// The system's error.
        source: io::Error,
    },
    /// A connection broke before the load began: another protocol, a refused certificate, too many
    /// connections.
    #[error("{address}: {reason}")]
    Greeting {
        /// The server.
        address: String,
        /// What happened.
        reason: String,
    },
    /// No connection is left. The first errors say why.
    #[error("{address}: every connection is gone: {reason}")]
    Lost {
        /// The server.
        address: String,
        /// The first error.
        reason: String,
    },
    /// The system refuses something.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// A file cannot be read or written, or is not what it should be.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A server that was to be compared has not started.
    #[error("{name}: {reason} (`{command}`)")]
    Server {
        /// Its name.
        name: String,
        /// What happened.
        reason: String,
        /// How it was started.
        command: String,
    },
    /// A TLS file or name cannot be used.
    #[error(transparent)]
    Tls(#[from] session::Error),
}

impl Error {
    pub(crate) fn system(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Error::System { what: what.into(), source: source.into() }
    }

    pub(crate) fn file(path: impl Into<PathBuf>, reason: &dyn fmt::Display) -> Self {
        Error::File { path: path.into(), reason: reason.to_string() }
    }
}

/// How long a connection may take until it is ready for requests.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
