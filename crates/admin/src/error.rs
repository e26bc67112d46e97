// SPDX-License-Identifier: Apache-2.0
//! What can go wrong while the admin thread starts or ends.

use std::io;
use std::net::SocketAddr;

/// A failure to start or to end the admin thread.
///
/// What a client does wrong is never an error here: it is answered, counted and forgotten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The listen address is taken, not local or not permitted. Choose another one.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// The operating system's reason.
        source: io::Error,
    },

    /// The operating system refuses another thread, or the thread its poller. Raise the limits on
    /// threads and open files.
    #[error("cannot start the admin thread: {0}")]
    Start(#[source] io::Error),

    /// A periodic task or a page panicked, which ended the thread. The text is the panic's
    /// message. It is a defect: the process is best ended.
    #[error("the admin thread panicked: {0}")]
    Panicked(String),
}
