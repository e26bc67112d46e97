// SPDX-License-Identifier: Apache-2.0
//! [`Datagrams`]: the addresses at which requests come in UDP datagrams.

use crate::Error;
use reactor::{AnswerLimits, DatagramSocket};
use std::net::SocketAddr;

/// Where requests come in datagrams, and how much is answered to them.
#[derive(Clone, Debug)]
pub(crate) struct Datagrams {
    /// The tag that the protocol value of each is made from.
    pub(crate) tag: u16,
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) limits: AnswerLimits,
}

/// The sockets of all workers.
#[derive(Debug, Default)]
pub(crate) struct DatagramSockets {
    /// Those of each worker; none if there are no addresses.
    workers: Vec<Vec<DatagramSocket>>,
    /// The addresses, with the ports that the system chose.
    pub(crate) addresses: Vec<SocketAddr>,
}

impl Datagrams {
    /// Binds a socket to each address for each of so many workers.
    ///
    /// # Errors
    ///
    /// When an address cannot be bound.
    pub(crate) fn bind(&self, workers: usize) -> Result<DatagramSockets, Error> {
        let mut all = DatagramSockets::default();
        all.workers.resize_with(workers, Vec::new);
        for &address in &self.addresses {
            let sockets = DatagramSocket::bind(address, workers)
                .map_err(|source| Error::Listen { endpoint: format!("udp:{address}"), source })?;
            all.addresses.extend(sockets.first().map(DatagramSocket::address));
            for (worker, socket) in all.workers.iter_mut().zip(sockets) {
                worker.push(socket);
            }
        }
        Ok(all)
    }
}

impl DatagramSockets {
    /// Takes the sockets of a worker.
    pub(crate) fn take(&mut self, worker: usize) -> Vec<DatagramSocket> {
        self.workers.get_mut(worker).map(std::mem::take).unwrap_or_default()
    }
}
