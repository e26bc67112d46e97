// SPDX-License-Identifier: Apache-2.0
//! [`TlsConnection`]: rustls between a socket and the two buffers.
//!
//! ```text
//!           read_tls                        reader
//!  socket ────────────▶ ┌──────────────┐ ────────▶ RecvBuf
//!                       │  Connection  │
//!  socket ◀──────────── └──────────────┘ ◀──────── SendBuf
//!           write_tls                       writer
//! ```
//!
//! Memory is bounded on both sides. Incoming: nothing is read while plaintext waits in rustls, so rustls
//! holds the bytes of one read, at most a record. Outgoing: rustls is given at most [`OUTGOING_BYTES`] at a
//! time, and only when everything before has been sent; the rest stays in the send buffer, where it counts
//! towards the high-water mark.

use super::records::Records;
use super::stats::{STREAM_HANDSHAKE, STREAM_HANDSHAKE_EX};
use super::wire::Wire;
use crate::transport::Transport;
use crate::wire::SLICES_MAX;
use crate::{Error, Fill, Flush, TlsAcceptor, TlsConnector};
use buffer::{RecvBuf, SendBuf};
use rustls::{ClientConnection, Connection, ServerConnection};
use std::cell::RefCell;
use std::io::{self, BufRead, ErrorKind, IoSlice, Read, Write};

/// The most plaintext bytes that are encrypted ahead of the socket.
const OUTGOING_BYTES: usize = 64 << 10;

/// What rustls reads at a time.
const READ_BYTES: usize = 4 << 10;

/// The most that is read at once: the rest of the largest record that rustls takes.
const REST_BYTES: usize = 18 << 10;

/// The most reads from the socket in one call of [`TlsConnection::fill`]. One of more than 4 KiB counts as several.
const READS_MAX: usize = 16;

/// The same while they have brought no plaintext: enough for the largest record.
const READS_IDLE: usize = 5;

/// The first byte of every TLS connection: the type of a handshake record.
const HANDSHAKE: u8 = 22;

/// The client does not speak TLS.
#[derive(Debug, thiserror::Error)]
#[error("the first byte is not one of TLS")]
struct NotTls;

/// Whether a session failed because its client did not speak TLS although it must.
#[must_use]
pub fn is_not_tls(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|cause| cause.is::<NotTls>())
}

thread_local! {
    /// Where the rest of a large record is read to, before rustls takes it in several steps.
    static REST: RefCell<[u8; REST_BYTES]> = const { RefCell::new([0; REST_BYTES]) };
}

/// Passes reads on, and records the first byte and where records end.
struct Looked<'w, 'l> {
    wire: &'w mut Wire<'l>,
    records: &'w mut Records,
    first: Option<u8>,
}

impl Read for Looked<'_, '_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let len = self.wire.read(into)?;
        self.first = self.first.or(into[..len].first().copied());
        self.records.pass(&into[..len]);
        Ok(len)
    }
}

/// One side of a TLS connection.
#[derive(Debug)]
pub(crate) struct TlsConnection {
    connection: Connection,
    handshake: Handshake,
    /// How far the record has come that is being received.
    records: Records,
    /// Bytes of records that the socket has taken.
    written: u64,
}

/// The state of the handshake, for the metrics.
#[derive(Debug, PartialEq, Eq)]
enum Handshake {
    /// The peer has sent nothing.
    Silent,
    Running,
    /// Completed or failed, and counted.
    Settled,
}

/// The result of one read from the socket.
enum Received {
    Nothing,
    /// Less than was asked for: the socket is drained.
    Short,
    Full,
    /// End of file on the socket. The reader of rustls tells whether the TLS close came before it.
    End,
    /// End of file before the peer sent anything.
    NeverSpoke,
}

impl TlsConnection {
    /// The server's side.
    pub(crate) fn server(acceptor: &TlsAcceptor) -> Result<Self, Error> {
        let connection =
            ServerConnection::new(acceptor.config()).map_err(|error| Error::tls(&error))?;
        Ok(TlsConnection::from(Connection::Server(connection)))
    }

