// SPDX-License-Identifier: Apache-2.0
//! [`Ports`]: a worker's sockets for datagrams, and its memory for what they receive and send.

use super::many::{Arrivals, Departures, MANY, Sent};
use super::metrics::*;
use super::{AnswerLimits, DatagramSocket, exchange};
use crate::connection::Desk;
use crate::pause::Pause;
use crate::turn::Until;
use buffer::{RecvBuf, SendBuf};
use clock::Ticks;
use log::warn;
use protocol::{ConnectionId, Context, Execute, Protocol};
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::Duration;

/// Datagrams that are served before the clock is read, and before connections have their turn if it tells
/// that the time is up.
const SPELL: usize = 8;

/// System calls that receive before connections have their turn.
const ROUNDS: usize = 8;

/// For how long a socket is left alone that could not be received from.
const RETRY: Duration = Duration::from_millis(100);

/// The serial number of the connection that requests in datagrams are said to come from. No connection has
/// it: what is sent to it is dropped.
const SERIAL: u64 = 0;

/// A worker's sockets for datagrams.
#[derive(Debug)]
pub(crate) struct Ports {
    ports: Vec<Port>,
    tag: u16,
    limits: AnswerLimits,
    arrivals: Arrivals,
    /// The port at which those arrived.
    at: usize,
    departures: Departures,
    recv: RecvBuf,
    send: SendBuf,
}

#[derive(Debug)]
struct Port {
    socket: DatagramSocket,
    /// Datagrams may wait: since its last event less was received than could have been.
    is_ready: bool,
    /// When to try again, since it failed. An event comes with new datagrams only, so what has come before would wait
    /// for those.
    retry_at: Option<Ticks>,
    /// Since the last line of the log about that.
    pause: Pause,
}

impl Port {
    /// Whether to receive from it.
    fn is_due(&self, now: Ticks) -> bool {
        self.is_ready && self.retry_at.is_none_or(|at| now >= at)
    }
}

impl Ports {
    /// Ports for requests with this tag. Takes some 50 KiB of memory, and what the largest received datagrams
    /// have touched of 2 MiB more.
    pub(crate) fn new(sockets: Vec<DatagramSocket>, tag: u16, limits: AnswerLimits) -> Self {
        let port = |socket| Port { socket, is_ready: false, retry_at: None, pause: Pause::new() };
        let ports = sockets.into_iter().map(port).collect();
        Ports {
            ports,
            tag,
            limits,
            arrivals: Arrivals::new(),
            at: 0,
            departures: Departures::new(),
            recv: RecvBuf::new(),
            send: SendBuf::new(),
        }
    }

    /// The sockets, in the order of their numbers.
    pub(crate) fn sockets(&mut self) -> impl Iterator<Item = &mut DatagramSocket> {
        self.ports.iter_mut().map(|port| &mut port.socket)
    }

    /// Records that datagrams wait at the socket with this number.
    pub(crate) fn on_readable(&mut self, number: usize) {
        if let Some(port) = self.ports.get_mut(number) {
            port.is_ready = true;
        }
    }

    /// Whether datagrams wait at any socket, at least for it to be tried again.
    pub(crate) fn are_waiting(&self) -> bool {
        !self.arrivals.is_empty() || self.ports.iter().any(|port| port.is_ready)
    }

    /// Whether there is something to serve now without a further event.
    pub(crate) fn has_more(&self, now: Ticks) -> bool {
        !self.arrivals.is_empty() || self.ports.iter().any(|port| port.is_due(now))
    }

    /// Serves the datagrams that wait, as many as the time of the turn allows and a few in any case; returns
    /// whether there were any.
    pub(crate) fn serve<P: Protocol, E: Execute<P>>(
        &mut self,
        worker: usize,
        make_protocol: &impl Fn(u16) -> P,
        desk: &mut Desk<'_, E>,
    ) -> bool {
        let mut served = 0;
        for _ in 0..ROUNDS {
            if self.arrivals.is_empty() && !self.receive(desk.now.ticks) {
                break;
            }
            while !self.arrivals.is_empty() {
                self.serve_one(worker, make_protocol, desk);
                served += 1;
                if served % SPELL == 0 && is_late(desk.until) {
                    self.depart();
                    return true;
                }
            }
            self.depart();
        }
        self.recv.release(desk.pool);
        self.send.release(desk.pool);
        served > 0
    }

