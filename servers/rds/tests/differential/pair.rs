// SPDX-License-Identifier: Apache-2.0
//! [`Pair`]: the same connection to both servers.

use crate::client::{Connection, End, WRITTEN_AT_ONCE, cuts, encoded};
use crate::reply::Reply;
use std::net::SocketAddr;
use test_support::random::Random;

/// What came of the oracle, and of the server under test.
pub(crate) type Both<T> = [T; 2];

/// A reply, or why there is none.
pub(crate) type Answer = Result<Reply, End>;

/// Two servers that are to say the same: the oracle, and the one under test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) addresses: Both<SocketAddr>,
    /// The version of RESP that connections begin with.
    pub(crate) protocol: u8,
}

/// A connection to the oracle, and one to the server under test.
#[derive(Debug)]
pub(crate) struct Pair(pub(crate) Both<Connection>);

impl Pair {
    /// Opens both. That they refuse to change the protocol before they know a password is no failure.
    pub(crate) fn open(target: Target) -> Self {
        let mut pair = Pair(target.addresses.map(Connection::open));
        if target.protocol == 3 {
            // What is wrong with it shows in what comes later.
            let _ = pair.ask(&["HELLO", "3"]);
        }
        pair
    }

    /// Sends one command to both, and reads the replies.
    pub(crate) fn ask<A: AsRef<[u8]>>(&mut self, arguments: &[A]) -> Both<Answer> {
        let bytes = encoded(arguments);
        self.0.iter().for_each(|connection| connection.send(&bytes, &[]));
        self.0.each_mut().map(Connection::read)
    }

    /// Sends the same bytes to both, cut in other pieces, and reads `count` replies, or as many as come
    /// before a connection ends.
    pub(crate) fn exchange(
        &mut self,
        bytes: &[u8],
        count: usize,
        random: &mut Random,
    ) -> Both<Vec<Answer>> {
        let cuts = [(); 2].map(|()| cuts(random, bytes.len()));
        if bytes.len() <= WRITTEN_AT_ONCE {
            for (connection, cuts) in self.0.iter().zip(&cuts) {
                connection.send(bytes, cuts);
            }
            return self.0.each_mut().map(|connection| read(connection, count));
        }
        let writers = self.0.each_ref().map(Connection::writer);
        std::thread::scope(|scope| {
            for (writer, cuts) in writers.iter().zip(&cuts) {
                scope.spawn(|| writer.send(bytes, cuts));
            }
            self.0.each_mut().map(|connection| {
                let answers = read(connection, count);
                if matches!(answers.last(), Some(Err(_))) {
                    connection.shut_down();
                }
                answers
            })
        })
    }
}

fn read(connection: &mut Connection, count: usize) -> Vec<Answer> {
    let mut answers = Vec::with_capacity(count);
    while answers.len() < count && !matches!(answers.last(), Some(Err(_))) {
        answers.push(connection.read());
    }
    answers
}