    /// The client's side.
    pub(crate) fn client(connector: &TlsConnector) -> Result<Self, Error> {
        let (config, name) = connector.parts();
        let connection = ClientConnection::new(config, name).map_err(|error| Error::tls(&error))?;
        Ok(TlsConnection::from(Connection::Client(connection)))
    }

    fn from(mut connection: Connection) -> Self {
        connection.set_buffer_limit(Some(OUTGOING_BYTES));
        let (handshake, records) = (Handshake::Silent, Records::default());
        TlsConnection { connection, handshake, records, written: 0 }
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// See [`Session::fill`](crate::Session::fill). `recv` has room for a byte at least.
    ///
    /// Returns `Blocked` only after a read from the socket returned `WouldBlock`: after a short
    /// read that brought no plaintext, the end of the stream may follow without a further event.
    ///
    /// Returns `Some` without any after some reads that brought none. A client may send what costs time and is no
    /// plaintext, such as new keys, for as long as it likes.
    pub(crate) fn fill(
        &mut self,
        transport: &mut Transport,
        recv: &mut RecvBuf,
    ) -> io::Result<Fill> {
        let mut has_some = false;
        let mut drained = false;
        let mut reads = 0;
        loop {
            let mut reader = self.connection.reader();
            match reader.fill_buf() {
                Ok([]) if has_some => return Ok(Fill::Some { drained: false }),
                Ok([]) => return Ok(Fill::Closed),
                Ok(chunk) => {
                    let taken = recv.put(chunk);
                    reader.consume(taken);
                    has_some = true;
                    if recv.room() == 0 {
                        return Ok(Fill::Some { drained: false });
                    }
                    // Ask again: the TLS close may have come in the same read, and no event reports
                    // that.
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // The bytes before the cut are served first; the next call reports the cut.
                Err(_) if has_some => return Ok(Fill::Some { drained: false }),
                Err(error) => return Err(error),
            }
            if has_some && drained {
                return Ok(Fill::Some { drained });
            }
            let most = if has_some || self.is_handshaking() { READS_MAX } else { READS_IDLE };
            if reads >= most {
                return Ok(Fill::Some { drained: false });
            }
            reads += 1;
            let missing = self.records.missing();
            let received = if missing > READ_BYTES && self.handshake == Handshake::Settled {
                let (received, len) = self.receive_rest(transport, missing)?;
                reads += len / READ_BYTES;
                received
            } else {
                self.receive(transport)?
            };
            match received {
                Received::Nothing if has_some => return Ok(Fill::Some { drained: true }),
                Received::Nothing => return Ok(Fill::Blocked),
                Received::NeverSpoke => return Ok(Fill::Closed),
                Received::Short => drained = true,
                Received::Full | Received::End => drained = false,
            }
        }
    }

    /// Reads once from the socket and lets rustls process the bytes.
    fn receive(&mut self, transport: &mut Transport) -> io::Result<Received> {
        let mut wire = Wire::new(transport);
        let mut looked = Looked { wire: &mut wire, records: &mut self.records, first: None };
        let read = self.connection.read_tls(&mut looked);
        let first = looked.first.filter(|_| self.handshake == Handshake::Silent);
        let short = wire.is_short();
        match read {
            Ok(0) if self.handshake == Handshake::Silent => return Ok(Received::NeverSpoke),
            Ok(0) if self.is_handshaking() => {
                let reason = "the peer broke off the TLS handshake";
                return Err(self.failed(io::Error::new(ErrorKind::UnexpectedEof, reason)));
            }
            Ok(0) => return Ok(Received::End),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Received::Nothing),
            Err(error) => return Err(self.failed(error)),
        }
        if self.handshake == Handshake::Silent {
            self.handshake = Handshake::Running;
        }
        let is_foreign = first.is_some_and(|first| first != HANDSHAKE)
            && matches!(self.connection, Connection::Server(_));
        let processed = self.process(transport);
        if is_foreign {
            // Even if rustls has too few bytes to tell: a client that waits for a reply sends no more.
            return Err(self.failed(io::Error::new(ErrorKind::InvalidData, NotTls)));
        }
        processed?;
        Ok(if short { Received::Short } else { Received::Full })
    }

    /// As [`TlsConnection::receive`] for the `missing` bytes of a record and a header. Returns how many have come, too.
    fn receive_rest(
        &mut self,
        transport: &mut Transport,
        missing: usize,
    ) -> io::Result<(Received, usize)> {
        REST.with_borrow_mut(|rest| {
            let rest = &mut rest[..missing.min(REST_BYTES)];
            let mut wire = Wire::new(transport);
            let mut looked = Looked { wire: &mut wire, records: &mut self.records, first: None };
            let len = match looked.read(rest) {
                Ok(len) => len,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Ok((Received::Nothing, 0));
                }
                Err(error) => return Err(error),
            };
            let short = wire.is_short();
            let mut bytes = &rest[..len];
            // Of none it learns that the stream has ended.
            while self.connection.read_tls(&mut bytes)? > 0 {
                self.process(transport)?;
                if bytes.is_empty() {
                    return Ok((if short { Received::Short } else { Received::Full }, len));
                }
            }
            Ok((Received::End, len))
        })
    }

