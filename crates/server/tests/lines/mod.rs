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
//! | `boom` | none: the worker panics |
//! | `quit` | `bye`, then the connection closes |
//! | `?…` | malformed: `what?`, and the connection goes on |
//! | `!…` | malformed: `lost`, then the connection closes |
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(unreachable_pub, reason = "a module of several test binaries")]

use buffer::SendBuf;
use bytes::Bytes;
use protocol::{Context, Control, ErrorReply, Execute, Malformed, Parsed, Protocol};
use server::{Builder, Process};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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
}

impl Speaker {
    /// Starts a server of this protocol that counts its requests here.
    pub fn spawn(&self, builder: Builder) -> Process {
        builder.spawn(|| Lines, |_worker| self.clone()).unwrap()
    }

    /// Requests executed so far.
    pub fn executed(&self) -> usize {
        self.executed.load(Ordering::Acquire)
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
            "boom" => panic!("boom, as was asked"),
            "quit" => {
                line(out, "bye");
                return Control::Close;
            }
            _ => line(out, "unknown"),
        }
        Control::Continue
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
