// SPDX-License-Identifier: Apache-2.0
//! The table: a test of a server is run with one worker and with two, over every transport.
//!
//! ```text
//! on_every_row(|row| {
//!     let process = row.builder().spawn(|_tag| MyProtocol, |_worker| MyService).unwrap();
//!     let mut client = row.connect(&process);
//!     client.ask(b"hello\n", b"HELLO\n");
//!     process.stop().unwrap();
//! });
//! ```

use super::PATIENCE;
use super::certificates::Certificates;
use super::client::Client;
use rustls::version::{TLS12, TLS13};
use server::settings::Engine;
use server::{Builder, Endpoint, Options, Process, TlsAcceptor};
use std::time::Duration;
use tempfile::TempDir;

/// How clients reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP over IPv4.
    Tcp,
    /// TCP over IPv6.
    Tcp6,
    /// TLS 1.2.
    Tls12,
    /// TLS 1.3.
    Tls13,
    /// TLS 1.3, and both sides show a certificate.
    ClientCertificate,
    /// A unix socket.
    Unix,
}

impl Transport {
    /// All of them.
    pub const ALL: [Transport; 6] = [
        Transport::Tcp,
        Transport::Tcp6,
        Transport::Tls12,
        Transport::Tls13,
        Transport::ClientCertificate,
        Transport::Unix,
    ];

    /// Whether the connection is encrypted.
    pub fn is_tls(self) -> bool {
        matches!(self, Transport::Tls12 | Transport::Tls13 | Transport::ClientCertificate)
    }
}

/// A row of the table, with what its transport needs.
pub struct Row {
    /// How clients reach the server.
    pub transport: Transport,
    /// How many workers it has.
    pub workers: usize,
    /// The event engine of its workers.
    pub engine: Engine,
    folder: TempDir,
    certificates: Option<Certificates>,
}

/// Runs the test on every row.
pub fn on_every_row(story: impl Fn(&Row)) {
    for engine in Engine::usable() {
        for workers in [1, 2] {
            for transport in Transport::ALL {
                // Shown when the story fails.
                println!("{engine:?}, {transport:?}, {workers} workers");
                story(&Row::new(engine, transport, workers));
            }
        }
    }
}

/// Runs the test on every engine.
pub fn on_every_engine(story: impl Fn(Engine)) {
    for engine in Engine::usable() {
        println!("{engine:?}");
        story(engine);
    }
}

/// Runs the test over every transport, with one worker that all clients share.
pub fn on_every_transport(story: impl Fn(&Row)) {
    for engine in Engine::usable() {
        for transport in Transport::ALL {
            println!("{engine:?}, {transport:?}");
            story(&Row::new(engine, transport, 1));
        }
    }
}

/// Options without time limits: a machine may be so busy that a client that is to be served exceeds them.
pub fn options() -> Options {
    Options {
        idle_timeout: Duration::ZERO,
        handshake_timeout: Duration::ZERO,
        read_timeout: Duration::ZERO,
        write_timeout: Duration::ZERO,
        linger_timeout: PATIENCE,
        ..Options::default()
    }
}

impl Row {
    /// The row with this engine, transport and number of workers.
    pub fn new(engine: Engine, transport: Transport, workers: usize) -> Self {
        let folder = TempDir::new().unwrap();
        let certificates = transport.is_tls().then(|| Certificates::new(folder.path()));
        Row { transport, workers, engine, folder, certificates }
    }

    /// Where the server listens.
    pub fn endpoint(&self) -> Endpoint {
        match self.transport {
            Transport::Unix => Endpoint::Unix { path: self.folder.path().join("s"), mode: 0o700 },
            Transport::Tcp6 => Endpoint::Tcp("[::1]:0".parse().unwrap()),
            _ => Endpoint::Tcp("127.0.0.1:0".parse().unwrap()),
        }
    }

    /// A server with the row's workers that listens on the row's transport, and has these [`options`].
    pub fn builder(&self) -> Builder {
        let builder = Builder::new("test", "0.0.0")
            .options(options())
            .drain_timeout(PATIENCE)
            .listen(self.endpoint(), self.transport.is_tls())
            .workers(self.workers)
            .engine(self.engine);
        match &self.certificates {
            None => builder,
            Some(certificates) => {
                let ask = self.transport == Transport::ClientCertificate;
                builder.tls(TlsAcceptor::new(certificates.options(ask)).unwrap())
            }
        }
    }

    /// As [`Row::builder`], with a second listener of the same transport whose tag is `tag`.
    pub fn builder_with(&self, tag: u16) -> Builder {
        let endpoint = match self.endpoint() {
            Endpoint::Unix { path, mode } => {
                Endpoint::Unix { path: path.with_extension("2"), mode }
            }
            tcp => tcp,
        };
        self.builder().listen_as(tag, endpoint, self.transport.is_tls())
    }

    /// A client of the server that [`Row::builder`] has made.
    pub fn connect(&self, process: &Process) -> Client {
        self.connect_to(&process.endpoints()[0])
    }

    /// A client of one of its listeners.
    pub fn connect_to(&self, endpoint: &Endpoint) -> Client {
        let certificates = self.certificates.as_ref();
        match endpoint {
            Endpoint::Unix { path, .. } => Client::unix(path),
            Endpoint::Tcp(address) => match (self.transport, certificates) {
                (Transport::Tls12, Some(ours)) => Client::tls(*address, ours.client(&TLS12, false)),
                (Transport::Tls13, Some(ours)) => Client::tls(*address, ours.client(&TLS13, false)),
                (_, Some(ours)) => Client::tls(*address, ours.client(&TLS13, true)),
                (_, None) => Client::tcp(*address),
            },
        }
    }
}
