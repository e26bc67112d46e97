// SPDX-License-Identifier: Apache-2.0
//! `segcache` as a child process with all its ports: memcache, RESP, admin; and its log in a file.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a server may take; below every time limit of the one under test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A running server, killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) memcache: SocketAddr,
    pub(crate) resp: SocketAddr,
    pub(crate) admin: SocketAddr,
    /// Holds the configuration and the log.
    pub(crate) folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
                "[admin]\nport = {}\n[server]\nport = {}\nread_timeout = \"10m\"\n\
                 write_timeout = \"10m\"\nhandshake_timeout = \"10m\"\n[resp]\nlisten = [\"{resp}\"]\n\
                 [debug]\nlog_file = {log:?}\n{sections}",
                admin.port(),
                memcache.port()
            );
            fs::write(&config, text).unwrap();
            let path = std::env::var_os("SHOEBILL_SEGCACHE");
            let path = path.unwrap_or_else(|| env!("CARGO_BIN_EXE_segcache").into());
            let mut command = Command::new(path);
            let child = command.args(flags).arg(config).stdin(Stdio::null()).spawn().unwrap();
            let mut server = Server { child, memcache, resp, admin, folder };
            if server.await_start() {
                return server;
            }
        }
        panic!("segcache does not start");
    }

    fn await_start(&mut self) -> bool {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            let ports = [self.memcache, self.resp, self.admin];
            if ports.iter().all(|port| TcpStream::connect(port).is_ok()) {
                return true;
            }
            sleep(Duration::from_millis(5));
        }
        false
    }
}

fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}
