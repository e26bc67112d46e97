// SPDX-License-Identifier: Apache-2.0
//! One connection's life in a worker: read, `turn`, write, and what it waits for.

#[cfg(all(feature = "io-uring", target_os = "linux"))]
mod carried;
mod overdue;
mod unread;

use crate::metrics::CONNECTION_YIELD;
use crate::turn::{Share, Until, turn_within};
use crate::{Limits, Output, Pipeline, Seat, Turn, first_request};
use buffer::Pool;
use bytes::Bytes;
use clock::{Now, Ticks};
pub(crate) use overdue::Overdue;
use protocol::{Context, Directory, Errand, Execute, Outbox, Peer, Protocol};
use session::{Fill, Flush, Session};
use std::io;
use std::sync::Arc;

/// Reads and writes of one connection before others have their turn: RULE-FAIR for requests so large
/// that few of them are many bytes.
const ROUNDS: usize = 16;

/// The smallest message from another connection that is sent by reference; a smaller one costs less
/// to copy than to keep.
const PINNED_MIN: usize = 512;

/// What a worker lends to the connection it serves.
pub(crate) struct Desk<'a, E> {
    pub(crate) service: &'a mut E,
    pub(crate) pool: &'a mut Pool,
    pub(crate) outbox: &'a mut Outbox,
    pub(crate) directory: &'a Directory,
    pub(crate) limits: &'a Limits,
    pub(crate) output: &'a Output,
    pub(crate) now: Now,
    /// When the turn has taken its time; `None` for never. INV-SHORT.
    pub(crate) until: Option<Until>,
}

/// What a connection waits for after it was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The next event of its socket.
    Event,
    /// Its next turn: it has more to do and needs no event.
    Again,
    /// Nothing: it is to be removed.
    Remove,
}

/// What an errand came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// The connection is to be served.
    Serve,
    /// Nothing: the errand came too late.
    Dropped,
    /// More waits than the connection may let pile up: it is to be removed.
    TooMuch,
    /// It is to be removed.
    Cut,
}

/// How far a connection's life has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// What has arrived is served; with nothing more to read the connection closes.
    Draining,
    /// Nothing more is read or executed; it closes once its replies are flushed.
    Closing,
    /// Our side is closed; what the peer still sends is dropped until it closes its own. Closing the
    /// socket over unread bytes would reset the connection and could take the last reply with it.
    Lingering {
        since: Ticks,
    },
}

/// Reads of one lingering connection before others have their turn.
const LINGER_READS: usize = 16;

pub(crate) struct Connection<P: Protocol> {
    pub(crate) session: Session,
    pub(crate) peer: Arc<Peer>,
    /// Its session is a TLS one.
    pub(crate) is_tls: bool,
    pipeline: Pipeline<P>,
    phase: Phase,
    /// The socket may hold bytes: no read has come up short since its last event.
    readable: bool,
    /// The peer has closed its side; reading goes on to the end of what it sent.
    hung_up: bool,
    /// The peer has closed its side behind bytes that its driver does not receive for now.
    has_left: bool,
    /// It was not served to the end: it is held until its peer reads.
    is_stalled: bool,
    /// What it is to a driver that carries its bytes.
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    pub(crate) link: usize,
    /// It waits in the worker's queue of connections to serve again.
    pub(crate) queued: bool,
    /// Bytes have arrived since this was last asked.
    has_input: bool,
    /// What reading ahead has met; the connection ends with it when it is served.
    failed: Option<io::Error>,
    /// When bytes last arrived.
    read_at: Ticks,
    /// Since when replies wait without any of them being taken.
    unread_at: Option<Ticks>,
    /// Since when more waits than the soft limit.
    soft_at: Option<Ticks>,
    _seat: Seat,
}

impl<P: Protocol> Connection<P> {
    pub(crate) fn new(
        session: Session,
        protocol: P,
        peer: Arc<Peer>,
        seat: Seat,
        now: Ticks,
    ) -> Self {
        Connection {
            session,
            peer,
            is_tls: false,
            pipeline: Pipeline::new(protocol),
            phase: Phase::Open,
            readable: false,
            hung_up: false,
            has_left: false,
            is_stalled: false,
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            link: 0,
            queued: false,
            has_input: false,
            failed: None,
            read_at: now,
            unread_at: None,
            soft_at: None,
            _seat: seat,
        }
    }

    /// Notes an event that says that there is something to read, or an error or end to find.
    pub(crate) fn on_readable(&mut self, hung_up: bool) {
        self.readable = true;
        self.hung_up |= hung_up;
    }

    /// Ends the connection once everything that has arrived is served and flushed.
    pub(crate) fn drain(&mut self) {
        if self.phase == Phase::Open {
            self.phase = Phase::Draining;
            self.readable = true;
        }
    }

