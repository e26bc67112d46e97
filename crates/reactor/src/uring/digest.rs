// SPDX-License-Identifier: Apache-2.0
//! Applies a completion to its link and its session, and tells what the connection must learn from
//! it.

use super::link::{Link, Receiving, Way};
use super::ring::Completion;
use super::token::{Kind, Token};
use super::{Uring, send};
use crate::connection::Connection;
use buffer::Pool;
use protocol::Protocol;
use rustix::io::Errno;
use session::Session;
use slab::Slab;
use std::io;
use std::os::fd::AsFd;

/// What a connection learns from a completion.
#[derive(Debug)]
pub(crate) enum News {
    /// Bytes were delivered to its session; this many went into its receive buffer.
    Bytes(usize),
    /// Its session can read its socket.
    Readable {
        /// The peer has closed its side behind the readable bytes.
        hung_up: bool,
    },
    /// Nothing more will be delivered: the end, or an error, was given to its session.
    End,
    /// Its peer has closed its side behind bytes that have not been received yet.
    HungUp,
    /// Bytes were sent.
    Sent {
        /// Nothing is on its way any more.
        all: bool,
    },
    /// Sending failed.
    Failed(io::Error),
    /// Receiving has stopped for now.
    Silent,
    /// Receiving has stopped for good, because the worker drains: its session reads the rest.
    Halted,
}

impl Uring {
    /// The connection of a completion that brings more bytes than its session has room for.
    #[inline]
    pub(crate) fn overfills<P: Protocol>(
        &self,
        completion: &Completion,
        connections: &Slab<Connection<P>>,
    ) -> Option<usize> {
        let bytes = completion.bytes();
        if bytes == 0 {
            return None;
        }
        let slot = self.links.get(completion.token.link as usize)?.slot?;
        (connections[slot].session.room() < bytes).then_some(slot)
    }

    /// Applies a completion; returns the connection and what it must learn.
    pub(crate) fn digest<P: Protocol>(
        &mut self,
        completion: &Completion,
        connections: &mut Slab<Connection<P>>,
        pool: &mut Pool,
    ) -> Option<(usize, News)> {
        let Token { kind, link: place, .. } = completion.token;
        let place = place as usize;
        if kind == Kind::Bell {
            self.answer(completion);
            return None;
        }
        let Some(link) = self.links.get_mut(place).filter(|link| link.knows(completion.token))
        else {
            if kind == Kind::Datagrams {
                self.datagrams.push((completion.token.number(), completion.has_more()));
                return None;
            }
            debug_assert!(false, "INV-LATE: {completion:?}");
            drop(self.queue.take(completion));
            return None;
        };
        if !completion.has_more() {
            link.close(kind);
        }
        let mut session = link.slot.map(|slot| &mut connections[slot].session);
        let news = match kind {
            Kind::Receive => {
                let bytes = self.queue.take(completion);
                link.arrive(completion.bytes());
                let halts = link.drains && link.receiving == Receiving::Off;
                let news = session.map(|session| match link.way {
                    Way::Ring => receive(completion, bytes.as_deref(), session, pool),
                    Way::Session => hear(completion, session),
                });
                if halts { news.map(|_| News::Halted) } else { news }
            }
            Kind::Send => {
                let news = land(link, completion, session.as_deref_mut(), pool);
                if let (News::Sent { all: false }, Some(session)) = (&news, session) {
                    self.send_bytes += send(&mut self.queue, link, session);
                }
                Some(news)
            }
            Kind::Watch => Some(News::HungUp),
            Kind::Bell | Kind::Cancel | Kind::Datagrams => None,
        };
        match link.slot {
            Some(slot) => news.map(|news| (slot, news)),
            None => {
                self.bury(place);
                None
            }
        }
    }

    fn answer(&mut self, completion: &Completion) {
        self.bell.quieten();
        if !completion.has_more() {
            self.queue.listen(self.bell.as_fd());
        }
    }
}

/// Applies a completion of receiving to the session of a connection that is still there.
fn receive(
    completion: &Completion,
    bytes: Option<&[u8]>,
    session: &mut Session,
    pool: &mut Pool,
) -> News {
    match (completion.outcome(), bytes) {
        (Ok(n), Some(bytes)) if n > 0 => News::Bytes(session.deliver(bytes, pool)),
        (Ok(_), _) => {
            session.deliver_end(Ok(()));
            News::End
        }
        (Err(_), _) if is_passing(completion) => News::Silent,
        (Err(error), _) => {
            session.deliver_end(Err(error));
            News::End
        }
    }
}

/// Applies a completion of waiting for input to a session that reads its socket itself.
fn hear(completion: &Completion, session: &mut Session) -> News {
    match completion.outcome() {
        Ok(_) => News::Readable { hung_up: completion.tells_of_hanging_up() },
        Err(_) if is_passing(completion) => News::Silent,
        Err(error) => {
            session.deliver_end(Err(error));
            News::End
        }
    }
}

/// Whether receiving starts again with the next submission: after a lack of buffers, a cancellation or a
/// signal.
fn is_passing(completion: &Completion) -> bool {
    [Errno::NOBUFS, Errno::CANCELED, Errno::INTR].into_iter().any(|error| completion.is(error))
}

/// Takes a parcel back from the kernel. Gives its block back when all but a little of it was sent or its
/// connection is gone.
fn land(
    link: &mut Link,
    completion: &Completion,
    session: Option<&mut Session>,
    pool: &mut Pool,
) -> News {
    let sent = link.parcel.return_with(completion);
    let content = link.parcel.content();
    let news = match (sent, session) {
        (Ok(n), Some(session)) => {
            session.landed(n);
            News::Sent { all: content.is_empty() }
        }
        (Err(error), Some(session)) => {
            content.consume(content.waiting());
            session.lost();
            News::Failed(error)
        }
        (_, None) => {
            content.consume(content.waiting());
            News::Sent { all: true }
        }
    };
    content.release(pool);
    if !content.is_empty() {
        content.give_way(pool);
    }
    news
}
