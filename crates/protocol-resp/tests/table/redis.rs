// SPDX-License-Identifier: Apache-2.0
//! A redis-server as a child process, asked over a unix socket.

use protocol_resp::Version;
use protocol_resp::client::{self, Encoder, Value};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use test_support::child::{self, Child};

/// Where it listens.
const SOCKET: &str = "redis.sock";

/// A running server and a connection to it.
pub(crate) struct Redis {
    _child: Child,
    stream: UnixStream,
    /// Bytes that have arrived and are no whole reply yet.
    input: Vec<u8>,
    socket: PathBuf,
    _folder: tempfile::TempDir,
}

impl Redis {
    /// Starts a server and speaks `version` with it. None where it is not installed, which is a
    /// failure if `SHOEBILL_REQUIRE_ORACLES` is 1.
    pub(crate) fn start(version: Version) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let flags = ["--enable-debug-command", "yes", "--enable-module-command", "yes"];
        let child = child::redis_at(folder.path(), SOCKET, &flags)?;
        let socket = folder.path().join(SOCKET);
        let stream = UnixStream::connect(&socket).expect("it accepts");
        let mut redis = Redis { _child: child, stream, input: Vec::new(), socket, _folder: folder };
        if version == Version::Resp3 {
            redis.ask(&["HELLO", "3"]);
        }
        Some(redis)
    }

    /// Speaks as a new client, in RESP2.
    pub(crate) fn reconnect(&mut self) {
        self.stream = UnixStream::connect(&self.socket).expect("redis-server accepts");
        self.input.clear();
    }

    /// Sends a command and waits for its reply.
    pub(crate) fn ask<A: AsRef<[u8]>>(&mut self, words: &[A]) -> Value {
        let mut request = Vec::new();
        Encoder::new(&mut request).request(words);
        self.stream.write_all(&request).expect("redis-server reads");
        self.receive()
    }

    /// The next reply or message.
    pub(crate) fn receive(&mut self) -> Value {
        loop {
            if let Some((reply, consumed)) = client::parse(&self.input).expect("RESP") {
                let value = reply.into();
                self.input.drain(..consumed);
                return value;
            }
            let mut piece = [0; 64 * 1024];
            let len = self.stream.read(&mut piece).expect("redis-server answers");
            assert!(len > 0, "redis-server has closed the connection");
            self.input.extend_from_slice(&piece[..len]);
        }
    }
}
