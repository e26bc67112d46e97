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

#[test]
fn what_a_file_of_users_says_of_the_default_user_counts() {
    for password in ["\"\"", "other"] {
        let conf = format!("aclfile FOLDER/users.acl\nrequirepass {password}\n");
        let place = Place::new(&conf, "user default on >secret ~* &* +@all\n");
        let mut server = place.start();
        let mut client = Client::tcp(server.address());
        ask(&mut client, "GET a", "-NOAUTH Authentication required.");
        let wrong = "-WRONGPASS invalid username-password pair or user is disabled.";
        ask(&mut client, "AUTH other", wrong);
        ask(&mut client, "AUTH secret", "+OK");
    }
}

#[test]
fn users_are_in_one_file() {
    let place = Place::new("aclfile FOLDER/users.acl\nuser bob on nopass +ping", "");
    assert!(place.refusal().contains("users are defined in the configuration and in an aclfile"));
}

#[test]
fn what_is_protected_is_refused_before_it_is_queued_and_before_who_asks_is_known() {
    const REFUSED: &str = "-ERR DEBUG command not allowed. If the enable-debug-command option is set to \
        \"local\", you can run it from a local connection, otherwise you need to set this option in the \
        configuration file, and then restart the server.";
    let place = Place::new("requirepass pw", "");
    let mut server = place.start();
    let mut client = Client::tcp(server.address());
    ask(&mut client, "DEBUG SLEEP 0", REFUSED);
    ask(&mut client, "GET a", "-NOAUTH Authentication required.");
    ask(&mut client, "AUTH pw", "+OK");
    ask(&mut client, "MULTI", "+OK");
    ask(&mut client, "DEBUG SLEEP 0", REFUSED);
    ask(&mut client, "EXEC", "-EXECABORT Transaction discarded because of previous errors.");
}

#[test]
fn who_need_not_log_in_any_more_sends_large_requests() {
    let place = Place::new("requirepass pw", "");
    let mut server = place.start();
    let address = server.address();
    let mut guest = Client::tcp(address);
    ask(&mut guest, "GET a", "-NOAUTH Authentication required.");
    let mut client = Client::tcp(address);
    ask(&mut client, "AUTH pw", "+OK");
    ask(&mut client, "CONFIG SET requirepass \"\"", "+OK");
    ask(&mut guest, "GET a", "$-1");
    let keys =
        |count: usize| format!("*{}\r\n$3\r\nDEL\r\n{}", count + 1, "$1\r\nk\r\n".repeat(count));
    guest.ask(keys(100).as_bytes(), b":0\r\n");
    // And no more once there is a password again.
    ask(&mut client, "CONFIG SET requirepass pw", "+OK");
    ask(&mut guest, "GET a", "-NOAUTH Authentication required.");
    guest.ask(keys(100).as_bytes(), b"-ERR Protocol error: unauthenticated multibulk length\r\n");
}

#[test]
fn patterns_of_sort_need_rights_to_all_keys_where_sort_is_allowed() {
    let place = Place::new("", "");
    let mut server = place.start();
    let address = server.address();
    let mut client = Client::tcp(address);
    ask(&mut client, "RPUSH list:x 1", ":1");
    ask(&mut client, "SET secret:1 s", "+OK");
    let denied = "-ERR GET option of SORT denied due to insufficient ACL permissions.";
    for (rules, is_allowed) in [("~list:* +sort (~* +type)", false), ("+ping (~* +sort)", true)] {
        ask(&mut client, &format!("ACL SETUSER a reset on nopass {rules}"), "+OK");
        let mut user = Client::tcp(address);
        ask(&mut user, "AUTH a x", "+OK");
        let reply = if is_allowed { "*1\r\n$1\r\ns" } else { denied };
        ask(&mut user, "SORT list:x BY nosort GET secret:*", reply);
    }
    let refused = "-ERR Usernames can't contain spaces or null characters";
    ask(&mut client, "ACL SETUSER \"a\\x0bb\" on", refused);
}
