// SPDX-License-Identifier: Apache-2.0
//! [`Connection`]: `reactor::turn` without a socket.

use buffer::{Pool, RecvBuf, SendBuf};
use clock::{Clock, Now};
use protocol::{ConnectionId, Context, Directory, Execute, Outbox, Protocol};
use reactor::{Limits, Options, Pipeline, Turn, turn};

/// One connection and the worker around it: bytes in, bytes out, with the buffers, the pool and the
/// limits of a real one.
#[derive(Debug)]
pub struct Connection<P: Protocol, E> {
    service: E,
    pipeline: Pipeline<P>,
    recv: RecvBuf,
    send: SendBuf,
    pool: Pool,
    limits: Limits,
    outbox: Outbox,
    directory: Directory,
    now: Now,
}

impl<P: Protocol, E: Execute<P>> Connection<P, E> {
    /// A connection at one moment that does not pass.
    pub fn new(protocol: P, service: E) -> Self {
        let options = Options::default();
        Connection {
            service,
            pipeline: Pipeline::new(protocol),
            recv: RecvBuf::new(),
            send: SendBuf::new(),
            pool: Pool::new(options.recv_block, options.send_block, options.pool_blocks),
            limits: options.limits,
            outbox: Outbox::new(),
            directory: Directory::new(),
            now: Clock::manual(1_700_000_000_000).now(),
        }
    }

    /// Lets `input` arrive, serves it and sends the replies; returns how many bytes were sent.
    ///
    /// # Panics
    ///
    /// When the connection is closed or a request is left unfinished: a benchmark that measures
    /// errors by mistake ends here.
    pub fn serve(&mut self, input: &[u8]) -> usize {
        self.recv.reserve(input.len(), &mut self.pool);
        self.recv.put(input);
        let mut sent = 0;
        loop {
            self.send.lend(&mut self.pool);
            let id = ConnectionId::new(0, 1);
            let mut context = Context::new(self.now, id, &mut self.outbox, &self.directory);
            let next = turn(
                &mut self.pipeline,
                &mut self.service,
                &mut self.recv,
                &mut self.send,
                &self.limits,
                &mut context,
            );
            match next {
                Turn::Close | Turn::Refuse | Turn::TooLarge => panic!("the connection was closed"),
                Turn::Blocked => panic!("a request waits for others, of which there are none"),
                Turn::Yield | Turn::Backpressure => sent += self.flush(),
                Turn::NeedInput { .. } => break,
            }
        }
        assert!(self.recv.is_empty(), "a request is left unfinished");
        sent += self.flush();
        self.recv.release(&mut self.pool);
        self.service.maintain(self.now, 64, &mut self.outbox);
        sent
    }

    /// What would be sent for `input`, for checks that a benchmark does what it says.
    ///
    /// # Panics
    ///
    /// When the replies hold a value by reference.
    pub fn replies(&mut self, input: &[u8]) -> Vec<u8> {
        self.recv.reserve(input.len(), &mut self.pool);
        self.recv.put(input);
        let id = ConnectionId::new(0, 1);
        let mut context = Context::new(self.now, id, &mut self.outbox, &self.directory);
        let (pipeline, service) = (&mut self.pipeline, &mut self.service);
        turn(pipeline, service, &mut self.recv, &mut self.send, &self.limits, &mut context);
        assert!(self.send.is_contiguous(), "a value by reference");
        let replies = self.send.front().to_vec();
        self.flush();
        replies
    }

    fn flush(&mut self) -> usize {
        let sent = self.send.pending();
        self.send.consume(sent);
        self.send.release(&mut self.pool);
        sent
    }
}