    /// Whether bytes have arrived since it was last asked.
    pub(crate) fn take_input(&mut self) -> bool {
        std::mem::take(&mut self.has_input)
    }

    /// Carries out what another connection, or this one, has put into an outbox for it.
    pub(crate) fn carry_out<E>(&mut self, errand: Errand, desk: &mut Desk<'_, E>) -> Done {
        if errand == Errand::Cut {
            return Done::Cut;
        }
        if !matches!(self.phase, Phase::Open | Phase::Draining) {
            // What was written before its end is sent, and nothing more.
            return Done::Dropped;
        }
        match errand {
            Errand::Push(_) if !self.pipeline.protocol().takes_messages() => Done::Dropped,
            Errand::Push(message) => {
                self.append(message, desk.pool);
                if self.is_over_hard_limit(desk.output) { Done::TooMuch } else { Done::Serve }
            }
            Errand::Resume(ticket, reply) => {
                if !self.pipeline.resume(ticket) {
                    return Done::Dropped;
                }
                // Its time limits begin again: it was not the client who kept still.
                self.read_at = desk.now.ticks;
                self.append(reply, desk.pool);
                Done::Serve
            }
            Errand::Close => {
                self.phase = Phase::Closing;
                Done::Serve
            }
            Errand::Cut => Done::Cut,
        }
    }

    fn append(&mut self, message: Bytes, pool: &mut Pool) {
        let (_, send) = self.session.buffers();
        if message.len() < PINNED_MIN {
            send.lend(pool);
            send.put(&message);
        } else {
            send.put_shared(message);
        }
    }

    /// Reads before the connection is served, if that is what serving it would begin with.
    pub(crate) fn read_ahead<E>(&mut self, desk: &mut Desk<'_, E>) {
        // A handshake is long: the turn may have taken its time before the next one.
        let is_idle = self.session.recv().is_empty()
            && self.session.send().is_empty()
            && !self.session.is_handshaking();
        if self.phase == Phase::Open
            && self.readable
            && is_idle
            && let Err(error) = self.fill(desk)
        {
            self.failed = Some(error);
        }
    }

    /// The codec, with the state that requests have set up.
    pub(crate) fn protocol(&self) -> &P {
        self.pipeline.protocol()
    }

