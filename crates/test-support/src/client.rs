// SPDX-License-Identifier: Apache-2.0
//! [`Client`]: a client of any transport. It blocks, but with a time limit.

use super::PATIENCE;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConnection, StreamOwned};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// A connected client.
#[derive(Debug)]
pub enum Client {
    /// TCP.
    Tcp(TcpStream),
    /// A unix socket.
    Unix(UnixStream),
    /// TLS over TCP.
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Client {
    /// Connects over TCP.
    pub fn tcp(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client::Tcp(stream)
    }

    /// Connects to a unix socket.
    pub fn unix(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Client::Unix(stream)
    }

    /// Connects over TCP and speaks TLS.
    pub fn tls(address: SocketAddr, connection: ClientConnection) -> Self {
        let Client::Tcp(stream) = Client::tcp(address) else { unreachable!("a TCP client") };
        Client::Tls(Box::new(StreamOwned::new(connection, stream)))
    }

    /// Sends all of `bytes`.
    #[track_caller]
    pub fn send(&mut self, bytes: &[u8]) {
        self.write_all(bytes).unwrap();
        self.flush().unwrap();
    }

    /// The next `n` bytes.
    #[track_caller]
    pub fn take(&mut self, n: usize) -> Vec<u8> {
        let mut bytes = vec![0; n];
        self.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// The next line, without its end.
    #[track_caller]
    pub fn line(&mut self) -> String {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            let n = self.rest_of_line();
            line.extend(self.take(n));
        }
        line.truncate(line.len() - 2);
        String::from_utf8_lossy(&line).into_owned()
    }

    /// How many bytes that have arrived are of the present line for sure; 1 where there is no looking ahead.
    fn rest_of_line(&mut self) -> usize {
        let Client::Tcp(stream) = self else { return 1 };
        let mut ahead = [0; 256];
        let arrived = match stream.peek(&mut ahead) {
            // Of a signal, or where this process has an io_uring; the read that follows tries again.
            Err(error) if error.kind() == ErrorKind::Interrupted => return 1,
            arrived => arrived.unwrap(),
        };
        let end = ahead[..arrived].iter().position(|&byte| byte == b'\n');
        end.map_or(arrived, |end| end + 1).max(1)
    }

    /// Reads as many bytes as `expected` has, which must be these.
    #[track_caller]
    pub fn expect(&mut self, expected: &[u8]) {
        let got = self.take(expected.len());
        if got != expected {
            let at = got.iter().zip(expected).take_while(|(a, b)| a == b).count();
            let part = |bytes: &[u8]| bytes[at..].escape_ascii().to_string()[..].to_owned();
            let (got, expected) = (part(&got), part(expected));
            panic!("at byte {at}: {:.200} instead of {:.200}", got, expected);
        }
    }

    /// Sends a request and reads its reply.
    #[track_caller]
    pub fn ask(&mut self, request: &[u8], reply: &[u8]) {
        self.send(request);
        self.expect(reply);
    }

    /// Closes the sending side; replies can still be read.
    pub fn finish(&mut self) {
        match self {
            Client::Tcp(stream) => stream.shutdown(Shutdown::Write).unwrap(),
            Client::Unix(stream) => stream.shutdown(Shutdown::Write).unwrap(),
            Client::Tls(tls) => {
                tls.conn.send_close_notify();
                tls.flush().unwrap();
                tls.sock.shutdown(Shutdown::Write).unwrap();
            }
        }
    }

    /// As [`Client::finish`], but only for the socket: a TLS session is cut off, not closed.
    pub fn cut(&mut self) {
        self.socket().shutdown(Shutdown::Write).unwrap();
    }

    /// All bytes until the server closes the connection; a reset fails the test.
    #[track_caller]
    pub fn rest(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        if let Err(error) = self.read_to_end(&mut all) {
            panic!("after {} bytes: {error}", all.len());
        }
        all
    }

    /// All bytes until the server closes or resets the connection.
    pub fn rest_or_reset(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        // Bytes that came before a reset are kept.
        let _ = self.read_to_end(&mut all);
        all
    }

    /// Whether nothing has arrived and the server has not closed. Only for sockets without TLS.
    pub fn is_quiet(&mut self) -> bool {
        let quiet = |read: io::Result<usize>| match read {
            Err(error) => error.kind() == ErrorKind::WouldBlock,
            Ok(_) => false,
        };
        match self {
            Client::Unix(stream) => {
                stream.set_nonblocking(true).unwrap();
                let is_quiet = quiet(stream.read(&mut [0]));
                stream.set_nonblocking(false).unwrap();
                is_quiet
            }
            _ => {
                let socket = self.socket();
                socket.set_nonblocking(true).unwrap();
                let is_quiet = quiet(socket.peek(&mut [0]));
                socket.set_nonblocking(false).unwrap();
                is_quiet
            }
        }
    }

    /// The certificate that the server has shown.
    pub fn server_certificate(&self) -> CertificateDer<'static> {
        let Client::Tls(tls) = self else { panic!("only TLS has certificates") };
        tls.conn.peer_certificates().expect("the handshake is over")[0].clone().into_owned()
    }

    fn socket(&mut self) -> &mut TcpStream {
        match self {
            Client::Tcp(stream) => stream,
            Client::Tls(tls) => &mut tls.sock,
            Client::Unix(_) => panic!("not over TCP"),
        }
    }
}

impl Read for Client {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Client::Tcp(stream) => stream.read(into),
            Client::Unix(stream) => stream.read(into),
            Client::Tls(tls) => tls.read(into),
        }
    }
}

impl Write for Client {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Client::Tcp(stream) => stream.write(bytes),
            Client::Unix(stream) => stream.write(bytes),
            Client::Tls(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Client::Tcp(stream) => stream.flush(),
            Client::Unix(stream) => stream.flush(),
            Client::Tls(tls) => tls.flush(),
        }
    }
}
