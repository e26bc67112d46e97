// SPDX-License-Identifier: Apache-2.0
//! The loop of the admin thread: one event after the other, tasks first.

use std::future::{Future, poll_fn};
use std::io;
use std::net::TcpListener;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::runtime::{Builder, LocalOptions, LocalRuntime};
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Sleep, sleep_until};

use crate::accept::{Accepted, Acceptor};
use crate::connection;
use crate::pace::Timeouts;
use crate::page_data::PageData;
use crate::schedule::Schedule;
use crate::stats;

/// How many task polls tokio may do before it looks at timers and sockets again. A poll writes at
/// most one page, so this bounds how late a periodic task can be: a few milliseconds.
const EVENT_INTERVAL: u32 = 8;

/// The runtime of the admin thread. It belongs to the thread that calls this.
pub(crate) fn runtime() -> io::Result<LocalRuntime> {
    Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .event_interval(EVENT_INTERVAL)
        .build_local(LocalOptions::default())
}

/// What the loop wakes up for, most urgent first.
enum Event {
    /// The handle asks for the end, or is gone.
    Stop,
    /// At least one periodic task is due.
    TasksDue,
    /// A connection is over; an error is a panic in one of its pages.
    Closed(Result<(), JoinError>),
    /// A new connection.
    Accepted(Accepted),
}

/// Everything the admin thread owns.
#[derive(Debug)]
pub(crate) struct Loop {
    acceptor: Option<Acceptor>,
    connections: JoinSet<()>,
    connections_max: usize,
    timeouts: Timeouts,
    data: Rc<PageData>,
    schedule: Schedule,
    alarm: Pin<Box<Sleep>>,
}

impl Loop {
    /// Must be called within the [`runtime`].
    pub(crate) fn new(
        listener: Option<TcpListener>,
        connections_max: usize,
        timeouts: Timeouts,
        data: Rc<PageData>,
        schedule: Schedule,
    ) -> io::Result<Self> {
        Ok(Self {
            acceptor: listener.map(Acceptor::new).transpose()?,
            connections: JoinSet::new(),
            connections_max,
            timeouts,
            data,
            schedule,
            alarm: Box::pin(sleep_until(Instant::now().into())),
        })
    }

    /// Runs until `stop` resolves, then closes every connection and runs every task a last time.
    ///
    /// # Panics
    ///
    /// A panic in a page or a task is resumed here and ends the thread: a control plane that
    /// has lost a part must not go on looking healthy.
    pub(crate) async fn run(mut self, mut stop: oneshot::Receiver<()>) {
        loop {
            match poll_fn(|cx| self.poll_event(&mut stop, cx)).await {
                Event::Stop => break,
                Event::TasksDue => self.schedule.run_due(Instant::now()),
                Event::Closed(result) => {
                    pass_on_panic(result);
                    self.acceptor.iter_mut().for_each(Acceptor::has_room);
                }
                Event::Accepted(accepted) => self.admit(accepted),
            }
        }
        self.acceptor = None;
        self.connections.shutdown().await;
        self.schedule.run_all();
    }

    fn poll_event(
        &mut self,
        stop: &mut oneshot::Receiver<()>,
        cx: &mut Context<'_>,
    ) -> Poll<Event> {
        if Pin::new(stop).poll(cx).is_ready() {
            return Poll::Ready(Event::Stop);
        }
        if self.poll_tasks_due(cx).is_ready() {
            return Poll::Ready(Event::TasksDue);
        }
        if let Poll::Ready(Some(result)) = self.connections.poll_join_next(cx) {
            return Poll::Ready(Event::Closed(result));
        }
        match &mut self.acceptor {
            Some(acceptor) => acceptor.poll_accept(cx).map(Event::Accepted),
            None => Poll::Pending,
        }
    }

    fn poll_tasks_due(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(due) = self.schedule.next_due() else {
            return Poll::Pending;
        };
        if self.alarm.deadline() != due.into() {
            self.alarm.as_mut().reset(due.into());
        }
        self.alarm.as_mut().poll(cx)
    }

    /// Serves a new connection, or closes it at once when there are too many.
    fn admit(&mut self, accepted: Accepted) {
        if self.connections.len() >= self.connections_max {
            stats::ADMIN_SESSION_REJECTED.increment();
            return;
        }
        let data = Rc::clone(&self.data);
        self.connections.spawn_local(connection::serve(accepted, data, self.timeouts));
    }
}

fn pass_on_panic(result: Result<(), JoinError>) {
    if let Err(Ok(panic)) = result.map_err(JoinError::try_into_panic) {
        std::panic::resume_unwind(panic);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "broken page")]
    fn a_panic_in_a_connection_does_not_stay_there() {
        runtime().unwrap().block_on(async {
            let mut connections = JoinSet::new();
            connections.spawn_local(async { panic!("broken page") });
            pass_on_panic(connections.join_next().await.unwrap());
        });
    }
}