    /// The first request that was read ahead.
    pub(crate) fn first_request(&self, limits: &Limits) -> Option<P::Request<'_>> {
        first_request(&self.pipeline, self.session.recv(), limits)
    }

    /// Serves requests until the connection must wait for something, and says for what.
    ///
    /// One read and one write in the common case: a short read tells that the socket is empty, and
    /// all replies leave together.
    pub(crate) fn serve<E: Execute<P>>(&mut self, desk: &mut Desk<'_, E>) -> io::Result<Next> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.is_stalled = false;
        let requests = desk.limits.requests_per_turn;
        let mut share = Share { requests, until: desk.until, unsent: 0 };
        for round in 0..ROUNDS {
            match self.phase {
                Phase::Open | Phase::Draining => {}
                Phase::Closing => return self.finish(desk),
                Phase::Lingering { .. } => return self.linger(desk),
            }
            let turn = if self.is_idle() {
                Turn::NeedInput { at_least: 1 } // as it would say
            } else {
                let turn = self.turn(&mut share, desk);
                if self.is_over_hard_limit(desk.output) {
                    self.overflow();
                    return Ok(Next::Remove);
                }
                turn
            };
            match turn {
                Turn::NeedInput { .. } => {
                    if self.readable && self.fill(desk)? {
                        // The first read is what most requests take.
                        if round > 0 && share.is_late() {
                            break;
                        }
                        continue;
                    }
                    if self.phase == Phase::Open && !self.hung_up {
                        let _ = self.flush(desk)?;
                        return Ok(Next::Event);
                    }
                    self.phase = Phase::Closing;
                }
                Turn::Backpressure => {
                    if self.flush(desk)? == Flush::Blocked {
                        return Ok(self.pile_up(desk));
                    }
                    if share.is_late() {
                        break;
                    }
                }
                Turn::Blocked => {
                    if self.may_read_on(desk) && self.fill(desk)? {
                        if share.is_late() {
                            break;
                        }
                        continue;
                    }
                    if !self.has_peer_gone() && self.phase == Phase::Open {
                        let _ = self.flush(desk)?;
                        return Ok(Next::Event);
                    }
                    self.phase = Phase::Closing;
                }
                Turn::Yield => break,
                Turn::Close => self.phase = Phase::Closing,
            }
        }
        CONNECTION_YIELD.increment();
        let _ = self.flush(desk)?;
        Ok(Next::Again)
    }

    /// Whether nothing has come that is not served, nothing waits to be sent, and nobody is waited for.
    #[inline]
    fn is_idle(&self) -> bool {
        self.session.recv().is_empty()
            && self.session.send().is_empty()
            && !self.pipeline.is_blocked()
    }

    fn turn<E: Execute<P>>(&mut self, share: &mut Share, desk: &mut Desk<'_, E>) -> Turn {
        share.unsent = self.mark(desk);
        let (recv, send) = self.session.buffers();
        send.lend(desk.pool);
        let mut context = Context::new(desk.now, self.peer.id, desk.outbox, desk.directory);
        turn_within(share, &mut self.pipeline, desk.service, recv, send, desk.limits, &mut context)
    }

    /// Whether a blocked connection is read: up to the bytes of the largest request.
    ///
    /// An event says that the peer has closed its side only if its end has arrived. It has not where the
    /// socket is full of what the peer sent before, and in a TLS session it shows in no event at all.
    fn may_read_on<E>(&self, desk: &Desk<'_, E>) -> bool {
        self.readable
            && !self.has_peer_gone()
            && self.session.recv().filled().len() < desk.limits.request_bytes
    }

    /// Whether the peer of a blocked connection has closed its side: then nobody waits any more.
    fn has_peer_gone(&self) -> bool {
        self.hung_up || self.has_left
    }

    /// Reads once; whether there may be something new to parse.
    fn fill<E>(&mut self, desk: &mut Desk<'_, E>) -> io::Result<bool> {
        let fill = match self.session.fill(desk.pool, 1) {
            // The end of the socket without a TLS close: the habit of many a client. The requests
            // that arrived whole are genuine, and their replies are still to be flushed.
            Err(error) if self.is_cut(&error) => Fill::Closed,
            fill => fill?,
        };
        match fill {
            Fill::Some { drained } => {
                self.readable = !drained || self.hung_up;
                self.has_input = true;
                self.read_at = desk.now.ticks;
                self.peer.touch(desk.now.ticks);
                Ok(true)
            }
            Fill::Blocked => {
                self.readable = false;
                Ok(false)
            }
            Fill::Closed => {
                self.readable = false;
                self.hung_up = true;
                Ok(false)
            }
        }
    }

    /// Whether an error of reading is the end of an established TLS session's socket.
    fn is_cut(&self, error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::UnexpectedEof && !self.session.is_handshaking()
    }

    fn flush<E>(&mut self, desk: &mut Desk<'_, E>) -> io::Result<Flush> {
        let before = self.session.send().pending();
        let flushed = self.session.flush(desk.pool)?;
        self.unread_at = match flushed {
            Flush::Done => {
                self.soft_at = None;
                None
            }
            Flush::Blocked if self.session.send().pending() < before => Some(desk.now.ticks),
            Flush::Blocked => self.unread_at.or(Some(desk.now.ticks)),
        };
        if flushed == Flush::Blocked {
            self.note_soft_limit(desk.output, desk.now.ticks);
        }
        Ok(flushed)
    }

    fn finish<E>(&mut self, desk: &mut Desk<'_, E>) -> io::Result<Next> {
        if self.session.is_handshaking() {
            // Nothing can be sent before it is over, and nothing is read any more.
            return Ok(Next::Remove);
        }
        if self.flush(desk)? == Flush::Blocked {
            return Ok(Next::Event);
        }
        let is_drained = !self.readable && !self.has_left;
        if is_drained && (self.hung_up || self.session.recv().is_empty()) {
            return Ok(Next::Remove);
        }
        self.session.shutdown();
        self.phase = Phase::Lingering { since: desk.now.ticks };
        self.linger(desk)
    }

    fn linger<E>(&mut self, desk: &mut Desk<'_, E>) -> io::Result<Next> {
        for _ in 0..LINGER_READS {
            let (recv, _) = self.session.buffers();
            recv.consume(recv.filled().len());
            match self.session.fill(desk.pool, 1) {
                Ok(Fill::Some { .. }) => {}
                Ok(Fill::Blocked) => return Ok(Next::Event),
                // A peer that does not end in order has nothing more to lose here.
                Ok(Fill::Closed) | Err(_) => return Ok(Next::Remove),
            }
        }
        Ok(Next::Again)
    }

    /// Tells whoever lists connections what the buffers of this one hold.
    #[inline]
    pub(crate) fn tell_held(&self) {
        self.peer.hold(self.session.recv().capacity(), self.session.send().pending());
    }

    /// The end: tells the service, drops what was not served and not sent, and gives the blocks back,
    /// for the pool counts them.
    pub(crate) fn discard<E: Execute<P>>(&mut self, desk: &mut Desk<'_, E>) {
        let mut context = Context::new(desk.now, self.peer.id, desk.outbox, desk.directory);
        desk.service.closed(self.pipeline.protocol_mut(), &mut context);
        self.session.discard(desk.pool);
    }
}
