// SPDX-License-Identifier: Apache-2.0
//! [`Error`]: why a server did not start, or ended.

use std::io;
use std::time::Duration;

/// Why a server did not start, or ended by itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration file is wrong; the message names file, line and remedy.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// A setting cannot be carried out.
    #[error("{key}: {problem}")]
    Setting {
        /// The key, as `[section] key`.
        key: &'static str,
        /// What is wrong with its value, and what was expected.
        problem: String,
    },
    /// An address cannot be listened on.
    #[error("cannot listen on {endpoint}: {source}")]
    Listen {
        /// The address.
        endpoint: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The certificate or the key cannot be used.
    #[error("[tls] {0}")]
    Tls(#[from] session::Error),
    /// The admin thread did not start, or failed.
    #[error("[admin] {0}{remedy}", remedy = admin_remedy(.0))]
    Admin(#[from] admin::Error),
    /// The log cannot be written.
    #[error("[debug] or [klog]: {0}")]
    Log(#[from] ringlog::Error),
    /// The operating system refused a thread or an event queue.
    #[error("cannot start: {0}")]
    Start(#[source] io::Error),
    /// There is no user with the name of whom the server is to run as.
    #[error("{key}: there is no user {0:?}", key = crate::user::KEY)]
    NoUser(String),
    /// A thread failed. The process must end: a server without one of its threads is half dead.
    #[error("thread {thread} failed: {problem}")]
    Thread {
        /// The thread's name.
        thread: String,
        /// Its error or its panic's message.
        problem: String,
    },
    /// Threads go on although the time to stop is over: something in them does not come to its end. The process must end
    /// without them, and does when its `main` returns.
    #[error("the stop takes more than {allowed:?}, as these threads do not end: {}", threads.join(", "))]
    Stuck {
        /// Their names.
        threads: Vec<String>,
        /// The time that they had.
        allowed: Duration,
    },
}

impl Error {
    /// A setting that cannot be carried out, as its key and the problem.
    #[must_use]
    pub fn setting((key, problem): (&'static str, String)) -> Self {
        Error::Setting { key, problem }
    }
}

/// What an operator can do about a failure of the admin plane.
fn admin_remedy(error: &admin::Error) -> &'static str {
    match error {
        admin::Error::Bind { .. } => {
            "; choose another port (--admin-port) or host, or enabled = false"
        }
        _ => "",
    }
}
