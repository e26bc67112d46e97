// SPDX-License-Identifier: Apache-2.0
//! Addresses that can be listened on, and those that cannot.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod lines;

use lines::{Lines, Speaker};
use server::{Builder, Endpoint, Error, Process};
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use test_support::client::Client;

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

fn spawn(builder: Builder) -> Result<Process, Error> {
    builder.spawn(|_tag| Lines, |_worker| Speaker::default())
}

fn unix(path: &Path, mode: u32) -> Builder {
    Builder::new("test", "0").listen(Endpoint::Unix { path: path.to_owned(), mode }, false)
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    (folder, path)
}

#[test]
fn a_port_in_use_is_an_error_that_names_it_and_leaves_nothing_behind() {
    let used = TcpListener::bind(loopback()).unwrap();
    let address = used.local_addr().unwrap();
    let (_folder, path) = folder();
    let builder = unix(&path, 0o700).listen(Endpoint::Tcp(address), false);
    let error = spawn(builder).unwrap_err().to_string();
    let expected = format!("cannot listen on tcp:{address}: Address already in use");
    assert!(error.starts_with(&expected), "{error}");
    assert!(!path.exists(), "what was bound before is given up");
}

#[test]
fn an_admin_port_in_use_is_an_error_that_says_what_to_change() {
    let used = TcpListener::bind(loopback()).unwrap();
    let address = used.local_addr().unwrap();
    let (_folder, path) = folder();
    let error = spawn(unix(&path, 0o700).admin(address)).unwrap_err().to_string();
    for part in ["[admin]", &address.to_string(), "choose another port (--admin-port) or host"] {
        assert!(error.contains(part), "{part} is not in: {error}");
    }
    assert!(!path.exists());
}

#[test]
fn a_port_can_be_used_again_at_once() {
    let process = spawn(Builder::new("test", "0").listen(Endpoint::Tcp(loopback()), false));
    let process = process.unwrap();
    let address = process.address().unwrap();
    let mut client = Client::tcp(address);
    client.ask(b"echo hello\n", b"hello\n");
    // The server closes first, so the port is left with a connection in TIME-WAIT.
    process.stop().unwrap();
    assert_eq!(client.rest(), b"");
    let again = spawn(Builder::new("test", "0").listen(Endpoint::Tcp(address), false)).unwrap();
    Client::tcp(address).ask(b"echo again\n", b"again\n");
    again.stop().unwrap();
}

#[test]
fn a_unix_socket_has_the_mode_that_was_asked_for() {
    for mode in [0o700, 0o660, 0o777] {
        let (_folder, path) = folder();
        let process = spawn(unix(&path, mode)).unwrap();
        let file = fs::metadata(&path).unwrap();
        assert!(file.file_type().is_socket());
        assert_eq!(file.permissions().mode() & 0o777, mode);
        Client::unix(&path).ask(b"echo hello\n", b"hello\n");
        process.stop().unwrap();
        assert!(!path.exists());
    }
}

#[test]
fn a_socket_that_a_dead_server_left_behind_is_replaced() {
    let (_folder, path) = folder();
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let process = spawn(unix(&path, 0o700)).unwrap();
    Client::unix(&path).ask(b"echo hello\n", b"hello\n");
    process.stop().unwrap();
}

#[test]
fn a_socket_that_is_served_is_left_to_its_server() {
    let (_folder, path) = folder();
    let first = spawn(unix(&path, 0o700)).unwrap();
    let error = spawn(unix(&path, 0o700)).unwrap_err().to_string();
    let path_text = path.display();
    let expected =
        format!("cannot listen on unix:{path_text}: {path_text} is served by another process");
    assert_eq!(error, expected);
    Client::unix(&path).ask(b"echo still\n", b"still\n");
    first.stop().unwrap();
}

#[test]
fn a_file_in_the_way_is_left_alone() {
    let (_folder, path) = folder();
    fs::write(&path, "precious").unwrap();
    let error = spawn(unix(&path, 0o700)).unwrap_err().to_string();
    assert!(error.contains("exists and is not a socket"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn a_socket_that_another_server_has_taken_over_is_not_removed() {
    let (_folder, path) = folder();
    let first = spawn(unix(&path, 0o700)).unwrap();
    fs::remove_file(&path).unwrap();
    let second = spawn(unix(&path, 0o700)).unwrap();
    first.stop().unwrap();
    Client::unix(&path).ask(b"echo mine\n", b"mine\n");
    second.stop().unwrap();
}
