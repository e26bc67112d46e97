// SPDX-License-Identifier: Apache-2.0
//! Other people's servers, as child processes.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a server may take to answer its first connection.
const START_LIMIT: Duration = Duration::from_secs(20);

/// A running server, killed when it is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    pub address: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The command that starts memcached at a port; `None` where it is not installed, which is a failure
/// where `SHOEBILL_REQUIRE_ORACLES` is 1.
pub fn memcached_command(port: u16) -> Option<String> {
    installed("memcached", "-V")?;
    // As root it wants to be told whom to run as; to others the flag means nothing.
    Some(format!("memcached -u root -l 127.0.0.1 -U 0 -t 1 -p {port}"))
}

/// As [`memcached_command`], of redis-server.
pub fn redis_command(port: u16) -> Option<String> {
    installed("redis-server", "--version")?;
    Some(format!("redis-server --bind 127.0.0.1 --save '' --appendonly no --port {port}"))
}

fn installed(program: &str, flag: &str) -> Option<()> {
    if Command::new(program).arg(flag).output().is_ok() {
        return Some(());
    }
    let required = std::env::var("SHOEBILL_REQUIRE_ORACLES").is_ok_and(|value| value == "1");
    assert!(!required, "{program} is missing, and SHOEBILL_REQUIRE_ORACLES is 1");
    let message = format!(
        "\n*** SKIPPED: {program} (apt-get install {program}) is missing; this test has tried NOTHING \
         ***\n\n"
    );
    // Not by a macro: what those print is only shown when a test fails.
    io::stderr().write_all(message.as_bytes()).expect("standard error takes it");
    None
}

/// Starts what `command` makes for a free port. Another process can take the port in between, so it is
/// tried a few times.
pub fn start(command: impl Fn(u16) -> Option<String>) -> Option<Server> {
    let mut last = io::Error::other("not tried");
    for _ in 0..5 {
        let port = free_port();
        match start_at(([127, 0, 0, 1], port).into(), &command(port)?) {
            Ok(server) => return Some(server),
            Err(error) => last = error,
        }
    }
    panic!("the oracle does not start: {last}");
}

/// Starts a command that listens at an address.
pub fn start_at(address: SocketAddr, command: &str) -> io::Result<Server> {
    let child = Command::new("sh")
        .args(["-c", &format!("exec {command}")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut server = Server { child, address };
    server.await_start()?;
    Ok(server)
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
