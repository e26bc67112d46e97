// SPDX-License-Identifier: Apache-2.0
//! A redis-server as a child process, asked over a unix socket.

use protocol_resp::Version;
use protocol_resp::client::{self, Encoder, Value};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long it may take to accept a connection.
const START_LIMIT: Duration = Duration::from_secs(20);

/// A running server and a connection to it. Ends when dropped.
pub(crate) struct Redis {
    child: Child,
    stream: UnixStream,
    /// Bytes that have arrived and are no whole reply yet.
    input: Vec<u8>,
    socket: PathBuf,
    _folder: tempfile::TempDir,
}

impl Drop for Redis {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Redis {
    /// Starts a server and speaks `version` with it. None where it is not installed, which is a
    /// failure if `SHOEBILL_REQUIRE_ORACLES` is 1.
    pub(crate) fn start(version: Version) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let socket = folder.path().join("redis.sock");
        let child = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--enable-debug-command", "yes"])
            .args(["--enable-module-command", "yes", "--unixsocket"])
            .arg(&socket)
            .stdout(Stdio::null())
            .current_dir(folder.path())
            .spawn();
        let Ok(child) = child else {
            let required =
                std::env::var("SHOEBILL_REQUIRE_ORACLES").is_ok_and(|value| value == "1");
            assert!(!required, "redis-server is not installed (apt-get install redis-server)");
            std::io::stderr()
                .write_all(b"\n*** SKIPPED: no redis-server; nothing was compared ***\n\n")
                .expect("standard error takes it");
            return None;
        };
        let started = Instant::now();
        let stream = loop {
            match UnixStream::connect(&socket) {
                Ok(stream) => break stream,
                Err(error) => assert!(started.elapsed() < START_LIMIT, "no redis-server: {error}"),
            }
            sleep(Duration::from_millis(5));
        };
        let mut redis = Redis { child, stream, input: Vec::new(), socket, _folder: folder };
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
