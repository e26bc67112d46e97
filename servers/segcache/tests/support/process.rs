// SPDX-License-Identifier: Apache-2.0
//! Servers as child processes: the built `segcache`, and memcached beside it as the oracle.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a server may take to answer its first connection.
const START_LIMIT: Duration = Duration::from_secs(20);

/// A running server, killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    /// Holds the configuration file, if there is one.
    _folder: Option<tempfile::TempDir>,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary under test: `SHOEBILL_SEGCACHE` names another build of it.
pub(crate) fn segcache_path() -> PathBuf {
    std::env::var_os("SHOEBILL_SEGCACHE")
        .map_or_else(|| env!("CARGO_BIN_EXE_segcache").into(), PathBuf::from)
}

/// What keeps the items, the default first.
pub(crate) const STORAGES: [&str; 2] = ["seg", "hashmap"];

/// The section that chooses a storage.
pub(crate) fn over(storage: &str) -> String {
    format!("[cache]\nstorage = {storage:?}\n")
}

/// Starts `segcache` on a free port with `flags` and the admin plane off, which would want a fixed
/// port; `sections` is added to its configuration file.
pub(crate) fn segcache(flags: &[&str], sections: &str) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("segcache.toml");
    std::fs::write(&config, format!("[admin]\nenabled = false\n{sections}")).unwrap();
    let command = |port: u16| {
        let mut command = Command::new(segcache_path());
        command.arg("-p").arg(port.to_string()).args(flags).arg(&config);
        command
    };
    let mut server = start(command).expect("segcache starts");
    server._folder = Some(folder);
    server
}

/// Starts memcached on a free port with `flags`; `None` when it is not installed, which is a failure
/// where `SHOEBILL_REQUIRE_ORACLES` is 1.
pub(crate) fn memcached(flags: &[&str]) -> Option<Server> {
    if Command::new("memcached").arg("-V").output().is_err() {
        missing("memcached (apt-get install memcached)");
        return None;
    }
    let command = |port: u16| {
        let mut command = Command::new("memcached");
        // As root it wants to be told whom to run as; to others the flag means nothing.
        command.args(["-u", "root", "-l", "127.0.0.1", "-p"]).arg(port.to_string()).args(flags);
        command
    };
    Some(start(command).expect("memcached starts"))
}

/// Says loudly that a test cannot do its work, and fails where it must.
pub(crate) fn missing(what: &str) {
    let required = std::env::var("SHOEBILL_REQUIRE_ORACLES").is_ok_and(|value| value == "1");
    assert!(!required, "{what} is missing, and SHOEBILL_REQUIRE_ORACLES is 1");
    let message =
        format!("\n*** SKIPPED: {what} is missing; this test has compared NOTHING ***\n\n");
    // Not by a macro: what those print is only shown when a test fails.
    io::stderr().write_all(message.as_bytes()).expect("standard error takes it");
}

/// Starts what `command` makes for a free port. Another process can take the port in between, so it
/// is tried a few times.
fn start(command: impl Fn(u16) -> Command) -> io::Result<Server> {
    let mut last = io::Error::other("not tried");
    for _ in 0..5 {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = command(port);
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut server = Server { child, address, _folder: None };
        match server.await_start() {
            Ok(()) => return Ok(server),
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl Server {
    /// Waits until the server accepts a connection.
    fn await_start(&mut self) -> io::Result<()> {
        let started = Instant::now();
        while started.elapsed() < START_LIMIT {
            if let Some(status) = self.child.try_wait()? {
                return Err(io::Error::other(format!("ended at once: {status}")));
            }
            if TcpStream::connect(self.address).is_ok() {
                return Ok(());
            }
            sleep(Duration::from_millis(5));
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}
