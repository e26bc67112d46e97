// SPDX-License-Identifier: Apache-2.0
//! [`Redis`]: a redis-server, or Valkey, as a child process, over a unix socket.

use protocol_resp::Version;
use std::ops::{Deref, DerefMut};
use std::os::unix::net::UnixStream;
use std::path::Path;
use test_support::child::{self, Child};
use test_support::story::Remote;

/// Where it listens.
const SOCKET: &str = "redis.sock";

/// Starts a server in a folder, where it listens at a socket, with flags.
type Start = fn(&Path, &str, &[&str]) -> Option<Child>;

/// A running server.
pub(crate) struct Redis {
    _child: Child,
    remote: Remote,
    _folder: tempfile::TempDir,
}

impl Redis {
    /// Starts a server whose clients speak `version`. None where it is not installed, which is a
    /// failure if `SHOEBILL_REQUIRE_ORACLES` is 1.
    pub(crate) fn start(version: Version) -> Option<Self> {
        Self::start_with(version, child::redis_at, |_| Vec::new())
    }

    /// Starts Valkey, if the environment names it.
    pub(crate) fn start_valkey(version: Version) -> Option<Self> {
        Self::start_with(version, child::valkey_at, |_| Vec::new())
    }

    /// Starts a server that finds these nodes of a cluster in its file.
    pub(crate) fn start_in_cluster(version: Version, nodes: &str) -> Option<Self> {
        Self::start_with(version, child::redis_at, |folder| {
            std::fs::write(folder.join("nodes.conf"), nodes).expect("the folder is new");
            // Where nobody connects to; a port that is free is as good as any.
            let bus = child::free_port().to_string();
            let flags = [
                "--cluster-enabled",
                "yes",
                "--cluster-require-full-coverage",
                "no",
                // The others are not there, which it is not to notice.
                "--cluster-node-timeout",
                "1000000000",
                "--cluster-port",
            ];
            flags.map(str::to_owned).into_iter().chain([bus]).collect()
        })
    }

    fn start_with(
        version: Version,
        start: Start,
        more: impl Fn(&Path) -> Vec<String>,
    ) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let more = more(folder.path());
        let mut flags = vec!["--enable-debug-command", "yes"];
        flags.extend(more.iter().map(String::as_str));
        let child = start(folder.path(), SOCKET, &flags)?;
        let path = folder.path().join(SOCKET);
        let remote = Remote::new(version, move || {
            Box::new(UnixStream::connect(&path).expect("the server accepts"))
        });
        Some(Redis { _child: child, remote, _folder: folder })
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
