// SPDX-License-Identifier: Apache-2.0
//! [`Session`]: the socket, the optional TLS connection and the two buffers of one peer.

use crate::stats::{SESSION_RECV_EX, SESSION_SEND_EX};
use crate::tls::TlsConnection;
use crate::transport::Transport;
use crate::{Error, Stream, TlsAcceptor, TlsConnector, wire};
use buffer::{Pool, RecvBuf, SendBuf};
use std::io::{self, ErrorKind};

/// What [`Session::fill`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Fill {
    /// Bytes arrived.
    Some {
        /// Neither the socket nor TLS holds more, so the next bytes come with an event of their
        /// own. When false, call again: no event may follow.
        ///
        /// An end that the peer has sent behind the bytes is not seen yet. When the event that led
        /// here reported it (`mio::event::Event::is_read_closed`), call again as if this were
        /// false.
        drained: bool,
    },
    /// Nothing is there; an event follows when something is.
    Blocked,
    /// The peer has ended its stream in order. What arrived before is in the receive buffer, and
    /// replies can still be sent.
    Closed,
}

/// How far [`Session::flush`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Flush {
    /// Everything has been handed to the system: nothing waits in the send buffer or in TLS.
    Done,
    /// The socket takes no more, or the TLS handshake must come first. An event follows.
    Blocked,
}

/// One peer: a socket, plain or TLS, and its two buffers.
///
/// It never waits: every method returns at once, and the caller waits for the socket with mio's
/// edge-triggered events. Idle and without its blocks (see [`Session::release`]) a plain session is
/// less than 256 bytes; rustls adds some 7 KiB to a TLS one.
#[derive(Debug)]
pub struct Session {
    pub(crate) transport: Transport,
    /// Boxed, for plain sessions are many and rustls's state is large.
    pub(crate) tls: Option<Box<TlsConnection>>,
    pub(crate) recv: RecvBuf,
    pub(crate) send: SendBuf,
}

impl Session {
    /// A session that sends and receives in the clear.
    pub fn plain(stream: Stream) -> Session {
        Session {
            transport: Transport::direct(stream),
            tls: None,
            recv: RecvBuf::new(),
            send: SendBuf::new(),
        }
    }

    /// The server's side of a TLS session, with the acceptor's current certificate. The handshake
    /// runs in [`Session::fill`] and [`Session::flush`].
    ///
    /// # Errors
    ///
    /// [`Error::Tls`] when rustls refuses to begin.
    pub fn tls(stream: Stream, acceptor: &TlsAcceptor) -> Result<Session, Error> {
        let tls = TlsConnection::new(acceptor.config())?;
        Ok(Session { tls: Some(Box::new(tls)), ..Session::plain(stream) })
    }

    /// The client's side of a TLS session. [`Session::flush`] begins the handshake.
    ///
    /// # Errors
    ///
    /// [`Error::Tls`] when rustls refuses to begin.
    pub fn tls_client(stream: Stream, connector: &TlsConnector) -> Result<Session, Error> {
        let tls = TlsConnection::client(connector)?;
        Ok(Session { tls: Some(Box::new(tls)), ..Session::plain(stream) })
    }

    /// The socket, to register it with mio.
    pub fn stream(&mut self) -> &mut Stream {
        &mut self.transport.stream
    }

    /// Both buffers, for the protocol to work on. Lend the send buffer a block each time before the
    /// protocol writes to it, or it allocates one.
    #[inline]
    pub fn buffers(&mut self) -> (&mut RecvBuf, &mut SendBuf) {
        (&mut self.recv, &mut self.send)
    }

    /// What arrived and was not consumed.
    #[inline]
    pub fn recv(&self) -> &RecvBuf {
        &self.recv
    }

    /// What waits to be sent. A TLS session may hold another 64 KiB in encrypted form.
    #[inline]
    pub fn send(&self) -> &SendBuf {
        &self.send
    }

