// SPDX-License-Identifier: Apache-2.0
//! [`Child`]: a server as a child process, ours or the one that it is compared with.
//!
//! A test that reads the output of one of our servers uses a `Daemon`, from `daemon.rs`.

use crate::PATIENCE;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often a start is tried before the test fails.
const TRIES: usize = 5;

/// How much of what a process has said is told of a test that fails.
const TOLD: usize = 8192;

/// A process that is killed when it is dropped.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    /// What it says, if a test that fails tells that.
    said: Option<File>,
}

impl Drop for Child {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(report) = self.report()
        {
            eprintln!("{report}");
        }
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The end of what is in a file.
fn end_of(file: &mut File) -> String {
    let mut text = Vec::new();
    if let Err(problem) = file.rewind().and_then(|()| file.read_to_end(&mut text)) {
        return problem.to_string();
    }
    String::from_utf8_lossy(&text[text.len().saturating_sub(TOLD)..]).into_owned()
}

/// A file without a name.
fn unnamed() -> io::Result<File> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("said-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
    let path = std::env::temp_dir().join(name);
    let file = File::options().read(true).append(true).create_new(true).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

impl Child {
    /// Starts a process without input, whose output is shown if the test fails, and else discarded.
    ///
    /// # Errors
    ///
    /// There is no such program, or no place for temporary files.
    pub fn quiet(command: &mut Command) -> io::Result<Self> {
        let said = unnamed()?;
        command.stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said.try_clone()?);
        let mut child = Child::spawn(command)?;
        child.said = Some(said);
        Ok(child)
    }

    /// Starts a process.
    ///
    /// # Errors
    ///
    /// There is no such program.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        Ok(Child { process: command.spawn()?, said: None })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// What a test that fails shows of it: whether it still runs, and what it has said, which is known of a
    /// [quiet](Child::quiet) one.
    fn report(&mut self) -> Option<String> {
        let said = end_of(self.said.as_mut()?);
        let state = match self.process.try_wait() {
            Ok(Some(status)) => status.to_string(),
            Ok(None) => "runs".to_owned(),
            Err(problem) => problem.to_string(),
        };
        Some(format!("process {} ({state}) has said:\n{said}", self.process.id()))
    }

    /// How it has ended, if it has.
    ///
    /// # Errors
    ///
    /// The system does not say.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.process.try_wait()
    }

    /// Waits until `is_ready` returns true.
    ///
    /// # Errors
    ///
    /// The process has ended, it takes too long, or `is_ready` fails.
    pub fn await_start(&mut self, is_ready: impl FnMut(u32) -> io::Result<bool>) -> io::Result<()> {
        self.await_start_within(PATIENCE, is_ready)
    }

