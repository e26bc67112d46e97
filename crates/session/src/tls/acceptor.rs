// SPDX-License-Identifier: Apache-2.0
//! [`TlsAcceptor`]: the current certificate, shared by all workers and replaceable while they run.

use super::config::server_config;
use crate::{AcceptorFacts, Error, TlsOptions};
use rustls::ServerConfig;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// What the server's side of a TLS handshake needs. Clones share it, so a reload is effective for
/// all of them.
///
/// ```no_run
/// # fn main() -> Result<(), session::Error> {
/// use session::{TlsAcceptor, TlsOptions};
///
/// let acceptor = TlsAcceptor::new(TlsOptions::new("server.pem", "server.key"))?;
/// let for_a_worker = acceptor.clone();
/// // The files were renewed: later handshakes, the worker's too, use them.
/// acceptor.reload()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct TlsAcceptor {
    shared: Arc<Shared>,
}

struct Shared {
    options: TlsOptions,
    /// Locked for as long as it takes to clone the inner pointer, once per handshake.
    current: RwLock<Current>,
}

/// What was read from the files last, and when.
struct Current {
    config: Arc<ServerConfig>,
    facts: AcceptorFacts,
    read_at: Instant,
}

impl Current {
    fn read(options: &TlsOptions) -> Result<Self, Error> {
        let (config, facts) = server_config(options)?;
        Ok(Current { config: Arc::new(config), facts, read_at: Instant::now() })
    }
}

impl TlsAcceptor {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// An [`Error`] that names the file and what is wrong with it.
    pub fn new(options: TlsOptions) -> Result<Self, Error> {
        let current = RwLock::new(Current::read(&options)?);
        Ok(TlsAcceptor { shared: Arc::new(Shared { options, current }) })
    }

    /// Reads the files again and uses them for later handshakes; running sessions keep theirs.
    /// Tickets issued before are not honoured, so every client is verified by the new files.
    ///
    /// # Errors
    ///
    /// As [`TlsAcceptor::new`]; then the previous certificate stays in use.
    pub fn reload(&self) -> Result<(), Error> {
        let current = Current::read(&self.shared.options)?;
        *self.shared.current.write().unwrap_or_else(PoisonError::into_inner) = current;
        Ok(())
    }

    /// How long ago the files that are in use were read.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.shared.current.read().unwrap_or_else(PoisonError::into_inner).read_at.elapsed()
    }

    /// The certificates that are in use.
    #[must_use]
    pub fn facts(&self) -> AcceptorFacts {
        self.shared.current.read().unwrap_or_else(PoisonError::into_inner).facts.clone()
    }

    /// The options that the acceptor was made from.
    pub fn options(&self) -> &TlsOptions {
        &self.shared.options
    }

    pub(super) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.shared.current.read().unwrap_or_else(PoisonError::into_inner).config)
    }
}

impl fmt::Debug for TlsAcceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsAcceptor").field("options", &self.shared.options).finish_non_exhaustive()
    }
}
