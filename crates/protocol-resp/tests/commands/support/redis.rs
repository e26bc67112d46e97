// SPDX-License-Identifier: Apache-2.0
//! [`Redis`]: a redis-server as a child process, over a unix socket.

use protocol_resp::Version;
use std::io::Write;
use std::ops::{Deref, DerefMut};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use test_support::story::Remote;
use test_support::story::remote::PATIENCE;

/// A running server. Ends when dropped.
pub(crate) struct Redis {
    child: Child,
    remote: Remote,
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
    /// Starts a server whose clients speak `version`. None where it is not installed, which is a
    /// failure if `SHOEBILL_REQUIRE_ORACLES` is 1.
    pub(crate) fn start(version: Version) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let socket = folder.path().join("redis.sock");
        let child = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--enable-debug-command", "yes", "--unixsocket"])
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
        let path = socket.clone();
        let remote = Remote::new(version, move || {
            Box::new(UnixStream::connect(&path).expect("redis-server accepts"))
        });
        let redis = Redis { child, remote, _folder: folder };
        let started = Instant::now();
        while let Err(error) = UnixStream::connect(&socket) {
            assert!(started.elapsed() < PATIENCE, "no redis-server: {error}");
            sleep(Duration::from_millis(5));
        }
        Some(redis)
    }
}

impl Deref for Redis {
    type Target = Remote;

    fn deref(&self) -> &Remote {
        &self.remote
    }
}

impl DerefMut for Redis {
    fn deref_mut(&mut self) -> &mut Remote {
        &mut self.remote
    }
}