    /// As [`Child::await_start`], with a time limit.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn await_start_within(
        &mut self,
        limit: Duration,
        mut is_ready: impl FnMut(u32) -> io::Result<bool>,
    ) -> io::Result<()> {
        let started = Instant::now();
        while started.elapsed() < limit {
            if let Some(status) = self.try_wait()? {
                return Err(io::Error::other(format!("ended at once: {status}")));
            }
            if is_ready(self.id())? {
                // What answered may be another process, which this one has found at its port.
                match self.try_wait()? {
                    Some(_) => continue,
                    None => return Ok(()),
                }
            }
            sleep(Duration::from_millis(5));
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

/// Ports below those that the system chooses for clients, and for servers that ask for port 0 (from 32,768 on, unless it
/// is set otherwise), and above those that servers have by default.
const GIVEN: Range<u16> = 20_000..32_768;

/// A port of TCP and UDP that was free a moment ago, and that this process has given to nobody else: the server of
/// another test, which starts at the same time, would pass for the one that is waited for. It is one of `GIVEN`, so
/// nobody gets it by chance before a server that takes its time is there, or while one is away.
///
/// # Panics
///
/// When no port is left.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let count = u32::from(GIVEN.end - GIVEN.start);
    // Tests of another process begin elsewhere.
    let first = std::process::id().wrapping_mul(2_654_435_761) >> 8;
    loop {
        let given = NEXT.fetch_add(1, Relaxed);
        assert!(given < count, "no port is left");
        let port = GIVEN.start + (first.wrapping_add(given) % count) as u16;
        let address = (Ipv4Addr::LOCALHOST, port);
        if TcpListener::bind(address).is_ok() && UdpSocket::bind(address).is_ok() {
            return port;
        }
    }
}

/// Starts the command that `command` returns for a free port, and waits until the process accepts
/// connections. Another process can take the port in between, so this is tried a few times.
///
/// # Errors
///
/// Those of the last try.
pub fn at_free_port(mut command: impl FnMut(u16) -> Command) -> io::Result<(Child, SocketAddr)> {
    let accepts = |address: SocketAddr, _| Ok(TcpStream::connect(address).is_ok());
    at_free_port_if(|port| Child::quiet(&mut command(port)), accepts)
}

/// As [`at_free_port`], for a process that is ready when `is_ready` returns true. `is_ready` is given the
/// process id.
///
/// # Errors
///
/// Those of the last try.
pub fn at_free_port_if(
    mut start: impl FnMut(u16) -> io::Result<Child>,
    mut is_ready: impl FnMut(SocketAddr, u32) -> io::Result<bool>,
) -> io::Result<(Child, SocketAddr)> {
    let mut last = io::Error::other("not tried");
    for _ in 0..TRIES {
        let port = free_port();
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut child = start(port)?;
        match child.await_start(|id| is_ready(address, id)) {
            Ok(()) => return Ok((child, address)),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Starts redis-server with `flags` in `folder`, where it listens at the socket `socket` and nowhere else;
/// `None` when it is not [installed](is_installed).
pub fn redis_at(folder: &Path, socket: &str, flags: &[&str]) -> Option<Child> {
    let is_there = is_installed("redis-server", "--version");
    is_there.then(|| redis_like_at(OsStr::new("redis-server"), folder, socket, flags))
}

/// Starts Valkey as [`redis_at`] starts redis-server: the program that `SHOEBILL_VALKEY` names, `None` without
/// the variable.
pub fn valkey_at(folder: &Path, socket: &str, flags: &[&str]) -> Option<Child> {
    let program = std::env::var_os("SHOEBILL_VALKEY")?;
    Some(redis_like_at(&program, folder, socket, flags))
}

fn redis_like_at(program: &OsStr, folder: &Path, socket: &str, flags: &[&str]) -> Child {
    let mut command = Command::new(program);
    command.args(["--port", "0", "--save", "", "--unixsocket", socket]).args(flags);
    let mut child = Child::quiet(command.current_dir(folder)).expect("the server starts");
    let path = folder.join(socket);
    let started = child.await_start(|_| Ok(UnixStream::connect(&path).is_ok()));
    started.expect("the server accepts connections");
    child
}

/// Whether a program, whose package has the same name, can be run with `flag`. If not, reports it
/// ([`missing`]).
pub fn is_installed(program: &str, flag: &str) -> bool {
    let is_there = Command::new(program).arg(flag).output().is_ok();
    if !is_there {
        missing(&format!("{program} (apt-get install {program})"));
    }
    is_there
}

/// Prints that a test cannot run, and fails if `SHOEBILL_REQUIRE_ORACLES` is 1.
pub fn missing(what: &str) {
    let required = std::env::var("SHOEBILL_REQUIRE_ORACLES").is_ok_and(|value| value == "1");
    assert!(!required, "{what} is missing, and SHOEBILL_REQUIRE_ORACLES is 1");
    let message =
        format!("\n*** SKIPPED: {what} is missing; this test has compared NOTHING ***\n\n");
    // Not with `eprintln!`, whose output is shown only when a test fails.
    io::stderr().write_all(message.as_bytes()).expect("standard error takes it");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_failure_shows_how_a_process_has_ended_and_what_it_has_said() {
        let script = "echo ready; echo out of memory >&2; exit 3";
        let mut child = Child::quiet(Command::new("sh").args(["-c", script])).unwrap();
        crate::wait_until("it ends", || child.try_wait().unwrap().is_some());
        let report = child.report().unwrap();
        assert!(report.ends_with("(exit status: 3) has said:\nready\nout of memory\n"), "{report}");
    }

    #[test]
    fn no_two_servers_get_the_same_port() {
        let ports: BTreeSet<u16> = (0..2_000).map(|_| free_port()).collect();
        assert_eq!(ports.len(), 2_000);
    }

    #[test]
    fn a_port_that_is_used_is_not_given() {
        let next = |port: u16| if port + 1 < GIVEN.end { port + 1 } else { GIVEN.start };
        let port = free_port();
        let used: Vec<_> =
            (0..100).scan(port, |port, _| Some(std::mem::replace(port, next(*port)))).collect();
        let _tcp: Vec<_> =
            used[..50].iter().map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port))).collect();
        let _udp: Vec<_> =
            used[50..].iter().map(|port| UdpSocket::bind((Ipv4Addr::LOCALHOST, *port))).collect();
        assert!((0..100).all(|_| !used.contains(&free_port())));
    }
}
