// SPDX-License-Identifier: Apache-2.0
//! [`Server`]: whom stories are told to.

use std::time::Duration;

/// What a story is told to.
pub trait Server {
    /// Empties all databases and forgets all clients.
    fn restart(&mut self);

    /// Sends a line of a client, who is made if it is new.
    fn send(&mut self, client: &str, line: &str);

    /// The next reply or message that `client` gets, as bytes; `None` if there is none, now if
    /// nothing is `due`.
    fn receive(&mut self, client: &str, due: bool) -> Option<Vec<u8>>;

    /// Whether the server has closed the connection, as far as has been received.
    fn is_closed(&mut self, client: &str) -> bool;

    /// Ends a client's connection. Who has its name from then on is another client.
    fn leave(&mut self, client: &str);

    /// The number that the server knows a client by, who is made if it is new.
    fn client_id(&mut self, client: &str) -> u64;

    /// Returns when as many clients wait for something as are said to.
    fn settle(&mut self, waiting: usize);

    /// Lets time pass.
    fn pass(&mut self, time: Duration);

    /// Whether more time has passed since the last `restart` than the story let pass, by so much that
    /// replies can be other ones. Never where the story owns the clock.
    fn is_late(&self) -> bool {
        false
    }

    /// The time in unix milliseconds.
    fn unix_ms(&self) -> u64;
}
