// SPDX-License-Identifier: Apache-2.0
//! [`Platform`]: services that the surrounding program provides.

use super::config::BufferLimit;
use protocol::Peer;
use std::fmt::Debug;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

/// The process around the service, with the operations that commands need from it.
///
/// No method waits: a change takes effect soon after the call.
pub trait Platform: Debug + Send + Sync {
    /// Ends the process in order (SHUTDOWN).
    fn stop(&self);

    /// Prepares the process for `most` connections at once.
    ///
    /// # Errors
    ///
    /// When the system does not allow that many, with the number that it allows.
    fn allow_connections(&self, most: usize) -> Result<(), usize> {
        let _ = most;
        Ok(())
    }

    /// Sets how many connections are served at once (`maxclients`).
    fn set_connections_max(&self, most: usize);

    /// Sets for how long a connection may be idle (`timeout`); zero: for ever.
    fn set_idle_timeout(&self, time: Duration);

    /// Sets after how long without a word from its client a new connection asks whether it is still there
    /// (`tcp-keepalive`); zero: never.
    fn set_keepalive(&self, time: Duration);

    /// Sets how many bytes a request may have (`client-query-buffer-limit`).
    fn set_request_max(&self, bytes: u64);

    /// Sets how much a client may leave unread before it is closed (`client-output-buffer-limit`): of
    /// replies (`normal`), and one that has subscribed, of messages and replies (`pubsub`).
    fn set_output_limits(&self, replies: BufferLimit, messages: BufferLimit);

    /// The present connections, including those that have not sent a whole request yet.
    fn peers(&self) -> Vec<Arc<Peer>>;

    /// What tells of sockets that are ready (INFO's `multiplexing_api`).
    fn multiplexing(&self) -> &'static str {
        "epoll"
    }

    /// The allocator's own statistics; `None` if it has none.
    fn allocator(&self) -> Option<Allocator> {
        None
    }

    /// Makes the allocator return memory to the system (MEMORY PURGE).
    fn purge(&self) {}

    /// The server's certificate, and the authority's that clients are checked against, if there are any.
    fn certificates(&self) -> [Option<Certificate>; 2] {
        [None, None]
    }

    /// How connections to other servers are encrypted; `None` if they cannot be.
    fn encryption(&self) -> Option<Arc<dyn Encryption>> {
        None
    }
}

/// Encrypts connections to other servers.
pub trait Encryption: Debug + Send + Sync {
    /// Makes sure that the server at the other end, known as `host`, is a trusted one, and encrypts what is sent. Waits for
    /// it, as long as the timeouts of `stream` allow.
    ///
    /// # Errors
    ///
    /// The other server is not trusted, does not answer, or does not speak TLS.
    fn encrypt(&self, stream: TcpStream, host: &str) -> io::Result<Box<dyn Channel>>;
}

/// A connection to another server.
pub trait Channel: Read + Write + Send {}

impl<C: Read + Write + Send> Channel for C {}

/// What is told of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Its serial number, in hexadecimal digits.
    pub serial: String,
    /// When it ends, in unix seconds.
    pub ends_at: u64,
}

/// An allocator's own numbers, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocator {
    /// Its name and version.
    pub name: &'static str,
    /// Bytes that the program has allocated and not freed.
    pub allocated: u64,
    /// Bytes of pages that contain allocated memory.
    pub active: u64,
    /// Pages that are in memory.
    pub resident: u64,
    /// Pages that are mapped.
    pub mapped: u64,
    /// Address space that is kept for later and takes no memory.
    pub retained: u64,
}
