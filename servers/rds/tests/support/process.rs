// SPDX-License-Identifier: Apache-2.0
//! Servers as child processes: the built `rds`, and redis-server beside it as the oracle.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a server may take to answer its first connection.
const START_LIMIT: Duration = Duration::from_secs(20);

/// A running server, killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    /// Where it runs and may write.
    _folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary under test: `SHOEBILL_RDS` names another build of it.
pub(crate) fn rds_path() -> PathBuf {
    std::env::var_os("SHOEBILL_RDS").map_or_else(|| env!("CARGO_BIN_EXE_rds").into(), PathBuf::from)
}

/// Starts `rds` on a free port with `flags`.
pub(crate) fn rds(flags: &[&str]) -> Server {
    start(&rds_path(), flags).expect("rds starts")
}

/// Starts redis-server on a free port with `flags`; `None` when it is not installed, which is a failure
/// where `SHOEBILL_REQUIRE_ORACLES` is 1.
pub(crate) fn redis(flags: &[&str]) -> Option<Server> {
    if Command::new("redis-server").arg("--version").output().is_err() {
        missing("redis-server (apt-get install redis-server)");
        return None;
    }
    Some(start(Path::new("redis-server"), flags).expect("redis-server starts"))
}

/// The command that starts a server which may write into `folder`. DEBUG is allowed, nothing is kept on
/// disk, and the admin plane of `rds`, which would want a fixed port, is off.
fn command(path: &Path, folder: &Path) -> Command {
    let mut command = Command::new(path);
    if !path.ends_with("redis-server") {
        let config = folder.join("rds.toml");
        std::fs::write(&config, "[admin]\nenabled = false\n").unwrap();
        command.arg(config);
    }
    command.args(["--save", "", "--appendonly", "no", "--enable-debug-command", "local"]);
    command.args(["--bind", "127.0.0.1"]).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SORT of redis-server compares as the locale does.
    command.env("LC_ALL", "C");
    command
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

/// Starts a server on a free port. Another process can take the port in between, so it is tried a few
/// times.
fn start(path: &Path, flags: &[&str]) -> io::Result<Server> {
    let mut last = io::Error::other("not tried");
    for _ in 0..5 {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let folder = tempfile::tempdir()?;
        let mut command = command(path, folder.path());
        let child = command.args(flags).args(["--port", &port.to_string()]).spawn()?;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut server = Server { child, address, _folder: folder };
        match server.await_start() {
            Ok(()) => return Ok(server),
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl Server {
    /// Waits until the server accepts a connection. It may be another one that has the port: its
    /// number tells.
    fn await_start(&mut self) -> io::Result<()> {
        let started = Instant::now();
        while started.elapsed() < START_LIMIT {
            if let Some(status) = self.child.try_wait()? {
                return Err(io::Error::other(format!("ended at once: {status}")));
            }
            match TcpStream::connect(self.address).and_then(|stream| process_id(&stream)) {
                Ok(id) if id == self.child.id() => return Ok(()),
                Ok(_) => return Err(io::ErrorKind::AddrInUse.into()),
                Err(_) => sleep(Duration::from_millis(5)),
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

/// The number of the process at the other end.
fn process_id(mut stream: &TcpStream) -> io::Result<u32> {
    stream.set_read_timeout(Some(START_LIMIT))?;
    stream.write_all(b"INFO server\r\n")?;
    for line in BufReader::new(stream).lines() {
        if let Some(id) = line?.strip_prefix("process_id:") {
            return id.trim_end().parse().map_err(io::Error::other);
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}
