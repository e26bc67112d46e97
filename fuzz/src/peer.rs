// SPDX-License-Identifier: Apache-2.0
//! [`Peer`]: one connection without a socket, driven as a worker drives it.

use crate::chunks::Noise;
use buffer::{Pool, RecvBuf, SendBuf};
use clock::Clock;
use protocol::{ConnectionId, Context, Directory, Execute, Outbox, Protocol};
use reactor::{Limits, Pipeline, Turn, turn};
use std::fmt::Debug;
use std::io::IoSlice;

/// What a connection may hold, and what it is allowed beyond.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The limits of `turn`.
    pub(crate) limits: Limits,
    /// Bytes of a receive block.
    pub(crate) recv_block: usize,
    /// Bytes of the longest reply.
    pub(crate) reply_max: usize,
}

/// A connection that reads from memory and writes to memory.
#[derive(Debug)]
pub(crate) struct Peer<P: Protocol, E> {
    /// Executes the requests.
    pub(crate) service: E,
    /// Everything that was sent.
    pub(crate) sent: Vec<u8>,
    /// Whether the connection was closed.
    pub(crate) closed: bool,
    pipeline: Pipeline<P>,
    recv: RecvBuf,
    send: SendBuf,
    pool: Pool,
    outbox: Outbox,
    directory: Directory,
    clock: Clock,
    bounds: Bounds,
    /// The slowness of its reader: how many bytes are taken at a time is up to this.
    reader: Option<Noise>,
}

impl<P: Protocol, E: Execute<P>> Peer<P, E> {
    /// A new connection. Its client reads all replies at once, or with `reader` in pieces.
    pub(crate) fn new(
        protocol: P,
        service: E,
        clock: Clock,
        bounds: Bounds,
        reader: Option<Noise>,
    ) -> Self {
        Peer {
            service,
            sent: Vec::new(),
            closed: false,
            pipeline: Pipeline::new(protocol),
            recv: RecvBuf::new(),
            send: SendBuf::new(),
            pool: Pool::new(bounds.recv_block, 64, 1),
            outbox: Outbox::new(),
            directory: Directory::new(),
            clock,
            bounds,
            reader,
        }
    }

    /// Lets `bytes` arrive and serves them until nothing more can be served. A connection that waits for others fills
    /// its block, and leaves the rest to the socket: nobody answers it here.
    pub(crate) fn arrive(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.closed {
            if self.pipeline.is_blocked() && self.recv.capacity() > 0 && self.recv.room() == 0 {
                return;
            }
            self.recv.reserve(1, &mut self.pool);
            let n = self.recv.put(bytes);
            bytes = &bytes[n..];
            self.serve();
            self.recv.release(&mut self.pool);
        }
    }

    /// Calls `turn` until the connection waits for input or for others, or is closed.
    fn serve(&mut self) {
        loop {
            let waiting = (self.recv.filled().len(), self.send.pending(), self.sent.len());
            let next = self.turn();
            self.check_bounds(next);
            match next {
                Turn::NeedInput { at_least } => {
                    let request = self.recv.filled().len().saturating_add(at_least);
                    let most = self.bounds.limits.request_bytes;
                    assert!(at_least > 0 && request <= most, "waits for {request} of {most} bytes");
                    return self.flush(usize::MAX);
                }
                Turn::Close | Turn::Refuse | Turn::TooLarge => {
                    self.closed = true;
                    return self.flush(usize::MAX);
                }
                Turn::Blocked => return self.flush(usize::MAX),
                Turn::Yield => {}
                Turn::Backpressure => {
                    let most = self.reader.as_mut().map_or(usize::MAX, |reader| {
                        // At least a byte, or nothing would ever happen again.
                        1 + reader.below(2 * self.bounds.limits.high_water)
                    });
                    self.flush(most);
                }
            }
            let after = (self.recv.filled().len(), self.send.pending(), self.sent.len());
            assert_ne!(after, waiting, "{next:?}, but nothing was done");
        }
    }

    fn turn(&mut self) -> Turn {
        self.send.lend(&mut self.pool);
        let id = ConnectionId::new(0, 1);
        let now = self.clock.now();
        let mut context = Context::new(now, id, &mut self.outbox, &self.directory);
        turn(
            &mut self.pipeline,
            &mut self.service,
            &mut self.recv,
            &mut self.send,
            &self.bounds.limits,
            &mut context,
        )
    }

    /// RULE-BOUND and the bound on what a claimed length may make of the receive buffer.
    fn check_bounds(&self, next: Turn) {
        let Bounds { limits, recv_block, reply_max } = self.bounds;
        let (held, most) = (self.recv.capacity(), 2 * limits.request_bytes + recv_block);
        assert!(held <= most, "a receive buffer of {held} bytes, at most {most} expected");
        let (unsent, most) = (self.send.pending(), limits.high_water + reply_max);
        assert!(unsent <= most, "{unsent} bytes unsent after {next:?}, at most {most} expected");
        assert!(
            next != Turn::Backpressure || unsent >= limits.high_water,
            "stopped by {unsent} unsent bytes, below the mark"
        );
    }

    /// Sends up to `most` bytes.
    fn flush(&mut self, mut most: usize) {
        while most > 0 && !self.send.is_empty() {
            let mut slices = [IoSlice::new(&[]); 4];
            let filled = self.send.slices(&mut slices);
            let mut n = 0;
            for slice in &slices[..filled] {
                let piece = &slice[..slice.len().min(most - n)];
                self.sent.extend_from_slice(piece);
                n += piece.len();
            }
            self.send.consume(n);
            most -= n;
        }
        self.send.release(&mut self.pool);
    }
}
