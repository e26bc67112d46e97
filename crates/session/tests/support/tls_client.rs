// SPDX-License-Identifier: Apache-2.0
//! rustls clients: one that blocks, and one that a test moves by hand.

use super::certificates::{Authority, Files, Identity};
use super::{PATIENCE, unix_pair};
use buffer::Pool;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::ServerName;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, RootCertStore, SupportedProtocolVersion};
use session::{Fill, Flush, Session, TlsAcceptor};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Both versions, named for messages.
pub const VERSIONS: [(&str, &SupportedProtocolVersion); 2] = [("1.2", &TLS12), ("1.3", &TLS13)];

/// A client's configuration that trusts `authority` and shows `identity`.
pub fn client_config(
    authority: &Authority,
    version: &'static SupportedProtocolVersion,
    identity: Option<&Identity>,
) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.certificate()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots);
    Arc::new(match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            builder.with_client_auth_cert(identity.chain(), identity.private_key()).unwrap()
        }
    })
}

/// A client connection to `localhost`.
pub fn connect(config: &Arc<ClientConfig>) -> ClientConnection {
    ClientConnection::new(config.clone(), ServerName::try_from("localhost").unwrap()).unwrap()
}

/// A client that blocks.
pub fn blocking<S: Read + Write>(
    config: &Arc<ClientConfig>,
    socket: S,
) -> rustls::StreamOwned<ClientConnection, S> {
    rustls::StreamOwned::new(connect(config), socket)
}

/// A session and a client over a socket pair, both moved by the test, on one thread: what is
/// written at one end is there at the other at once.
#[derive(Debug)]
pub struct Pair {
    pub session: Session,
    pub pool: Pool,
    pub client: ClientConnection,
    pub socket: UnixStream,
}

impl Pair {
    pub fn new(acceptor: &TlsAcceptor, config: &Arc<ClientConfig>) -> Self {
        let (stream, socket) = unix_pair();
        socket.set_nonblocking(true).unwrap();
        Pair {
            session: Session::tls(stream, acceptor).unwrap(),
            pool: Pool::new(16 << 10, 16 << 10, 4),
            client: connect(config),
            socket,
        }
    }

    /// A pair whose handshake is over and whose tickets have arrived.
    pub fn connected(files: &Files, version: &'static SupportedProtocolVersion) -> Self {
        let acceptor = TlsAcceptor::new(files.options()).unwrap();
        let mut pair = Pair::new(&acceptor, &client_config(&files.authority, version, None));
        pair.handshake().unwrap();
        pair
    }

    /// What the client has to say, encrypted.
    pub fn client_flight(&mut self) -> Vec<u8> {
        let mut flight = Vec::new();
        while self.client.wants_write() {
            self.client.write_tls(&mut flight).unwrap();
        }
        flight
    }

    /// Sends what the client has to say.
    pub fn client_sends(&mut self) {
        let flight = self.client_flight();
        self.socket.write_all(&flight).unwrap();
    }

    /// Lets the client read and process what is there; returns its bytes on the wire.
    pub fn client_receives(&mut self) -> Result<usize, rustls::Error> {
        let mut total = 0;
        loop {
            match self.client.read_tls(&mut self.socket) {
                Ok(0) => return Ok(total),
                Ok(n) => total += n,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(total),
                Err(error) => panic!("{error}"),
            }
            self.client.process_new_packets()?;
        }
    }

    /// As [`Pair::client_receives`], with the plaintext appended to `all` as it comes, which may be
    /// more than rustls keeps.
    pub fn client_receives_into(&mut self, all: &mut Vec<u8>) -> usize {
        let mut total = 0;
        loop {
            match self.client.read_tls(&mut self.socket) {
                Ok(n) => total += n,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return total,
                Err(error) => panic!("{error}"),
            }
            self.client.process_new_packets().unwrap();
            all.extend(self.client_reads());
        }
    }

    /// Encrypts `bytes` for the session.
    pub fn client_writes(&mut self, bytes: &[u8]) {
        self.client.writer().write_all(bytes).unwrap();
    }

    /// The plaintext the client has.
    pub fn client_reads(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        match self.client.reader().read_to_end(&mut all) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
        all
    }

    pub fn fill(&mut self) -> io::Result<Fill> {
        self.session.fill(&mut self.pool, 1)
    }

    pub fn flush(&mut self) -> io::Result<Flush> {
        self.session.flush(&mut self.pool)
    }

    /// Appends to the session's send buffer.
    pub fn put(&mut self, bytes: &[u8]) {
        let (_, send) = self.session.buffers();
        send.lend(&mut self.pool);
        send.put(bytes);
    }

    /// Takes what the session has received.
    pub fn take(&mut self) -> Vec<u8> {
        let (recv, _) = self.session.buffers();
        let taken = recv.filled().to_vec();
        recv.consume(taken.len());
        taken
    }

    /// Runs the handshake to its end; the error is the session's.
    pub fn handshake(&mut self) -> io::Result<()> {
        let begun = std::time::Instant::now();
        while self.session.is_handshaking() || self.client.is_handshaking() {
            self.client_sends();
            assert_eq!(self.fill()?, Fill::Blocked);
            assert_eq!(self.flush()?, Flush::Done);
            self.client_receives().map_err(|e| io::Error::new(ErrorKind::InvalidData, e))?;
            assert!(begun.elapsed() < PATIENCE, "the handshake does not end");
        }
        assert!(!self.client.wants_write(), "the client has nothing left to say");
        Ok(())
    }
}

/// The rustls error inside of an I/O error.
pub fn reason(error: &io::Error) -> &rustls::Error {
    let inside = error.get_ref().unwrap_or_else(|| panic!("nothing inside of {error:?}"));
    inside.downcast_ref().unwrap_or_else(|| panic!("not of rustls: {error:?}"))
}
