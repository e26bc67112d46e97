// SPDX-License-Identifier: Apache-2.0
//! [`RespProcess`]: the process, as commands see and change it.

use protocol::Peer;
use protocol_resp::service::{Allocator, BufferLimit, Certificate, Channel, Encryption, Platform};
use server::{Controls, OutputLimit, PeerTls};
use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

/// A limit in the workers' form. In `limit` 0 means none.
fn output_limit(limit: BufferLimit) -> OutputLimit {
    let bytes = |bytes: u64| match usize::try_from(bytes) {
        Ok(0) | Err(_) => usize::MAX,
        Ok(bytes) => bytes,
    };
    let soft_time = Duration::from_secs(limit.seconds);
    OutputLimit { hard: bytes(limit.hard), soft: bytes(limit.soft), soft_time }
}

/// The process, as the service sees it.
#[derive(Debug)]
pub struct RespProcess {
    controls: Controls,
    numbers: fn() -> Option<Allocator>,
    purge: fn(),
    peers: Option<Arc<Peers>>,
}

/// TLS to other servers.
#[derive(Debug)]
struct Peers(PeerTls);

impl Encryption for Peers {
    fn encrypt(&self, stream: TcpStream, host: &str) -> io::Result<Box<dyn Channel>> {
        match self.0.connect(stream, host) {
            Ok(stream) => Ok(Box::new(stream)),
            Err(error) => {
                log::warn!("no TLS connection to {host}: {error}");
                Err(io::Error::other(error))
            }
        }
    }
}

impl RespProcess {
    /// The process with these controls, and an allocator that says nothing of itself.
    #[must_use]
    pub fn new(controls: Controls) -> Self {
        RespProcess { controls, numbers: || None, purge: || {}, peers: None }
    }

    /// Where the allocator's numbers come from, and how it is made to return memory to the system.
    #[must_use]
    pub fn with_allocator(mut self, numbers: fn() -> Option<Allocator>, purge: fn()) -> Self {
        (self.numbers, self.purge) = (numbers, purge);
        self
    }
}

impl RespProcess {
    /// The files for TLS to other servers.
    #[must_use]
    pub fn with_peers(mut self, peers: Option<PeerTls>) -> Self {
        self.peers = peers.map(|peers| Arc::new(Peers(peers)));
        self
    }
}

impl Platform for RespProcess {
    fn stop(&self) {
        self.controls.stop();
    }

    fn allow_connections(&self, most: usize) -> Result<(), usize> {
        self.controls.allow_connections(most)
    }

    fn set_connections_max(&self, most: usize) {
        if let Err(fewer) = self.controls.set_max_connections(most) {
            log::warn!("there are descriptors for {fewer} connections only");
        }
    }

    fn set_idle_timeout(&self, time: Duration) {
        self.controls.set_idle_timeout(time);
    }

    fn set_keepalive(&self, time: Duration) {
        self.controls.set_keepalive(time);
    }

    fn set_request_max(&self, bytes: u64) {
        self.controls.set_request_bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
    }

    fn set_output_limits(&self, replies: BufferLimit, messages: BufferLimit) {
        self.controls.set_output_limits(output_limit(replies), output_limit(messages));
    }

    fn peers(&self) -> Vec<Arc<Peer>> {
        self.controls.peers()
    }

    fn multiplexing(&self) -> &'static str {
        self.controls.engine().unwrap_or_default().name()
    }

    fn allocator(&self) -> Option<Allocator> {
        (self.numbers)()
    }

    fn purge(&self) {
        (self.purge)();
    }

    fn encryption(&self) -> Option<Arc<dyn Encryption>> {
        self.peers.clone().map(|peers| peers as Arc<dyn Encryption>)
    }

    fn certificates(&self) -> [Option<Certificate>; 2] {
        let facts = self.controls.certificates();
        [facts.server, facts.authority].map(|facts| {
            facts.map(|facts| Certificate { serial: facts.serial, ends_at: facts.ends_at })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_is_one_that_nothing_reaches() {
        let limit = |hard, soft| output_limit(BufferLimit { hard, soft, seconds: 7 });
        let OutputLimit { hard, soft, soft_time } = limit(0, 10);
        assert_eq!((hard, soft, soft_time), (usize::MAX, 10, Duration::from_secs(7)));
        assert_eq!(limit(u64::MAX, 0).soft, usize::MAX);
    }

    #[test]
    fn the_allocator_is_the_programs() {
        let controls = || server::Builder::new("mine", "1.0.0").controls();
        assert_eq!(Platform::allocator(&RespProcess::new(controls())), None);
        let numbers = || Some(Allocator { allocated: 5, ..Allocator::default() });
        let process = RespProcess::new(controls()).with_allocator(numbers, || {});
        assert_eq!(Platform::allocator(&process), numbers());
    }
}
