// SPDX-License-Identifier: Apache-2.0
//! Where the memory of the built server's data is: in huge pages, unless they are not wanted or the system has none.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};
use test_support::client::Client;
use test_support::daemon::Daemon;
use test_support::memory;

const MIB: u64 = 1 << 20;
const HUGE_PAGE: u64 = 2 * MIB;
/// Bytes of a value.
const VALUE: usize = 1000;

struct Server {
    daemon: Daemon,
    client: Client,
    /// Keys that were written.
    keys: usize,
}

impl Server {
    fn start(flags: &[&str]) -> Server {
        Server::start_by(Command::new(env!("CARGO_BIN_EXE_rds")), flags)
    }

    /// Starts a server by a command that takes its flags.
    fn start_by(mut command: Command, flags: &[&str]) -> Server {
        let mut daemon =
            Daemon::spawn(command.args(["--port", "0", "--admin-port", "0"]).args(flags));
        let client = Client::tcp(daemon.address());
        Server { daemon, client, keys: 0 }
    }

    /// Writes so many new keys.
    fn write(&mut self, keys: usize) {
        let value = "v".repeat(VALUE);
        let requests: String = (self.keys..self.keys + keys)
            .map(|key| format!("*3\r\n$3\r\nSET\r\n$10\r\n{key:010}\r\n${VALUE}\r\n{value}\r\n"))
            .collect();
        self.client.send(requests.as_bytes());
        self.client.expect("+OK\r\n".repeat(keys).as_bytes());
        self.keys += keys;
    }

    fn in_huge_pages(&self) -> u64 {
        memory::of_process(self.daemon.pid(), "smaps_rollup", "AnonHugePages")
    }
}

/// How often the system had no huge page for somebody who asked.
fn refusals() -> u64 {
    let facts = fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let count = facts.lines().find_map(|line| line.strip_prefix("thp_fault_fallback "));
    count.map_or(0, |count| count.trim().parse().unwrap())
}

#[test]
fn data_is_in_huge_pages_unless_they_are_not_wanted() {
    let mode = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    if !mode.is_ok_and(|mode| !mode.contains("[never]")) {
        eprintln!("NOT TESTED: this system has no transparent huge pages");
        return;
    }
    if fs::read_to_string("/proc/sys/vm/overcommit_memory").is_ok_and(|mode| mode.trim() == "2") {
        eprintln!("NOT TESTED: this system does not overcommit");
        return;
    }
    let mut small = Server::start(&["--huge-pages", "no"]);
    small.write(32_000);
    assert_eq!(small.in_huge_pages(), 0);

    let refused = refusals();
    let mut server = Server::start(&[]);
    let begun = Instant::now();
    // However late the thread is that takes them: some come.
    while server.in_huge_pages() < 8 * HUGE_PAGE {
        if refusals() > refused {
            eprintln!("NOT TESTED: this system has run out of huge pages");
            return;
        }
        let huge = server.in_huge_pages() / HUGE_PAGE;
        assert!(begun.elapsed() < Duration::from_secs(50), "{huge} after {} keys", server.keys);
        server.write(1_000);
    }
}

#[test]
fn a_server_with_little_data_takes_no_memory_ahead() {
    let own = |flags: &[&str]| {
        let mut server = Server::start(flags);
        server.write(8_000);
        memory::of_process(server.daemon.pid(), "status", "RssAnon")
    };
    let (without, with) = (own(&["--huge-pages", "no"]), own(&[]));
    assert!(with < without + MIB, "{with} bytes instead of {without}");
}

/// A command that runs another one where `/proc` is empty.
fn without_proc() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
    command.args(["mount -t tmpfs none /proc && exec \"$0\" \"$@\""]);
    command
}

#[test]
fn a_server_that_cannot_tell_whether_the_system_overcommits_takes_no_huge_pages() {
    let can = without_proc().args(["test", "!", "-e", "/proc/self"]).status();
    if !can.is_ok_and(|status| status.success()) {
        eprintln!("NOT TESTED: no mount namespace can be made here");
        return;
    }
    let mut command = without_proc();
    command.arg(env!("CARGO_BIN_EXE_rds"));
    let mut server = Server::start_by(command, &[]);
    server.write(4_000);
    server.write(4_000);
}
