// SPDX-License-Identifier: Apache-2.0
//! Other people's servers, as child processes.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use test_support::child::{self, Child, is_installed};
use test_support::memcached::Memcached;

pub use test_support::child::free_port;

/// A running server.
#[derive(Debug)]
pub struct Server {
    _child: Child,
    pub address: SocketAddr,
}

/// The command that starts memcached at a port; `None` where it is not installed, which is a failure
/// where `SHOEBILL_REQUIRE_ORACLES` is 1.
pub fn memcached_command(port: u16) -> Option<String> {
    let command = Memcached::find()?.command(port);
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    Some(format!("{} -t 1", words.join(" ")))
}

/// As [`memcached_command`], of redis-server.
pub fn redis_command(port: u16) -> Option<String> {
    if !is_installed("redis-server", "--version") {
        return None;
    }
    Some(format!("redis-server --bind 127.0.0.1 --save '' --appendonly no --port {port}"))
}

/// Starts what `command` makes for a free port.
pub fn start(command: impl Fn(u16) -> Option<String>) -> Option<Server> {
    command(free_port())?;
    let command = |port| shell(&command(port).expect("it is installed"));
    let (child, address) = child::at_free_port(command).expect("the oracle starts");
    Some(Server { _child: child, address })
}

/// Starts a command that listens at an address.
pub fn start_at(address: SocketAddr, command: &str) -> io::Result<Server> {
    let mut child = Child::quiet(&mut shell(command))?;
    child.await_start(|_| Ok(TcpStream::connect(address).is_ok()))?;
    Ok(Server { _child: child, address })
}

fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec {command}")]);
    shell
}
