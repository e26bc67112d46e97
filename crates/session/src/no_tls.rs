// SPDX-License-Identifier: Apache-2.0
//! The names of TLS in a build without it. No [`TlsAcceptor`] can be made, so nothing here is ever run, and
//! whoever has an `Option` of one needs no `cfg`.

use crate::transport::Transport;
use crate::{AcceptorFacts, Error, Fill, Flush, PeerStream, PeerTls, TlsOptions};
use buffer::{RecvBuf, SendBuf};
use std::convert::Infallible;
use std::io;
use std::net::TcpStream;
use std::time::Duration;

/// The metrics of TLS: none.
pub const TLS_METRICS: metrics::MetricSet = metrics::metric_set!();

/// What the server's side of a TLS handshake needs. This build is without the feature `tls`, so there is none.
#[derive(Clone, Debug)]
pub struct TlsAcceptor {
    never: Infallible,
}

impl TlsAcceptor {
    /// Refuses.
    ///
    /// # Errors
    ///
    /// [`Error::BuiltWithout`].
    pub fn new(_options: TlsOptions) -> Result<Self, Error> {
        Err(Error::BuiltWithout)
    }

    /// Reads the files again.
    ///
    /// # Errors
    ///
    /// None: there is no acceptor.
    pub fn reload(&self) -> Result<(), Error> {
        match self.never {}
    }

    /// How long ago the files that are in use were read.
    #[must_use]
    pub fn age(&self) -> Duration {
        match self.never {}
    }

    /// The certificates that are in use.
    #[must_use]
    pub fn facts(&self) -> AcceptorFacts {
        match self.never {}
    }

    /// The options that the acceptor was made from.
    pub fn options(&self) -> &TlsOptions {
        match self.never {}
    }
}

impl PeerTls {
    /// Refuses.
    ///
    /// # Errors
    ///
    /// [`Error::BuiltWithout`].
    pub fn connect(&self, _stream: TcpStream, _host: &str) -> Result<Box<dyn PeerStream>, Error> {
        Err(Error::BuiltWithout)
    }
}

/// Whether a session failed because its client did not speak TLS although it must: it never must.
#[must_use]
pub fn is_not_tls(_error: &io::Error) -> bool {
    false
}

/// One side of a TLS connection, of which there is none.
#[derive(Debug)]
pub(crate) struct TlsConnection {
    never: Infallible,
}

impl TlsConnection {
    pub(crate) fn server(acceptor: &TlsAcceptor) -> Result<Self, Error> {
        match acceptor.never {}
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        match self.never {}
    }

    pub(crate) fn fill(&mut self, _: &mut Transport, _: &mut RecvBuf) -> io::Result<Fill> {
        match self.never {}
    }

    pub(crate) fn flush(
        &mut self,
        _: &mut Transport,
        _: &mut SendBuf,
        _: usize,
    ) -> io::Result<Flush> {
        match self.never {}
    }

    pub(crate) fn wants_write(&self) -> bool {
        match self.never {}
    }

    pub(crate) fn written(&self) -> u64 {
        match self.never {}
    }

    pub(crate) fn close(&mut self, _: &mut Transport) {
        match self.never {}
    }
}