    /// Lets rustls process the bytes that were read, and sends its answer: the next part of the
    /// handshake, tickets, or the alert that says why the connection ends.
    fn process(&mut self, transport: &mut Transport) -> io::Result<()> {
        let processed = self.connection.process_new_packets();
        let written = self.write_records(transport);
        if let Err(error) = processed {
            return Err(self.failed(io::Error::new(ErrorKind::InvalidData, error)));
        }
        if self.handshake == Handshake::Running && !self.is_handshaking() {
            self.handshake = Handshake::Settled;
            STREAM_HANDSHAKE.increment();
        }
        match written {
            Ok(_) => Ok(()),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Counts the handshake as failed, if `error` ended it.
    fn failed(&mut self, error: io::Error) -> io::Error {
        if self.handshake != Handshake::Settled {
            self.handshake = Handshake::Settled;
            STREAM_HANDSHAKE_EX.increment();
        }
        error
    }

    /// See [`Session::flush`](crate::Session::flush).
    pub(crate) fn flush(
        &mut self,
        transport: &mut Transport,
        send: &mut SendBuf,
        most: usize,
    ) -> io::Result<Flush> {
        let mut left = most;
        loop {
            match self.write_records(transport) {
                Ok(Flush::Done) => {}
                Ok(blocked @ (Flush::Blocked | Flush::Partial)) => return Ok(blocked),
                Err(error) => return Err(self.failed(error)),
            }
            if send.is_empty() {
                return Ok(Flush::Done);
            }
            if self.is_handshaking() {
                return Ok(Flush::Blocked);
            }
            if left == 0 {
                return Ok(Flush::Partial);
            }
            left = left.saturating_sub(self.encrypt(send)?);
        }
    }

    /// Encrypts as much of `send` as rustls takes, pieces gathered into full records. Returns how many bytes.
    fn encrypt(&mut self, send: &mut SendBuf) -> io::Result<usize> {
        let mut writer = self.connection.writer();
        let taken = if send.is_contiguous() {
            writer.write(send.front())?
        } else {
            let mut slices = [IoSlice::new(&[]); SLICES_MAX];
            let filled = send.slices(&mut slices);
            writer.write_vectored(&slices[..filled])?
        };
        if taken == 0 {
            return Err(io::Error::new(ErrorKind::WriteZero, "rustls takes no more plaintext"));
        }
        send.consume(taken);
        Ok(taken)
    }

    /// Writes the records that rustls has encrypted.
    fn write_records(&mut self, transport: &mut Transport) -> io::Result<Flush> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut Wire::new(transport)) {
                Ok(n) => self.written += n as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Flush::Blocked),
                Err(error) => return Err(error),
            }
        }
        Ok(Flush::Done)
    }

    /// Bytes of records that the socket has taken.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Whether records wait to be written.
    pub(crate) fn wants_write(&self) -> bool {
        self.connection.wants_write()
    }

    /// Sends the TLS close, as far as the socket takes it.
    pub(crate) fn close(&mut self, transport: &mut Transport) {
        self.connection.send_close_notify();
        // A peer that is gone or does not read cannot receive it.
        let _ = self.write_records(transport);
    }
}