    /// Whether the TLS handshake is unfinished; never for a plain session.
    pub fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// Receives into the receive buffer, in which it first makes room for at least `room` bytes.
    ///
    /// A plain session costs one read system call: a read that does not fill the room has drained
    /// the socket. A TLS session reads until the room is filled or the socket is drained, goes on
    /// with its handshake, and may have something to send afterwards though nothing arrived: call
    /// [`Session::flush`] after every call of this.
    ///
    /// # Errors
    ///
    /// The system's. In a TLS session also `InvalidData` with the reason inside when the peer breaks
    /// the protocol or is refused (the alert has been sent), and `UnexpectedEof` when its stream
    /// ends without the TLS close, be it cut by somebody or the habit of a client. The session is
    /// of no use after an error, except to drop it.
    #[inline]
    pub fn fill(&mut self, pool: &mut Pool, room: usize) -> io::Result<Fill> {
        self.recv.reserve(room.max(1), pool);
        self.lend_carried(pool);
        let filled = match &mut self.tls {
            None => fill_plain(&mut self.transport, &mut self.recv),
            Some(tls) => tls.fill(&mut self.transport, &mut self.recv),
        };
        if filled.is_err() {
            SESSION_RECV_EX.increment();
        }
        filled
    }

    /// Sends what waits, until nothing does or the socket takes no more.
    ///
    /// When nothing waits any more the send buffer's block goes back to the pool, so that a burst of
    /// replies does not leave a large block behind.
    ///
    /// # Errors
    ///
    /// The system's; `BrokenPipe` and `ConnectionReset` mean that the peer is gone. The session is
    /// of no use afterwards.
    #[inline]
    pub fn flush(&mut self, pool: &mut Pool) -> io::Result<Flush> {
        self.lend_carried(pool);
        let flushed = match &mut self.tls {
            None => flush_plain(&mut self.transport, &mut self.send),
            Some(tls) => flush_tls(tls, &mut self.transport, &mut self.send),
        };
        match flushed {
            Ok(Flush::Done) => self.send.release(pool),
            Ok(Flush::Blocked) => {}
            Err(_) => SESSION_SEND_EX.increment(),
        }
        flushed
    }

    /// Gives the blocks of empty buffers back to the pool; those that hold something stay.
    #[inline]
    pub fn release(&mut self, pool: &mut Pool) {
        self.recv.release(pool);
        self.send.release(pool);
        self.release_carried(pool);
    }

    /// Ends the sending side as far as that works without waiting: the TLS close, unless replies are
    /// left that it would cut off, then the socket's. The peer may go on sending.
    pub fn shutdown(&mut self) {
        if let Some(tls) = &mut self.tls
            && self.send.is_empty()
        {
            tls.close(&mut self.transport);
        }
        self.send_left();
        // It fails when the peer has gone first, and then there is nobody to tell.
        let _ = self.transport.stream.shutdown_write();
    }
}

#[inline]
fn fill_plain(transport: &mut Transport, recv: &mut RecvBuf) -> io::Result<Fill> {
    let spare = recv.spare();
    let room = spare.len();
    match wire::read(transport, spare) {
        Ok(0) => Ok(Fill::Closed),
        Ok(n) => {
            recv.commit(n);
            Ok(Fill::Some { drained: n < room && transport.is_drained_by_less() })
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Fill::Blocked),
        Err(error) => Err(error),
    }
}

#[inline]
fn flush_plain(transport: &mut Transport, send: &mut SendBuf) -> io::Result<Flush> {
    if transport.carried.is_some() {
        return Ok(if send.is_empty() { Flush::Done } else { Flush::Blocked });
    }
    while !send.is_empty() {
        match wire::write(&mut transport.stream, send) {
            Ok(n) => send.consume(n),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Flush::Blocked),
            Err(error) => return Err(error),
        }
    }
    Ok(Flush::Done)
}

fn flush_tls(
    tls: &mut TlsConnection,
    transport: &mut Transport,
    send: &mut SendBuf,
) -> io::Result<Flush> {
    let flushed = tls.flush(transport, send)?;
    let is_left = transport.carried.as_ref().is_some_and(|carried| !carried.outgoing.is_empty());
    Ok(if is_left { Flush::Blocked } else { flushed })
}
