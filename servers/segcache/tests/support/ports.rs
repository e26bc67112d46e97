// SPDX-License-Identifier: Apache-2.0
//! `segcache` as a child process with all its ports: memcache, RESP, admin; and its log in a file.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;
use test_support::child::{self, Child};

/// How long a server may take; below every time limit of the one under test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) memcache: SocketAddr,
    pub(crate) resp: SocketAddr,
    pub(crate) admin: SocketAddr,
    /// Holds the configuration and the log.
    pub(crate) folder: tempfile::TempDir,
}

impl Server {
    /// Starts it with more `sections`. Another process can take a port in between, so it is tried again.
    pub(crate) fn start(flags: &[&str], sections: &str) -> Self {
        for _ in 0..5 {
            let [memcache, resp, admin] = [free_port(), free_port(), free_port()];
            let folder = tempfile::tempdir().unwrap();
            let config = folder.path().join("segcache.toml");
            let log = folder.path().join("log");
            let text = format!(
                "[admin]\nport = {}\n[server]\nport = {}\nread_timeout = \"1h\"\n\
                 write_timeout = \"1h\"\nhandshake_timeout = \"1h\"\n[resp]\nlisten = [\"{resp}\"]\n\
                 [debug]\nlog_file = {log:?}\n{sections}",
                admin.port(),
                memcache.port()
            );
            fs::write(&config, text).unwrap();
            let path = std::env::var_os("SHOEBILL_SEGCACHE");
            let path = path.unwrap_or_else(|| env!("CARGO_BIN_EXE_segcache").into());
            let mut command = Command::new(path);
            command.args(flags).arg(config).stdin(Stdio::null());
            let mut child = Child::spawn(&mut command).unwrap();
            let accept = |_| {
                let ports = [memcache, resp, admin];
                Ok(ports.iter().all(|port| TcpStream::connect(port).is_ok()))
            };
            if child.await_start_within(PATIENCE, accept).is_ok() {
                return Server { child, memcache, resp, admin, folder };
            }
        }
        panic!("segcache does not start");
    }
}

fn free_port() -> SocketAddr {
    ([127, 0, 0, 1], child::free_port()).into()
}
