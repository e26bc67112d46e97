// SPDX-License-Identifier: Apache-2.0
//! A worker's turn with its datagrams: after the connections, so that neither keeps the other waiting for more
//! than the time of a turn.

use super::{Driver, Worker};
use crate::connection::Desk;
use crate::datagram::{AnswerLimits, DatagramSocket, Ports};
use crate::metrics::REQUEST_DURATION;
use protocol::{Execute, Protocol};
use std::io;

impl<P: Protocol, E: Execute<P>, M: Fn(u16) -> P> Worker<P, E, M> {
    /// Serves the requests that come to `sockets` in datagrams, with a protocol value of this tag for each.
    /// Call it once, before the worker runs.
    ///
    /// # Errors
    ///
    /// When the operating system refuses to watch a socket.
    pub fn receive_datagrams(
        &mut self,
        sockets: Vec<DatagramSocket>,
        tag: u16,
        limits: AnswerLimits,
    ) -> io::Result<()> {
        debug_assert!(self.ports.is_none(), "called once");
        let mut ports = Ports::new(sockets, tag, limits);
        match &mut self.driver {
            Driver::Readiness(readiness) => {
                for (number, socket) in ports.sockets().enumerate() {
                    readiness.watch_datagrams(number, socket)?;
                }
            }
            // It asks for events before it waits.
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Driver::Completions(_) => {}
        }
        self.ports = Some(Box::new(ports));
        Ok(())
    }

    /// Serves the datagrams that wait.
    #[inline]
    pub(super) fn serve_datagrams(&mut self) {
        if self.ports.is_some() {
            self.serve_ports();
        }
    }

    fn serve_ports(&mut self) {
        let Some(ports) = &mut self.ports else { return };
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        if let Driver::Completions(uring) = &mut self.driver {
            uring.hear_of_datagrams(ports);
        }
        if self.deadline.is_some() || !ports.has_more(self.now.ticks) {
            return;
        }
        let mut desk = Desk {
            service: &mut self.service,
            pool: &mut self.pool,
            outbox: &mut self.outbox,
            outgoing: &mut self.outgoing,
            inbox: &self.inbox,
            directory: &self.directory,
            limits: &self.options.limits,
            output: &self.options.output,
            now: self.now,
            until: self.until,
        };
        if ports.serve(self.index, &self.make_protocol, &mut desk) {
            let elapsed = self.woken.nanos();
            REQUEST_DURATION.record(elapsed);
            self.taken = Some(elapsed);
        }
        self.deliver();
    }

    /// Whether datagrams wait that no event will tell of.
    #[inline]
    pub(super) fn has_datagrams(&self) -> bool {
        let now = self.now.ticks;
        self.deadline.is_none() && self.ports.as_ref().is_some_and(|ports| ports.has_more(now))
    }
}
