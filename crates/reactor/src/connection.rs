// SPDX-License-Identifier: Apache-2.0
//! One connection in a worker: read, `turn`, write, and which event it waits for.

#[cfg(all(feature = "io-uring", target_os = "linux"))]
mod carried;
mod ending;
mod overdue;
mod receive;
mod unread;

use crate::mailbox::Inbox;
use crate::metrics::{CONNECTION_YIELD, CONNECTIONS_REQUEST_LIMIT};
use crate::turn::{Share, Until, turn_within};
use crate::worker::Outgoing;
use crate::{Limits, Output, Pipeline, Seat, Turn, first_request};
use buffer::Pool;
use bytes::Bytes;
use clock::{Now, Ticks, Timer};
pub(crate) use overdue::{Overdue, Rest};
use protocol::{Context, Directory, Ending, Errand, Execute, Outbox, Peer, Protocol, SHARED_MIN};
use session::{Flush, Session};
use std::io;
use std::sync::Arc;

/// Reads and writes of one connection before others have their turn: RULE-FAIR for large requests, of which a
/// few are many bytes.
const ROUNDS: usize = 16;

/// Bytes of a body that is taken in parts before others have their turn: RULE-FAIR. With more the kernel's copies would cost
/// less still, but others would wait for longer than they save.
const BODY_MAX: usize = (256 << 10) + (32 << 10);

/// Bytes sent, of values by reference, before others have their turn: RULE-FAIR. A value that leaves in pieces, with
/// those of other connections between them, costs the kernel up to twice the time; so one of a megabyte leaves whole.
/// See [`SendBuf::portion`](buffer::SendBuf::portion).
pub(crate) const SEND_MAX: usize = 512 << 10;

/// What a worker lends to the connection it serves.
pub(crate) struct Desk<'a, E> {
    pub(crate) service: &'a mut E,
    pub(crate) pool: &'a mut Pool,
    pub(crate) outbox: &'a mut Outbox,
    pub(crate) outgoing: &'a mut Outgoing,
    pub(crate) inbox: &'a Inbox,
    pub(crate) directory: &'a Directory,
    pub(crate) limits: &'a Limits,
    pub(crate) output: &'a Output,
    pub(crate) now: Now,
    /// When the time of the turn is up; `None` for never. INV-SHORT.
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

/// The outcome of an errand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// The connection is to be served.
    Serve,
    /// Nothing: the errand came too late.
    Dropped,
    /// The unsent bytes are over the connection's limit: it is to be removed.
    TooMuch,
    /// It is to be removed.
    Cut,
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Bytes that have arrived are served; when nothing is left to read the connection closes.
    Draining,
    /// Nothing more is read or executed; the connection closes once its replies are flushed.
    Closing,
    /// Our side is closed, and bytes that the peer still sends are dropped until it closes its side. Closing
    /// the socket with unread bytes in it would reset the connection, and the last reply could be lost.
    Lingering {
        since: Ticks,
    },
}

