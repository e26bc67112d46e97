// SPDX-License-Identifier: Apache-2.0
//! The floor: a server that shows what the kernel alone costs for a request.
//!
//! It answers each line with the same memcache value, so it is for gets. It neither parses nor stores
//! anything, and has one thread, which only receives, sends and waits. To compare with it:
//!
//! ```text
//! cacheperf compare --floor floor --server 'floor=memcache,127.0.0.1:22110,floor 22110 64' --server …
//! ```

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

/// The listener's; connections use their place.
const LISTENER: Token = Token(usize::MAX);

/// Replies that are ready to be sent with one system call.
const REPLIES: usize = 1024;

/// Received at once, at most.
const RECEIVED: usize = 64 << 10;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<u16>());
    let (Some(Ok(port)), Some(Ok(value)), None) = (words.next(), words.next(), words.next()) else {
        eprintln!("floor PORT BYTES: answers each line with a memcache value of so many bytes");
        return ExitCode::from(2);
    };
    match Floor::new(port, usize::from(value)).and_then(Floor::run) {
        Ok(never) => match never {},
        Err(error) => {
            eprintln!("floor: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Floor {
    poll: Poll,
    listener: TcpListener,
    connections: Vec<Option<TcpStream>>,
    input: Vec<u8>,
    replies: Vec<u8>,
}

impl Floor {
    fn new(port: u16, value: usize) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port)))?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let body = "x".repeat(value);
        let reply = format!("VALUE key:0000000000000000 0 {value}\r\n{body}\r\nEND\r\n");
        let (input, replies) = (vec![0; RECEIVED], reply.repeat(REPLIES).into_bytes());
        Ok(Floor { poll, listener, connections: Vec::new(), input, replies })
    }

    fn run(mut self) -> io::Result<std::convert::Infallible> {
        let mut events = Events::with_capacity(1024);
        loop {
            match self.poll.poll(&mut events, None) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                other => other?,
            }
            for event in &events {
                if event.token() == LISTENER {
                    self.accept()?;
                } else if self.serve(event.token().0).is_err() {
                    self.connections[event.token().0] = None;
                }
            }
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let mut stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            stream.set_nodelay(true)?;
            let free = self.connections.iter().position(Option::is_none);
            let place = free.unwrap_or(self.connections.len());
            self.poll.registry().register(&mut stream, Token(place), Interest::READABLE)?;
            self.connections.resize_with(self.connections.len().max(place + 1), || None);
            self.connections[place] = Some(stream);
        }
    }

    /// Answers what has come. An error is the connection's end.
    fn serve(&mut self, place: usize) -> io::Result<()> {
        let Some(stream) = &mut self.connections[place] else { return Ok(()) };
        loop {
            let received = match stream.read(&mut self.input) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                other => other?,
            };
            let lines = memchr::memchr_iter(b'\n', &self.input[..received]).count();
            let reply = self.replies.len() / REPLIES;
            let (mut sent, all) = (0, lines * reply);
            while sent < all {
                let from = sent % reply;
                let most = (all - sent).min(self.replies.len() - from);
                match stream.write(&self.replies[from..][..most]) {
                    // A load generator reads, sooner or later.
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    other => sent += other?,
                }
            }
            if received < self.input.len() {
                return Ok(());
            }
        }
    }
}
