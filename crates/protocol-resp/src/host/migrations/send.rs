// SPDX-License-Identifier: Apache-2.0
//! Sends values to another server.

use super::{Job, Target, Transfer};
use crate::host::platform::Channel;
use crate::wire::client::{Encoder, Value, parse};
use clock::Clock;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};

/// No reply to what is sent has more bytes.
const REPLY_MAX: usize = 64 << 10;

const NOT_CONNECTED: &str = "IOERR error or timeout connecting to the client";
const NOT_WRITTEN: &str = "IOERR error or timeout writing to target instance";
const NOT_READ: &str = "IOERR error or timeout reading to target instance";

/// Sends the values of a job and notes which of them the other server has stored.
pub(super) fn send(job: &mut Job) -> Result<(), String> {
    let Job { target, transfers, .. } = job;
    let mut connection = Connection { stream: connect(target)?, received: Vec::new() };
    connection.write(&login(target))?;
    if !target.auth.is_empty() {
        connection.reply()??;
    }
    connection.reply()??;
    // Only now, so that nothing gets into another database than the one that was named.
    connection.write(&restores(target, transfers))?;
    let mut outcome = Ok(());
    for transfer in transfers {
        match connection.reply()? {
            Ok(()) => transfer.is_there = true,
            Err(text) => outcome = outcome.and(Err(text)),
        }
    }
    outcome
}

fn connect(target: &Target) -> Result<Box<dyn Channel>, &'static str> {
    // Redis notices a port to which nobody listens when it writes.
    let port = target.port.parse::<u16>().ok().filter(|port| *port > 0).ok_or(NOT_WRITTEN)?;
    let addresses = (target.host.as_str(), port).to_socket_addrs().map_err(|_| NOT_CONNECTED)?;
    let mut failure = NOT_CONNECTED;
    for address in addresses {
        match TcpStream::connect_timeout(&address, target.timeout) {
            Ok(stream) => return prepared(stream, target).map_err(|_| NOT_CONNECTED),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => failure = NOT_CONNECTED,
            Err(_) => failure = NOT_WRITTEN,
        }
    }
    Err(failure)
}

fn prepared(stream: TcpStream, target: &Target) -> io::Result<Box<dyn Channel>> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(target.timeout))?;
    stream.set_write_timeout(Some(target.timeout))?;
    match &target.encryption {
        Some(encryption) => encryption.encrypt(stream, &target.host),
        None => Ok(Box::new(stream)),
    }
}

/// Says who is there, and selects the database.
fn login(target: &Target) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut requests = Encoder::new(&mut bytes);
    if !target.auth.is_empty() {
        requests.begin(target.auth.len() + 1);
        requests.arg(b"AUTH");
        target.auth.iter().for_each(|word| requests.arg(word));
    }
    requests.begin(2);
    requests.arg(b"SELECT");
    requests.number(target.db);
    bytes
}

/// All values, one request behind the other.
fn restores(target: &Target, transfers: &[Transfer]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut requests = Encoder::new(&mut bytes);
    // What they have left to live is counted from now: they may have waited in the queue.
    let now_ms = Clock::system().now().unix_ms;
    let name = if target.is_node { "RESTORE-ASKING" } else { "RESTORE" };
    for Transfer { key, payload, expiry, .. } in transfers {
        let ttl = expiry.map_or(0, |expiry| expiry.saturating_sub(now_ms).max(1));
        requests.begin(4 + usize::from(target.replaces));
        requests.arg(name.as_bytes());
        requests.arg(key);
        requests.arg(ttl.to_string().as_bytes());
        requests.arg(payload);
        if target.replaces {
            requests.arg(b"REPLACE");
        }
    }
    bytes
}

/// A connection to the other server, and the replies that have come.
struct Connection {
    stream: Box<dyn Channel>,
    received: Vec<u8>,
}

impl Connection {
    fn write(&mut self, requests: &[u8]) -> Result<(), String> {
        let written = self.stream.write_all(requests).and_then(|()| self.stream.flush());
        written.map_err(|_| NOT_WRITTEN.to_owned())
    }

    /// What the other server says of the next request.
    fn reply(&mut self) -> Result<Result<(), String>, String> {
        loop {
            if let Some((reply, len)) = parse(&self.received).map_err(|_| NOT_READ)? {
                let outcome = match Value::from(reply) {
                    Value::Error(text) => Err(format!(
                        "ERR Target instance replied with error: {}",
                        String::from_utf8_lossy(&text)
                    )),
                    _ => Ok(()),
                };
                self.received.drain(..len);
                return Ok(outcome);
            }
            self.read().map_err(|_| NOT_READ)?;
        }
    }

    fn read(&mut self) -> io::Result<()> {
        let mut room = [0; 4096];
        let len = self.stream.read(&mut room)?;
        self.received.extend_from_slice(&room[..len]);
        if len == 0 || self.received.len() > REPLY_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(())
    }
}