pub(crate) struct Connection<P: Protocol> {
    pub(crate) session: Session,
    pub(crate) peer: Arc<Peer>,
    /// Its session is a TLS one.
    pub(crate) is_tls: bool,
    pipeline: Pipeline<P>,
    phase: Phase,
    /// Why it ends, once it does.
    ending: Ending,
    /// The socket may hold bytes: since its last event there was no short read.
    readable: bool,
    /// The peer has closed its side; reading goes on to the end of its stream.
    hung_up: bool,
    /// The peer has closed its side, but the driver does not receive the bytes before that for now.
    has_left: bool,
    /// The connection is held until its peer reads, with requests left to serve.
    is_stalled: bool,
    /// It was counted as held since its driver last told of a send.
    is_stall_counted: bool,
    /// Its link in a driver that carries its bytes.
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    pub(crate) link: usize,
    /// It waits in the worker's queue of connections to serve again.
    pub(crate) queued: bool,
    /// Bytes have arrived since [`Connection::take_input`] was last called.
    has_input: bool,
    /// A mark in the worker's mailbox, behind the letters that must reach it before the replies to what it has read.
    mail_end: u64,
    /// When its worker learned of bytes to read, if it has not been served since.
    pub(crate) noted: Option<Timer>,
    /// An error of reading ahead; the connection ends with it when it is served.
    failed: Option<io::Error>,
    /// When bytes last arrived, or the peer had taken what had waited for it.
    active_at: Ticks,
    /// Since when replies have been waiting without the peer taking any.
    unread_at: Option<Ticks>,
    /// Since when replies have been waiting without a break.
    first_unread: Option<Ticks>,
    /// Bytes that the peer has taken while replies were waiting.
    taken_late: usize,
    /// Since when the unsent bytes have been over the soft limit.
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
            ending: Ending::Normal,
            readable: false,
            hung_up: false,
            has_left: false,
            is_stalled: false,
            is_stall_counted: false,
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            link: 0,
            queued: false,
            has_input: false,
            mail_end: 0,
            noted: None,
            failed: None,
            active_at: now,
            unread_at: None,
            first_unread: None,
            taken_late: 0,
            soft_at: None,
            _seat: seat,
        }
    }

    /// Records an event: bytes, an error or the end of the stream can be read.
    pub(crate) fn on_readable(&mut self, hung_up: bool, noted: Timer) {
        self.readable = true;
        self.hung_up |= hung_up;
        self.note(noted);
    }

    /// Notes since when the bytes that have come wait, unless earlier ones do.
    #[inline]
    fn note(&mut self, noted: Timer) {
        self.noted = self.noted.or(Some(noted));
    }

    /// For how many nanoseconds the connection has waited by the begin of this turn. Asked for when it is served, after
    /// which it waits anew.
    #[inline]
    pub(crate) fn take_wait(&mut self, woken: Timer) -> u64 {
        self.noted.take().map_or(0, |noted| noted.nanos_until(woken))
    }

    /// Whether bytes have arrived since the last call.
    pub(crate) fn take_input(&mut self) -> bool {
        std::mem::take(&mut self.has_input)
    }

    /// Carries out an errand for this connection, from another connection or from itself.
    pub(crate) fn carry_out<E>(&mut self, errand: Errand, desk: &mut Desk<'_, E>) -> Done {
        if errand == Errand::Cut {
            return Done::Cut;
        }
        if !matches!(self.phase, Phase::Open | Phase::Draining) {
            // Bytes written before the close are sent, and nothing more.
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
                // Its time limits begin again: the client was not the one to blame for the pause.
                self.active_at = desk.now.ticks;
                if self.pipeline.protocol().takes_late_reply() {
                    self.append(reply, desk.pool);
                }
                Done::Serve
            }
            Errand::Close => {
                self.close(Ending::Normal);
                Done::Serve
            }
            Errand::Cut => Done::Cut,
        }
    }

    fn append(&mut self, message: Bytes, pool: &mut Pool) {
        let (_, send) = self.session.buffers();
        if message.len() < SHARED_MIN {
            send.put_message(&message, pool);
        } else {
            send.put_shared_message(message, pool);
        }
        // Whoever sends it piece by piece looks there whether the last one has been taken.
        self.tell_held();
    }

    /// Reads before the connection is served, if serving it would begin with a read.
    pub(crate) fn read_ahead<E>(&mut self, desk: &mut Desk<'_, E>) {
        // Not during a handshake, whose steps are long: the time of the turn may be up before the
        // next one.
        let is_idle = self.session.recv().is_empty()
            && self.session.send().is_empty()
            && !self.session.is_handshaking();
        if self.phase == Phase::Open
            && self.readable
            && is_idle
            // It is read straight to its place.
            && self.pipeline.body_left() == 0
            && let Err(error) = self.fill(1, desk)
        {
            self.failed = Some(error);
        }
    }

    /// The codec, with the state that requests have set up.
    pub(crate) fn protocol(&self) -> &P {
        self.pipeline.protocol()
    }

    /// The first waiting request, see [`first_request`].
    pub(crate) fn first_request(&self, limits: &Limits) -> Option<P::Request<'_>> {
        first_request(&self.pipeline, self.session.recv(), limits)
    }

    /// Serves requests until the connection must wait, and returns for what.
    ///
    /// In the common case this costs one read and one write: a short read tells that the socket is
    /// drained, and all replies are sent together.
    pub(crate) fn serve<E: Execute<P>>(&mut self, desk: &mut Desk<'_, E>) -> io::Result<Next> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.is_stalled = false;
        let requests = desk.limits.requests_per_turn;
        let mut share =
            Share { requests, body: BODY_MAX, until: desk.until, unsent: 0, gathered: 0 };
        for round in 0..ROUNDS {
            match self.phase {
                Phase::Open | Phase::Draining => {}
                Phase::Closing => return self.finish(desk),
                Phase::Lingering { .. } => return self.linger(desk),
            }
            let turn = if self.is_idle() {
                Turn::NeedInput { at_least: 1 } // as it would say
            } else if self.awaits_mail(desk) {
                Turn::Yield
            } else {
                let turn = self.turn(&mut share, desk);
                if self.is_over_hard_limit(desk.output) || self.is_deaf_stranger(desk) {
                    self.overflow();
                    return Ok(Next::Remove);
                }
                turn
            };
            match turn {
                Turn::NeedInput { at_least } => {
                    if self.readable && self.receive(at_least, &mut share, desk)? {
                        if share.body == 0 {
                            break; // RULE-FAIR
                        }
                        // Most requests need only the first read.
                        if round > 0 && share.is_late() {
                            break;
                        }
                        continue;
                    }
                    if self.phase == Phase::Open && !self.hung_up {
                        return self.flush_and_wait(desk);
                    }
                    self.close_drained();
                }
                Turn::Backpressure => {
                    match self.flush(desk)? {
                        Flush::Blocked => return Ok(self.pile_up(desk)),
                        Flush::Partial => return Ok(self.yielded()),
                        Flush::Done => {}
                    }
                    if share.is_late() {
                        break;
                    }
                }
                Turn::Blocked => {
                    if self.may_read_on(desk) && self.fill(1, desk)? {
                        if share.is_late() {
                            break;
                        }
                        continue;
                    }
                    // A reply that has begun is finished, also while the worker drains: whoever sends it goes on
                    // until it ends. What a blocked request waits for may never come.
                    let is_awaited = self.phase == Phase::Open && !self.has_peer_gone();
                    if is_awaited || self.pipeline.is_streaming() {
                        return self.flush_and_wait(desk);
                    }
                    self.close_drained();
                }
                Turn::Yield => break,
                Turn::Close => self.close(Ending::Normal),
                Turn::Refuse => self.close(Ending::Error),
                Turn::TooLarge => {
                    CONNECTIONS_REQUEST_LIMIT.increment();
                    self.close(Ending::Error);
                }
            }
        }
        let _ = self.flush(desk)?;
        Ok(self.yielded())
    }

    /// Others are served before it goes on.
    fn yielded(&self) -> Next {
        CONNECTION_YIELD.increment();
        Next::Again
    }

    /// Sends what waits; the connection then waits for its next event, unless there is more to be sent.
    #[inline]
    fn flush_and_wait<E: Execute<P>>(&mut self, desk: &mut Desk<'_, E>) -> io::Result<Next> {
        Ok(match self.flush(desk)? {
            Flush::Done | Flush::Blocked => Next::Event,
            Flush::Partial => self.yielded(),
        })
    }

    /// Whether no input is left to serve, no bytes wait to be sent, and no request is blocked.
    #[inline]
    fn is_idle(&self) -> bool {
        self.session.recv().is_empty()
            && self.session.send().is_empty()
            && !self.pipeline.is_blocked()
    }

    /// Whether letters have come that may be for this connection, and that must reach it before the replies to
    /// requests that were read when they were there: INV-BEFORE. It is served again in the next turn of the worker's
    /// loop, which begins with the mail. What comes later keeps it from nothing.
    #[inline]
    fn awaits_mail<E>(&mut self, desk: &Desk<'_, E>) -> bool {
        if !self.pipeline.protocol().takes_messages() {
            return false;
        }
        if self.has_input {
            self.mail_end = desk.inbox.end();
        }
        !desk.inbox.has_read(self.mail_end)
    }

    fn turn<E: Execute<P>>(&mut self, share: &mut Share, desk: &mut Desk<'_, E>) -> Turn {
        (share.unsent, share.gathered) = self.marks(desk);
        let (recv, send) = self.session.buffers();
        // For messages that are to be sent nothing is written, so no block need wait with them.
        if send.is_empty() || !recv.is_empty() {
            send.lend(desk.pool);
        }
        let mut context = Context::new(desk.now, self.peer.id, desk.outbox, desk.directory);
        turn_within(share, &mut self.pipeline, desk.service, recv, send, desk.limits, &mut context)
    }

    /// Whether a blocked connection is still read: it is, up to the size of the largest request.
    ///
    /// It must be, because an event reports that the peer has closed its side only once the end of its stream
    /// has arrived. The end does not arrive while the socket is full of earlier bytes, and that of a TLS
    /// stream causes no event at all.
    ///
    /// It is not if the bytes are a body that is taken in parts: its request waits for memory for them.
    fn may_read_on<E>(&self, desk: &Desk<'_, E>) -> bool {
        self.readable
            && !self.has_peer_gone()
            && !self.pipeline.awaits_body()
            && self.session.recv().filled().len() < desk.limits.request_bytes
    }

    /// Whether the peer of a blocked connection has closed its side, so that nobody waits for the
    /// reply.
    fn has_peer_gone(&self) -> bool {
        self.hung_up || self.has_left
    }

    fn flush<E: Execute<P>>(&mut self, desk: &mut Desk<'_, E>) -> io::Result<Flush> {
        desk.service.post(desk.outbox);
        if !desk.outbox.is_empty() {
            desk.outgoing.post(desk.outbox); // INV-BEFORE
        }
        let before = (self.session.send().pending(), self.session.records_written());
        let most = self.session.send().portion(SEND_MAX);
        let flushed = self.session.flush_some(desk.pool, most)?;
        self.note_progress(before.0);
        match flushed {
            Flush::Partial => self.active_at = desk.now.ticks,
            Flush::Done => self.note_taken(desk.now.ticks),
            Flush::Blocked => {}
        }
        self.unread_at = match flushed {
            Flush::Done => {
                (self.soft_at, self.first_unread) = (None, None);
                None
            }
            Flush::Partial => None,
            Flush::Blocked
                if self.session.send().pending() < before.0
                    || self.session.records_written() != before.1 =>
            {
                Some(desk.now.ticks)
            }
            Flush::Blocked => self.unread_at.or(Some(desk.now.ticks)),
        };
        if flushed == Flush::Blocked {
            self.first_unread = self.first_unread.or(self.unread_at);
            self.note_soft_limit(desk.output, desk.now.ticks);
        }
        Ok(flushed)
    }

    /// Updates the directory's entry with the bytes that the buffers hold, and since when the peer reads none.
    #[inline]
    pub(crate) fn tell_held(&self) {
        let (recv, send) = (self.session.recv(), self.session.send());
        let unsent = send.pending();
        let memory = if unsent == 0 { 0 } else { send.capacity() };
        self.peer.hold(recv.capacity(), unsent, memory);
        self.peer.leave_unread(self.unread_at);
    }

    /// Tells the service that it has come.
    pub(crate) fn tell_opened<E: Execute<P>>(&mut self, desk: &mut Desk<'_, E>) {
        let mut context = Context::new(desk.now, self.peer.id, desk.outbox, desk.directory);
        desk.service.opened(self.pipeline.protocol_mut(), &mut context);
    }
}