    /// Receives at the next port where datagrams wait; returns whether there were any.
    fn receive(&mut self, now: Ticks) -> bool {
        for step in 1..=self.ports.len() {
            let at = (self.at + step) % self.ports.len();
            let port = &mut self.ports[at];
            if !port.is_due(now) {
                continue;
            }
            match self.arrivals.receive(port.socket.as_fd()) {
                Ok(received) => {
                    port.is_ready = received == MANY;
                    port.retry_at = None;
                    self.at = at;
                    DATAGRAMS_RECEIVED.add(received as u64);
                    return received > 0;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    (port.is_ready, port.retry_at) = (false, None);
                }
                // The next turn tries again.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    port.retry_at = Some(now + RETRY);
                    if let Some(others) = port.pause.begin(now.as_millis()) {
                        let address = port.socket.address();
                        warn!("udp:{address}: cannot receive, and tries again: {error}{others}");
                    }
                }
            }
        }
        false
    }

    fn serve_one<P: Protocol, E: Execute<P>>(
        &mut self,
        worker: usize,
        make_protocol: &impl Fn(u16) -> P,
        desk: &mut Desk<'_, E>,
    ) {
        let Some((datagram, source)) = self.arrivals.pop() else { return };
        DATAGRAM_RECV_BYTE.add(datagram.len() as u64);
        let here = self.ports[self.at].socket.address();
        let Some(from) = source.address().filter(|from| may_be_client(*from, here)) else {
            DATAGRAMS_REFUSED.increment();
            return;
        };
        if !may_send(&self.limits, from, desk.now.ticks, 1) {
            DATAGRAMS_LIMITED.increment();
            return;
        }
        let id = ConnectionId::new(worker, SERIAL);
        let mut context = Context::new(desk.now, id, desk.outbox, desk.directory);
        let answer = exchange(
            datagram,
            make_protocol(self.tag),
            desk.service,
            (&mut self.recv, &mut self.send),
            desk.pool,
            desk.limits,
            self.limits.datagrams,
            &mut context,
        );
        let Ok(mut cut) = answer else {
            DATAGRAMS_REFUSED.increment();
            return;
        };
        if cut.is_unfinished() {
            DATAGRAMS_UNFINISHED.increment();
        }
        if cut.is_too_large() {
            DATAGRAMS_TOO_LARGE.increment();
        }
        // The first was taken before.
        if cut.total() > 1 && !may_send(&self.limits, from, desk.now.ticks, cut.total() - 1) {
            DATAGRAMS_LIMITED.increment();
            self.send.consume(self.send.waiting());
            return;
        }
        loop {
            if self.departures.is_full() {
                depart(&mut self.departures, &self.ports[self.at].socket);
            }
            let send = &mut self.send;
            if !self.departures.push(source, |datagram| cut.next(send, datagram)) {
                return;
            }
        }
    }

    /// Sends the answers.
    fn depart(&mut self) {
        depart(&mut self.departures, &self.ports[self.at].socket);
    }
}

fn depart(departures: &mut Departures, socket: &DatagramSocket) {
    let Sent { datagrams, bytes, lost } = departures.send(socket.as_fd());
    DATAGRAMS_SENT.add(datagrams as u64);
    DATAGRAM_SEND_BYTE.add(bytes as u64);
    DATAGRAMS_LOST.add(lost as u64);
}

/// Whether a datagram from there can be a client's. Those from the very port that this server has are from
/// another server, to which somebody has sent a request in this one's name: the two would answer each other
/// for ever.
fn may_be_client(from: SocketAddr, here: SocketAddr) -> bool {
    from.port() != 0 && from.port() != here.port()
}

fn may_send(limits: &AnswerLimits, to: SocketAddr, now: Ticks, n: usize) -> bool {
    limits.quota.as_ref().is_none_or(|quota| quota.take(to.ip(), now, n))
}

fn is_late(until: Option<Until>) -> bool {
    until.is_some_and(Until::is_past)
}
