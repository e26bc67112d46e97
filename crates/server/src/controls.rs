// SPDX-License-Identifier: Apache-2.0
//! [`Controls`]: what a service may change in the process it runs in.

use crate::files::Needs;
use crate::heap::Wish;
use crate::process::Stopper;
use crate::reload::Rereader;
use admin::ConfigText;
use protocol::{Directory, Peer};
use reactor::{Dials, Engine, OutputLimit};
use session::{AcceptorFacts, TlsAcceptor};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Changes limits of a running server, and stops it, for protocols that let their clients do so.
#[derive(Clone, Debug)]
pub struct Controls {
    stopper: Stopper,
    dials: Dials,
    directory: Arc<Directory>,
    needs: Needs,
    rereader: Rereader,
    tls: Option<TlsAcceptor>,
    config_text: ConfigText,
    wish: Wish,
    engine: Arc<OnceLock<Engine>>,
}

impl Controls {
    pub(crate) fn new(
        stopper: Stopper,
        dials: Dials,
        directory: Arc<Directory>,
        needs: Needs,
        (rereader, tls): (Rereader, Option<TlsAcceptor>),
        (config_text, wish): (ConfigText, Wish),
        engine: Arc<OnceLock<Engine>>,
    ) -> Self {
        Controls { stopper, dials, directory, needs, rereader, tls, config_text, wish, engine }
    }

    /// Sets the text that `/config` shows.
    pub fn set_config_text(&self, text: String) {
        self.config_text.set(text);
    }

    /// Has the allocator return memory to the system within a second or so. Much was freed, and is not likely to be
    /// allocated again. Only where the server is the whole program. Cheap, and may be called again and again.
    pub fn return_memory(&self) {
        self.wish.make();
    }

    /// Asks for a graceful stop, as SIGTERM does.
    pub fn stop(&self) {
        self.stopper.stop();
    }

    /// The engine that the workers run on; `None` before they do.
    #[must_use]
    pub fn engine(&self) -> Option<Engine> {
        self.engine.get().copied()
    }

    /// How many descriptors are kept for other things than connections.
    pub fn reserved_descriptors(&self) -> u64 {
        self.needs.own()
    }

    /// Asks for certificates, and all else that [`Builder::rereads`](crate::Builder::rereads), to be read from their
    /// files again, as SIGHUP does. Returns at once, with a number for [`Controls::reread_outcome`].
    pub fn reread(&self) -> u64 {
        self.rereader.want()
    }

    /// How that went: `None` as long as it is not done. If several things could not be read, the first of them is told.
    #[must_use]
    pub fn reread_outcome(&self, number: u64) -> Option<Result<(), String>> {
        self.rereader.outcome(number)
    }

    /// How long ago the certificates that are in use were read; `None` without TLS.
    #[must_use]
    pub fn certificates_age(&self) -> Option<Duration> {
        self.tls.as_ref().map(TlsAcceptor::age)
    }

    /// The certificates that are in use; none without TLS.
    #[must_use]
    pub fn certificates(&self) -> AcceptorFacts {
        self.tls.as_ref().map(TlsAcceptor::facts).unwrap_or_default()
    }

    /// Raises the limit of open files so that there is a descriptor for each of `most` connections.
    ///
    /// # Errors
    ///
    /// When the system does not allow it; with the number of connections that it does allow.
    pub fn allow_connections(&self, most: usize) -> Result<(), usize> {
        match self.needs.fit(most).connections {
            fewer if fewer < most => Err(fewer),
            _ => Ok(()),
        }
    }

    /// Sets how many connections are served at once, and raises the limit of open files to fit.
    ///
    /// # Errors
    ///
    /// When the system does not allow so many; with the number of connections that it does allow. The
    /// connection limit is not changed then.
    pub fn set_max_connections(&self, most: usize) -> Result<(), usize> {
        self.allow_connections(most)?;
        self.dials.set_connections_max(most);
        Ok(())
    }

    /// Sets for how long a connection may send nothing; [`Duration::ZERO`] for ever.
    pub fn set_idle_timeout(&self, timeout: Duration) {
        self.dials.set_idle_timeout(timeout);
    }

    /// Sets after how long without a word from its peer a new TCP connection asks whether the peer is still there;
    /// [`Duration::ZERO`] never.
    pub fn set_keepalive(&self, time: Duration) {
        self.dials.set_keepalive(time);
    }

    /// Sets how many bytes a request may have.
    pub fn set_request_bytes(&self, most: usize) {
        self.dials.set_request_bytes(most);
    }

    /// Sets how many bytes of replies, and of messages, a connection may leave unread before it is closed.
    pub fn set_output_limits(&self, replies: OutputLimit, messages: OutputLimit) {
        self.dials.set_output_limits(replies, messages);
    }

    /// The open connections, oldest first.
    pub fn peers(&self) -> Vec<Arc<Peer>> {
        self.directory.list()
    }
}
