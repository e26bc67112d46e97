// SPDX-License-Identifier: Apache-2.0
//! [`Session`]: the socket, the optional TLS connection and the two buffers of one peer.

#[cfg(feature = "tls")]
use crate::TlsConnector;
use crate::stats::{SESSION_RECV_EX, SESSION_SEND_EX};
use crate::tls::TlsConnection;
use crate::transport::Transport;
use crate::wire::Two;
use crate::{Error, Stream, TlsAcceptor, wire};
use buffer::{Pool, RecvBuf, SendBuf};
use std::io::{self, ErrorKind};

/// The result of [`Session::fill`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Fill {
    /// Bytes arrived; with TLS it may be that they were none for the receive buffer.
    Some {
        /// Neither the socket nor TLS holds more, so the next bytes come with an event of their
        /// own. When false, call again: no event may follow.
        ///
        /// If the peer closed its side behind these bytes, that has not been seen yet. When the
        /// event that led here reported the close (`mio::event::Event::is_read_closed`), call again
        /// as if this were false.
        drained: bool,
    },
    /// No bytes are there; an event follows when some arrive.
    Blocked,
    /// The peer has closed its side in order. Bytes that arrived before are in the receive buffer,
    /// and replies can still be sent.
    Closed,
}

/// The result of [`Session::flush`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Flush {
    /// Everything has been handed to the system: nothing waits in the send buffer or in TLS.
    Done,
    /// The socket takes no more, or the TLS handshake must come first. An event follows.
    Blocked,
    /// As many bytes as were asked for have been handed over, and there are more. Call again: no event follows.
    Partial,
}

/// One peer: a socket, plain or TLS, and its two buffers.
///
/// No method blocks: the caller waits for the socket with mio's edge-triggered events. An idle
/// plain session without blocks (see [`Session::release`]) takes less than 256 bytes; rustls adds
/// some 7 KiB to a TLS session.
#[derive(Debug)]
pub struct Session {
    pub(crate) transport: Transport,
    /// Boxed because there are many plain sessions and the state of rustls is large.
    pub(crate) tls: Option<Box<TlsConnection>>,
    pub(crate) recv: RecvBuf,
    pub(crate) send: SendBuf,
}

