// SPDX-License-Identifier: Apache-2.0
//! [`Server`]: the server that stories are played against.

use std::time::Duration;

/// A server that stories are played against.
pub trait Server {
    /// Empties all databases and forgets all clients.
    fn restart(&mut self);

    /// Sends a line as a client, which is connected if it is new.
    fn send(&mut self, client: &str, line: &str);

    /// The next reply or message for `client`, as bytes; `None` if there is none. Waits for it only if
    /// one is `due`.
    fn receive(&mut self, client: &str, due: bool) -> Option<Vec<u8>>;

    /// Whether the server has closed the connection, as far as has been received.
    fn is_closed(&mut self, client: &str) -> bool;

    /// Closes a client's connection. Afterwards its name stands for a new client.
    fn leave(&mut self, client: &str);

    /// The server's id of a client, which is connected if it is new.
    fn client_id(&mut self, client: &str) -> u64;

    /// Returns when `waiting` clients are blocked.
    fn settle(&mut self, waiting: usize);

    /// Lets time pass.
    fn pass(&mut self, time: Duration);

    /// Whether time passes by itself, for the server as for the story, and not where the story sets the clock.
    fn is_timed(&self) -> bool {
        false
    }

    /// Whether so much more time has passed since the last `restart` than the story let pass that
    /// replies can differ. Never true where the story sets the clock.
    fn is_late(&self) -> bool {
        false
    }

    /// The time in unix milliseconds.
    fn unix_ms(&self) -> u64;
}
