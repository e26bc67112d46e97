// SPDX-License-Identifier: Apache-2.0
//! [`Nothing`]: a server in a thread of this process that does nothing but answer. Its latencies are those of
//! the machine alone.

use crate::{Address, Error, Protocol, Target};
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

const LISTENER: Token = Token(usize::MAX);
const END: Token = Token(usize::MAX - 1);

/// Requests that are read at once.
const READ_BYTES: usize = 16 << 10;

/// A server that answers each line with a pong. Ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Nothing {
    target: Target,
    end: Arc<Waker>,
    thread: Option<JoinHandle<()>>,
}

impl Nothing {
    /// Listens at a free port of this machine.
    pub(crate) fn start() -> Result<Self, Error> {
        Self::listen()
            .map_err(|error| Error::system("cannot start a server that does nothing", error))
    }

    fn listen() -> io::Result<Self> {
        let mut listener = TcpListener::bind(([127, 0, 0, 1], 0).into())?;
        let address = Address::Tcp(listener.local_addr()?.to_string());
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let end = Arc::new(Waker::new(poll.registry(), END)?);
        let thread = thread::Builder::new().name("nothing".to_owned());
        let thread = thread.spawn(move || {
            // Whoever measures notices that nobody answers.
            let _ = serve(poll, &listener);
        })?;
        let target = Target::new(Protocol::Ping, address);
        Ok(Nothing { target, end, thread: Some(thread) })
    }

    /// Where it listens.
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }
}

impl Drop for Nothing {
    fn drop(&mut self) {
        // A thread that is gone cannot be woken.
        let _ = self.end.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(mut poll: Poll, listener: &TcpListener) -> io::Result<()> {
    let mut events = Events::with_capacity(1024);
    let mut clients: Vec<Option<TcpStream>> = Vec::new();
    loop {
        match poll.poll(&mut events, None) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        for event in &events {
            match event.token() {
                END => return Ok(()),
                LISTENER => {
                    while let Ok((mut client, _)) = listener.accept() {
                        client.set_nodelay(true)?;
                        let token = Token(clients.len());
                        poll.registry().register(&mut client, token, Interest::READABLE)?;
                        clients.push(Some(client));
                    }
                }
                Token(number) => {
                    let gone = clients[number].as_mut().is_some_and(|one| answer(one).is_err());
                    if gone {
                        clients[number] = None;
                    }
                }
            }
        }
    }
}

/// Answers all that has arrived. An error is the end of the connection.
fn answer(client: &mut TcpStream) -> io::Result<()> {
    let mut bytes = [0; READ_BYTES];
    loop {
        let len = match client.read(&mut bytes) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        };
        let lines = bytes[..len].iter().filter(|&&byte| byte == b'\n').count();
        // Short replies to few requests: the socket has room for them.
        client.write_all(&b"PONG\r\n".repeat(lines))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Length, Plan, run};

    #[test]
    fn every_request_is_answered() {
        let server = Nothing::start().unwrap();
        let plan = Plan {
            length: Length::Requests(1_000),
            warm_up: std::time::Duration::ZERO,
            depth: Some(8),
            ..Plan::new(server.target().clone())
        };
        let outcome = run(&plan, &mut |_| {}).unwrap();
        assert_eq!((outcome.answered, outcome.errors), (1_000, 0), "{:?}", outcome.first_errors);
        drop(server);
    }
}