impl Session {
    /// A session without encryption.
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
        let tls = TlsConnection::server(acceptor)?;
        Ok(Session { tls: Some(Box::new(tls)), ..Session::plain(stream) })
    }

    /// The client's side of a TLS session, with the feature `tls`. [`Session::flush`] begins the handshake.
    ///
    /// # Errors
    ///
    /// [`Error::Tls`] when rustls refuses to begin.
    #[cfg(feature = "tls")]
    pub fn tls_client(stream: Stream, connector: &TlsConnector) -> Result<Session, Error> {
        let tls = TlsConnection::client(connector)?;
        Ok(Session { tls: Some(Box::new(tls)), ..Session::plain(stream) })
    }

    /// The socket, to register it with mio.
    pub fn stream(&mut self) -> &mut Stream {
        &mut self.transport.stream
    }

    /// Both buffers, for the protocol to work on. Call [`SendBuf::lend`] each time before the
    /// protocol writes to the send buffer, or the buffer allocates a block.
    #[inline]
    pub fn buffers(&mut self) -> (&mut RecvBuf, &mut SendBuf) {
        (&mut self.recv, &mut self.send)
    }

    /// Bytes that arrived and were not consumed.
    #[inline]
    pub fn recv(&self) -> &RecvBuf {
        &self.recv
    }

    /// Number of bytes that wait to be sent. A TLS session may hold another 64 KiB in encrypted
    /// form.
    #[inline]
    pub fn send(&self) -> &SendBuf {
        &self.send
    }

    /// Whether the TLS handshake is unfinished; always false for a plain session.
    pub fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// Receives into the receive buffer, after making room in it for `claimed` bytes that a request misses, or, if these
    /// are far more than have arrived, for a part of them.
    ///
    /// A plain session costs one read system call: a read that does not fill the room has drained
    /// the socket. A TLS session reads until the room is filled or the socket is drained, and
    /// continues its handshake. It may have something to send afterwards although nothing arrived,
    /// so call [`Session::flush`] after every `fill`.
    ///
    /// # Errors
    ///
    /// Those of the system. In a TLS session also `InvalidData`, with the reason inside, when the peer breaks
    /// the protocol or is refused (the alert has been sent), and `UnexpectedEof` when its stream ends without
    /// the TLS close, whether somebody cut it or the client always omits the close. After an error the
    /// session can only be dropped.
    #[inline]
    pub fn fill(&mut self, pool: &mut Pool, claimed: usize) -> io::Result<Fill> {
        self.recv.reserve_claimed(claimed, pool);
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

    /// Whether bytes can be received [elsewhere](Session::fill_place): the socket is read directly, and nothing waits that
    /// was read from it.
    #[inline]
    pub fn can_place(&self) -> bool {
        self.tls.is_none() && self.transport.reads_socket() && self.recv.is_empty()
    }

    /// Receives into `place`, and what follows behind it, a little of it, into the receive buffer. Returns how many
    /// bytes are in `place`. One read system call.
    ///
    /// Call it only if the session [can](Session::can_place).
    ///
    /// # Errors
    ///
    /// Those of the system. After an error the session can only be dropped.
    pub fn fill_place(&mut self, pool: &mut Pool, place: &mut [u8]) -> io::Result<(usize, Fill)> {
        let (room, mut behind) = (place.len(), [0; BEHIND]);
        let read = wire::read_socket(&self.transport.stream, &mut Two(place, &mut behind));
        let n = match read {
            Ok(0) => return Ok((0, Fill::Closed)),
            Ok(n) => n,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok((0, Fill::Blocked)),
            Err(error) => {
                SESSION_RECV_EX.increment();
                return Err(error);
            }
        };
        if n > room {
            self.recv.reserve(n - room, pool);
            self.recv.put(&behind[..n - room]);
        }
        Ok((n.min(room), Fill::Some { drained: n < room + BEHIND }))
    }

    /// Sends the waiting bytes, until none are left or the socket takes no more.
    ///
    /// When all bytes have been sent, the send buffer's block goes back to the pool, so that a burst of
    /// replies does not leave a large block behind.
    ///
    /// # Errors
    ///
    /// Those of the system; `BrokenPipe` and `ConnectionReset` mean that the peer is gone. After an
    /// error the session can only be dropped.
    #[inline]
    pub fn flush(&mut self, pool: &mut Pool) -> io::Result<Flush> {
        self.flush_some(pool, usize::MAX)
    }

    /// As [`Session::flush`], but stops when about `most` bytes have been sent, so that a large value does not keep others
    /// waiting. The bytes of a carried session are bounded by its driver.
    ///
    /// # Errors
    ///
    /// As [`Session::flush`].
    #[inline]
    pub fn flush_some(&mut self, pool: &mut Pool, most: usize) -> io::Result<Flush> {
        self.lend_carried(pool);
        let flushed = match &mut self.tls {
            None => flush_plain(&mut self.transport, &mut self.send, most),
            Some(tls) => flush_tls(tls, &mut self.transport, &mut self.send, most),
        };
        match flushed {
            Ok(Flush::Done) => self.send.release(pool),
            Ok(Flush::Blocked) if self.transport.carried.is_none() => self.send.give_way(pool),
            Ok(Flush::Blocked | Flush::Partial) => {}
            Err(_) => SESSION_SEND_EX.increment(),
        }
        flushed
    }

    /// Bytes of TLS records that the socket has taken: they make way when nothing leaves the send buffer. 0 without TLS.
    #[inline]
    #[must_use]
    pub fn records_written(&self) -> u64 {
        self.tls.as_ref().map_or(0, |tls| tls.written())
    }

    /// Gives the blocks of empty buffers back to the pool; a buffer that holds bytes keeps its
    /// block.
    #[inline]
    pub fn release(&mut self, pool: &mut Pool) {
        self.recv.release(pool);
        self.send.release(pool);
        self.release_carried(pool);
    }

    /// Closes the sending side, as far as possible without waiting: first that of TLS, unless it would cut
    /// off unsent replies, then that of the socket. The peer may go on sending.
    pub fn shutdown(&mut self) {
        if let Some(tls) = &mut self.tls
            && self.send.is_empty()
        {
            tls.close(&mut self.transport);
        }
        self.send_left();
        // Fails when the peer is already gone; then nobody is left to be told.
        let _ = self.transport.stream.shutdown_write();
    }
}

/// Bytes that are received behind a place: the end of a request, and the begin of the next one.
const BEHIND: usize = 256;

#[inline]
fn fill_plain(transport: &mut Transport, recv: &mut RecvBuf) -> io::Result<Fill> {
    let room = recv.room();
    match wire::read(transport, recv) {
        Ok(0) => Ok(Fill::Closed),
        Ok(n) => Ok(Fill::Some { drained: n < room && transport.is_drained_by_less() }),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Fill::Blocked),
        Err(error) => Err(error),
    }
}

#[inline]
fn flush_plain(transport: &mut Transport, send: &mut SendBuf, most: usize) -> io::Result<Flush> {
    if transport.carried.is_some() {
        return Ok(if send.is_empty() { Flush::Done } else { Flush::Blocked });
    }
    let mut left = most;
    while !send.is_empty() {
        if left == 0 {
            return Ok(Flush::Partial);
        }
        match wire::write(&mut transport.stream, send, left) {
            Ok(n) => {
                send.consume(n);
                left = left.saturating_sub(n);
            }
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
    most: usize,
) -> io::Result<Flush> {
    let flushed = tls.flush(transport, send, most)?;
    let is_left = transport.carried.as_ref().is_some_and(|carried| !carried.outgoing.is_empty());
    Ok(if is_left { Flush::Blocked } else { flushed })
}
