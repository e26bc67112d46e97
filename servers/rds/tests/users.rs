// SPDX-License-Identifier: Apache-2.0
//! Users of a `redis.conf` and of an ACL file, at the built server.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use test_support::client::Client;
use test_support::daemon::{Config, Daemon, run, text};

const RDS: &str = env!("CARGO_BIN_EXE_rds");

/// A folder with a configuration file, in which FOLDER is the folder, and perhaps a file of users.
struct Place {
    folder: Config,
    conf: PathBuf,
    users: PathBuf,
}

impl Place {
    fn new(conf: &str, users: &str) -> Self {
        let folder = Config::empty();
        let path = |name: &str| folder.folder().join(name);
        let (file, list) = (path("redis.conf"), path("users.acl"));
        let conf = conf.replace("FOLDER", folder.folder().to_str().unwrap());
        fs::write(&file, format!("port 0\n{conf}")).unwrap();
        fs::write(&list, users).unwrap();
        Place { folder, conf: file, users: list }
    }

    fn start(&self) -> Daemon {
        Daemon::spawn(Command::new(RDS).arg(&self.conf).args(["--admin-port", "0"]))
    }

    fn refusal(&self) -> String {
        let output = run(RDS, &[self.conf.to_str().unwrap()]);
        assert!(!output.status.success());
        text(&output.stderr)
    }
}

fn ask(client: &mut Client, request: &str, reply: &str) {
    client.ask(format!("{request}\r\n").as_bytes(), format!("{reply}\r\n").as_bytes());
}

const NO_KEY: &str = "-NOPERM No permissions to access a key";

#[test]
fn users_of_a_configuration_file_log_in() {
    let place = Place::new(
        "user alice on >pw ~a* +get +set\nuser default off\nuser bob on nopass +ping",
        "",
    );
    let mut server = place.start();
    let mut client = Client::tcp(server.address());
    ask(&mut client, "GET a", "-NOAUTH Authentication required.");
    ask(
        &mut client,
        "AUTH alice no",
        "-WRONGPASS invalid username-password pair or user is disabled.",
    );
    ask(&mut client, "AUTH alice pw", "+OK");
    ask(&mut client, "SET a1 1", "+OK");
    ask(&mut client, "GET b", NO_KEY);
    ask(&mut client, "AUTH bob any", "+OK");
    ask(&mut client, "PING", "+PONG");
    ask(&mut client, "GET a1", "-NOPERM User bob has no permissions to run the 'get' command");
}

#[test]
fn a_file_of_users_is_read_again_and_written() {
    let all = "user default on nopass ~* &* +@all\n";
    let place =
        Place::new("aclfile FOLDER/users.acl", &format!("{all}user alice on nopass ~a +get\n"));
    let mut server = place.start();
    let address = server.address();
    let (mut admin, mut alice) = (Client::tcp(address), Client::tcp(address));
    ask(&mut alice, "AUTH alice x", "+OK");
    ask(&mut alice, "GET b", NO_KEY);
    fs::write(&place.users, format!("{all}user alice on nopass ~b +get\n")).unwrap();
    ask(&mut admin, "ACL LOAD", "+OK");
    ask(&mut alice, "GET b", "$-1");
    ask(&mut alice, "GET a", NO_KEY);
    fs::write(&place.users, format!("{all}user alice on blah\n")).unwrap();
    admin.send(b"ACL LOAD\r\n");
    let told = format!(
        "-ERR {}:2: Syntax error. WARNING: ACL errors detected, no change to the previously active ACL rules was \
         performed\r\n",
        place.users.display()
    );
    admin.expect(told.as_bytes());
    ask(&mut alice, "GET b", "$-1");
    ask(&mut admin, "ACL SETUSER bob on +get", "+OK");
    ask(&mut admin, "ACL SAVE", "+OK");
    let written = fs::read_to_string(&place.users).unwrap();
    assert_eq!(
        written,
        format!(
            "user alice on nopass ~b resetchannels -@all +get\nuser bob on resetchannels -@all +get\n{all}"
        )
    );
    assert_eq!(
        fs::read_dir(place.folder.folder()).unwrap().count(),
        2,
        "nothing half written is left"
    );
    fs::write(&place.users, all).unwrap();
    ask(&mut admin, "ACL LOAD", "+OK");
    assert!(alice.rest().is_empty(), "the user is gone");
}

#[test]
fn a_file_of_users_is_looked_for_in_the_folder_of_data() {
    let all = "user default on nopass ~* &* +@all\nuser alice on nopass +ping\n";
    let place = Place::new("aclfile users.acl\ndir FOLDER\n", all);
    let mut server = place.start();
    let mut client = Client::tcp(server.address());
    ask(&mut client, "ACL SETUSER bob on", "+OK");
    ask(&mut client, "ACL SAVE", "+OK");
    ask(&mut client, "AUTH alice any", "+OK");
    ask(&mut client, "PING", "+PONG");
    assert!(fs::read_to_string(&place.users).unwrap().contains("user bob on"));
}

/// Otherwise anybody could fill the memory with errors.
#[test]
fn who_has_not_logged_in_reads_its_replies_or_is_closed() {
    const MOST: usize = 256 << 20;
    let place = Place::new("requirepass secret", "");
    let mut server = place.start();
    let address = server.address();
    let mut deaf = TcpStream::connect(address).unwrap();
    let requests = b"PING\r\n".repeat(10_000);
    let mut sent = 0;
    while deaf.write_all(&requests).is_ok() {
        sent += requests.len();
        assert!(sent < MOST, "it is still there after {sent} bytes");
    }
    let mut client = Client::tcp(address);
    ask(&mut client, "PING", "-NOAUTH Authentication required.");
    ask(&mut client, "AUTH secret", "+OK");
    ask(&mut client, "PING", "+PONG");
}

#[test]
fn what_is_wrong_is_told_at_the_start() {
    let refusal = Place::new("user alice on blah", "").refusal();
    assert!(refusal.contains("redis.conf:2: user \"alice on blah\": Syntax error"), "{refusal}");
    let refusal =
        Place::new("aclfile FOLDER/users.acl", "user alice on\nuser alice on\n").refusal();
    assert!(refusal.contains("users.acl:2: Duplicate user 'alice' found"), "{refusal}");
    let refusal = Place::new("aclfile /nowhere/acl", "").refusal();
    assert!(refusal.contains("cannot read /nowhere/acl"), "{refusal}");
}
