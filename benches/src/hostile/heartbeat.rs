// SPDX-License-Identifier: Apache-2.0
//! Connections that tell whether each worker still serves.
//!
//! A request must be answered before its worker has used `BUSY_MAX_NS` of CPU time, and before it has
//! slept for `ASLEEP_MAX_NS` with the request in its socket. Time in which the worker waits for a CPU counts
//! for neither, so the result does not depend on the machine's other load.

use crate::child::{Child, Ran};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// CPU time of a worker in which a waiting request is answered, whatever others ask for.
const BUSY_MAX_NS: u64 = 5_000_000_000;
/// Time that a worker may sleep while a request waits.
const ASLEEP_MAX_NS: u64 = 10_000_000_000;
/// How long anything takes that is waited for without an account of the worker.
const PATIENCE: Duration = Duration::from_secs(120);
/// Requests by which a connection's worker is found: it is the thread that then works.
const FINDING: usize = 20_000;

/// A connection to one worker.
#[derive(Debug)]
pub struct Heartbeat {
    stream: TcpStream,
    request: &'static [u8],
    reply: &'static [u8],
    /// Its worker's thread.
    thread: u32,
    /// What has arrived of the reply, since when it is waited for, and what the thread had had then.
    waiting: Option<(usize, Instant, Ran)>,
}

fn ran(server: &Child, thread: u32) -> io::Result<Ran> {
    let threads = server.threads()?;
    let found = threads.into_iter().find(|(id, _)| *id == thread);
    found.map(|(_, ran)| ran).ok_or_else(|| io::Error::other("its worker has ended"))
}

impl Heartbeat {
    /// Connects, and finds out which worker serves it, while the server has nothing else to do.
    ///
    /// # Errors
    ///
    /// The system's, or no answer.
    pub fn new(
        server: &Child,
        address: SocketAddr,
        request: &'static [u8],
        reply: &'static [u8],
    ) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let before = server.threads()?;
        let mut replies = vec![0; reply.len() * 100];
        for _ in 0..FINDING / 100 {
            stream.write_all(&request.repeat(100))?;
            stream.read_exact(&mut replies)?;
        }
        let spent = |(id, ran): &(u32, Ran)| {
            let earlier = before.iter().find(|(other, _)| other == id);
            ran.cpu_ns - earlier.map_or(0, |(_, ran)| ran.cpu_ns)
        };
        let busiest = server.threads()?.into_iter().max_by_key(spent);
        let (thread, _) = busiest.ok_or_else(|| io::Error::other("it has no threads"))?;
        stream.set_nonblocking(true)?;
        Ok(Heartbeat { stream, request, reply, thread, waiting: None })
    }

    /// Its worker's thread.
    #[must_use]
    pub fn thread(&self) -> u32 {
        self.thread
    }

    /// Asks, or looks for the answer. The CPU time that its worker had between the two, once there is one.
    ///
    /// # Errors
    ///
    /// What the server did instead of answering.
    pub fn beat(&mut self, server: &Child) -> Result<Option<u64>, String> {
        let failed = |error: io::Error| format!("a heartbeat's connection: {error}");
        let Some((arrived, since, begun)) = self.waiting else {
            let begun = ran(server, self.thread).map_err(failed)?;
            self.stream.write_all(self.request).map_err(failed)?;
            self.waiting = Some((0, Instant::now(), begun));
            return Ok(None);
        };
        let mut buffer = vec![0; self.reply.len() - arrived];
        match self.stream.read(&mut buffer) {
            Ok(0) => return Err("a heartbeat's connection was closed".to_owned()),
            Ok(len) if buffer[..len] != self.reply[arrived..arrived + len] => {
                return Err(format!(
                    "a heartbeat was answered \"{}\"",
                    buffer[..len].escape_ascii()
                ));
            }
            Ok(len) => self.waiting = Some((arrived + len, since, begun)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(failed(error)),
        }
        let now = ran(server, self.thread).map_err(failed)?;
        let busy_ns = now.cpu_ns - begun.cpu_ns;
        if self.waiting.is_some_and(|(arrived, ..)| arrived == self.reply.len()) {
            self.waiting = None;
            return Ok(Some(busy_ns));
        }
        let passed_ns = since.elapsed().as_nanos() as u64;
        let asleep_ns = passed_ns.saturating_sub(busy_ns + (now.waited_ns - begun.waited_ns));
        if busy_ns > BUSY_MAX_NS || asleep_ns > ASLEEP_MAX_NS {
            let ms = |ns: u64| ns / 1_000_000;
            return Err(format!(
                "a worker has not answered for {} ms, in which it worked {} ms and slept {} ms",
                ms(passed_ns),
                ms(busy_ns),
                ms(asleep_ns)
            ));
        }
        Ok(None)
    }
}
