// SPDX-License-Identifier: Apache-2.0
//! The socket as hyper sees it, reporting to the connection's [`Pace`].

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use hyper::rt::ReadBufCursor;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::accept::Accepted;
use crate::pace::Pace;

/// Most bytes taken from the socket at once. They are copied once more into hyper's buffer, which
/// costs nothing that matters here and needs no unsafe code.
const READ_BYTES: usize = 4096;

/// One accepted socket.
#[derive(Debug)]
pub(crate) struct Wire {
    socket: Accepted,
    pace: Rc<Pace>,
    /// The peer has closed its half, or the socket failed.
    ended: bool,
}

impl Wire {
    pub(crate) fn new(socket: Accepted, pace: Rc<Pace>) -> Self {
        Self { socket, pace, ended: false }
    }

    /// Closes the sending half, then reads and discards until the peer closes too or `bytes_max`
    /// bytes have come. A close with unread bytes makes the kernel send a reset, which could
    /// overtake the response. The caller sets the time limit.
    pub(crate) async fn linger(mut self, bytes_max: usize) {
        let mut scratch = [0; READ_BYTES];
        let mut discarded = 0;
        std::future::poll_fn(|cx| {
            // A failed shutdown shows as the end of the reads below.
            let _ = ready!(Pin::new(self.socket.stream()).poll_shutdown(cx));
            while !self.ended && discarded < bytes_max {
                let mut buffer = ReadBuf::new(&mut scratch);
                discarded += ready!(self.poll_fill(cx, &mut buffer)).unwrap_or(0);
            }
            Poll::Ready(())
        })
        .await;
    }

    /// Reads what is there and returns how many bytes. None means the end.
    fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        let result = ready!(Pin::new(self.socket.stream()).poll_read(cx, buffer));
        let bytes = buffer.filled().len();
        self.ended = bytes == 0 || result.is_err();
        Poll::Ready(result.map(|()| bytes))
    }
}

impl hyper::rt::Read for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut scratch = [0; READ_BYTES];
        let room = buf.remaining().min(READ_BYTES);
        let mut buffer = ReadBuf::new(&mut scratch[..room]);
        if ready!(self.poll_fill(cx, &mut buffer))? > 0 {
            self.pace.received(Instant::now());
            buf.put_slice(buffer.filled());
        }
        Poll::Ready(Ok(()))
    }
}

impl hyper::rt::Write for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.pace.sending(Instant::now());
        Pin::new(self.socket.stream()).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.pace.sending(Instant::now());
        Pin::new(self.socket.stream()).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// hyper calls this only once its own buffer is empty.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.pace.flushed(Instant::now());
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.socket.stream()).poll_shutdown(cx)
    }
}
