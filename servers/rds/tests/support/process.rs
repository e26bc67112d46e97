// SPDX-License-Identifier: Apache-2.0
//! Servers as child processes: the built `rds`, and redis-server beside it as the oracle.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use test_support::PATIENCE;
use test_support::child::{self, Child};

/// The configuration of `rds`: without the admin plane, which would want a fixed port, and with time limits that no
/// client reaches, however busy the machine is.
const CONFIG: &str =
    "[admin]\nenabled = false\n[server]\nread_timeout = \"1h\"\nwrite_timeout = \"1h\"\n";

/// redis-server where the system has it.
pub(crate) const REDIS: &str = "redis-server";

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    _child: Child,
    pub(crate) address: SocketAddr,
    /// Where it runs and may write.
    _folder: tempfile::TempDir,
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
    redis_of(Path::new(REDIS), flags)
}

/// Starts a server of Redis or Valkey at this path as [`redis`] starts redis-server.
pub(crate) fn redis_of(path: &Path, flags: &[&str]) -> Option<Server> {
    if !child::is_installed(&path.to_string_lossy(), "--version") {
        return None;
    }
    Some(start(path, flags).expect("redis-server starts"))
}

/// The command that starts a server which may write into `folder`. DEBUG is allowed, and nothing is kept on disk.
fn command(path: &Path, folder: &Path) -> Command {
    let mut command = Command::new(path);
    if path == rds_path() && !path.ends_with(REDIS) {
        let config = folder.join("rds.toml");
        std::fs::write(&config, CONFIG).unwrap();
        command.arg(config);
    }
    command.args(["--save", "", "--appendonly", "no", "--enable-debug-command", "local"]);
    command.args(["--bind", "127.0.0.1"]).current_dir(folder);
    // SORT of redis-server compares as the locale does.
    command.env("LC_ALL", "C");
    command
}

/// Starts a server on a free port. It may be another one that has the port: its number tells.
fn start(path: &Path, flags: &[&str]) -> io::Result<Server> {
    let folder = tempfile::tempdir()?;
    let start = |port: u16| {
        let mut command = command(path, folder.path());
        Child::quiet(command.args(flags).args(["--port", &port.to_string()]))
    };
    let is_ready = |address: SocketAddr, id: u32| match TcpStream::connect(address)
        .and_then(|at| process_id(&at))
    {
        Ok(found) if found == id => Ok(true),
        Ok(_) => Err(io::ErrorKind::AddrInUse.into()),
        Err(_) => Ok(false),
    };
    let (child, address) = child::at_free_port_if(start, is_ready)?;
    Ok(Server { _child: child, address, _folder: folder })
}

/// The number of the process at the other end.
fn process_id(mut stream: &TcpStream) -> io::Result<u32> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(b"INFO server\r\n")?;
    for line in BufReader::new(stream).lines() {
        if let Some(id) = line?.strip_prefix("process_id:") {
            return id.trim_end().parse().map_err(io::Error::other);
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}
