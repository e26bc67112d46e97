// SPDX-License-Identifier: Apache-2.0
//! The built server is killed, and another one takes its place.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::net::TcpListener;
use std::process::Command;
use test_support::client::Client;
use test_support::daemon::Daemon;

#[test]
fn the_port_of_a_killed_server_is_free_at_once() {
    for engine in ["auto", "epoll"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rds"));
        let flags = ["--port", "0", "--admin-port", "0", "--engine", engine];
        let mut daemon = Daemon::spawn(command.args(flags));
        let address = daemon.address();
        let mut clients: Vec<_> = (0..200).map(|_| Client::tcp(address)).collect();
        for client in &mut clients {
            client.ask(b"PING\r\n", b"+PONG\r\n");
        }
        daemon.signal("KILL");
        assert!(!daemon.end().0.success());
        drop(TcpListener::bind(address).unwrap());
    }
}
