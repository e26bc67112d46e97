// SPDX-License-Identifier: Apache-2.0
//! The protocol of these tests: a request is a line.
//!
//! | request | reply |
//! |---|---|
//! | `echo TEXT` | `TEXT` |
//! | `much N` | a line of N bytes, see [`much`] |
//! | `mute` | none |
//! | `who` | the number of connections |
//! | `worker` | the number of the worker |
//! | `tell TEXT` | `told`, and `TEXT` to every connection, the sender's too |
//! | `fill N` | none, and N bytes to every connection but the sender's |
//! | `wait` | none until somebody says `wake TEXT`, then TEXT |
//! | `nap MS` | none for so many milliseconds, then `awake` |
//! | `later` | `now`; the first of a connection is put off until somebody says `wake` |
//! | `wake TEXT` | how many were woken, on all workers |
//! | `kill N` | `killed`, and the N-th oldest connection is closed |
//! | `stall` | `stalled`, when [`Speaker::stall`] lets go of the worker |
//! | `boom` | none: the worker panics |
//! | `quit` | `bye`, then the connection closes |
//! | `?…` | malformed: `what?`, and the connection goes on |
//! | `!…` | malformed: `lost`, then the connection closes |
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(unreachable_pub, reason = "a module of several test binaries")]

use buffer::SendBuf;
use bytes::Bytes;
use clock::{Now, Ticks};
use protocol::{
    ConnectionId, Context, Control, Ending, ErrorReply, Execute, Malformed, Outbox, Parsed,
};
use protocol::{Protocol, Ticket};
use server::{Builder, Process};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The codec.
#[derive(Clone, Copy, Debug)]
pub struct Lines;

impl Protocol for Lines {
    const NAME: &'static str = "lines";
    const TOO_MANY_CONNECTIONS: &'static [u8] = b"busy, try later\n";
    type Request<'a> = &'a str;
    type Cursor = ();

    fn parse<'a>(&self, _: &mut (), input: &'a [u8]) -> Result<Parsed<&'a str>, Malformed> {
        let Some(end) = input.iter().position(|&byte| byte == b'\n') else {
            return Ok(Parsed::NeedMore { at_least: 1 });
        };
        match (input[0], std::str::from_utf8(&input[..end])) {
            (b'!', _) => Err(Malformed::close(ErrorReply::fixed(b"lost\n"))),
            (b'?', _) | (_, Err(_)) => Err(Malformed::skip(ErrorReply::fixed(b"what?\n"), end + 1)),
            (_, Ok(request)) => Ok(Parsed::Request { request, consumed: end + 1 }),
        }
    }

    fn too_large(&self) -> ErrorReply {
        ErrorReply::fixed(b"too large\n")
    }
}

/// The service.
#[derive(Clone, Debug, Default)]
pub struct Speaker {
    /// Requests executed by all workers.
    pub executed: Arc<AtomicUsize>,
    waiting: Arc<Mutex<Vec<Waiting>>>,
    gate: Arc<Mutex<()>>,
}

/// A connection that is blocked.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    id: ConnectionId,
    ticket: Ticket,
    until: Option<Ticks>,
}

impl Speaker {
    /// Starts a server of this protocol that counts its requests here.
    pub fn spawn(&self, builder: Builder) -> Process {
        builder.spawn(|_tag| Lines, |_worker| self.clone()).unwrap()
    }

    /// Requests executed so far.
    pub fn executed(&self) -> usize {
        self.executed.load(Ordering::Acquire)
    }

    /// Connections that are blocked, on all workers.
    pub fn waiting(&self) -> usize {
        self.waiting.lock().unwrap().len()
    }

    /// Keeps a worker that executes `stall` from doing anything else until the guard is dropped.
    pub fn stall(&self) -> MutexGuard<'_, ()> {
        self.gate.lock().unwrap()
    }

    fn wait(&self, context: &Context<'_>, until: Option<Ticks>) {
        let waiting = Waiting { id: context.connection, ticket: context.ticket, until };
        self.waiting.lock().unwrap().push(waiting);
    }

    /// Resumes those that `is_due` names; how many.
    fn wake(&self, reply: &str, outbox: &mut Outbox, is_due: impl Fn(&Waiting) -> bool) -> usize {
        let mut waiting = self.waiting.lock().unwrap();
        let due: Vec<Waiting> = waiting.extract_if(.., |waiting| is_due(waiting)).collect();
        for &Waiting { id, ticket, .. } in &due {
            outbox.resume(id, ticket, Bytes::from(reply.to_owned()));
        }
        due.len()
    }
}

impl Execute<Lines> for Speaker {
    fn execute(
        &mut self,
        _: &mut Lines,
        request: &str,
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        self.executed.fetch_add(1, Ordering::AcqRel);
        let (verb, rest) = request.split_once(' ').unwrap_or((request, ""));
        let line = |out: &mut SendBuf, text: &str| out.put(format!("{text}\n").as_bytes());
        match verb {
            "echo" => line(out, rest),
            "much" => out.put(&much(rest.parse().unwrap())),
            "mute" => {}
            "who" => line(out, &context.directory.list().len().to_string()),
            "worker" => line(out, &context.connection.worker().to_string()),
            "tell" => {
                let message = Bytes::from(format!("{rest}\n"));
                for peer in context.directory.list() {
                    context.outbox.push(peer.id, message.clone());
                }
                line(out, "told");
            }
            "fill" => {
                let message = Bytes::from(vec![b'f'; rest.parse().unwrap()]);
                for peer in context.directory.list() {
                    if peer.id != context.connection {
                        context.outbox.push(peer.id, message.clone());
                    }
                }
            }
            "wait" => {
                self.wait(context, None);
                return Control::Block;
            }
            "nap" => {
                let nap = Duration::from_millis(rest.parse().unwrap());
                self.wait(context, Some(context.now.ticks + nap));
                return Control::Block;
            }
            "later" if context.ticket == Ticket::default() => {
                self.wait(context, None);
                return Control::Defer;
            }
            "later" => line(out, "now"),
            "wake" => {
                let reply = if rest.is_empty() { String::new() } else { format!("{rest}\n") };
                let woken = self.wake(&reply, context.outbox, |waiting| waiting.until.is_none());
                line(out, &woken.to_string());
            }
            "kill" => {
                let n: usize = rest.parse().unwrap();
                context.outbox.close(context.directory.list()[n - 1].id);
                line(out, "killed");
            }
            "stall" => {
                drop(self.stall());
                line(out, "stalled");
            }
            "boom" => panic!("boom, as was asked"),
            "quit" => {
                line(out, "bye");
                return Control::Close;
            }
            _ => line(out, "unknown"),
        }
        Control::Continue
    }

    fn closed(&mut self, _: &mut Lines, _: Ending, context: &mut Context<'_>) {
        self.waiting.lock().unwrap().retain(|waiting| waiting.id != context.connection);
    }

    fn maintain(&mut self, now: Now, _: usize, outbox: &mut Outbox) -> bool {
        self.wake("awake\n", outbox, |waiting| waiting.until.is_some_and(|at| at <= now.ticks));
        false
    }

    fn wake_at(&self) -> Option<Ticks> {
        self.waiting.lock().unwrap().iter().filter_map(|waiting| waiting.until).min()
    }
}

/// The reply to `much N`: N bytes in which every misplaced one shows, and a line end.
pub fn much(n: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        (0..n as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 | 0x80).collect();
    bytes.push(b'\n');
    bytes
}

/// What a metric of this process says.
pub fn counted(metric: &str) -> i128 {
    metrics::value(metric).unwrap_or_else(|| panic!("there is no metric {metric}"))
}
