// SPDX-License-Identifier: Apache-2.0
//! Logging in to the built server: by which flags, which protocols then have to, and the file of users, which is read
//! again. What is answered, byte by byte, is in the sessions of `protocol-memcache`.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "support/python.rs"]
mod python;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use test_support::client::Client;
use test_support::daemon::{Config, Daemon, run, text};
use test_support::memcached::Memcached;

const SEGCACHE: &str = env!("CARGO_BIN_EXE_segcache");
const UNAUTHENTICATED: &[u8] = b"CLIENT_ERROR unauthenticated\r\n";
const FAILURE: &[u8] = b"CLIENT_ERROR authentication failure\r\n";

/// A server's folder, with a file of users in it.
struct Place {
    config: Config,
    users: PathBuf,
}

impl Place {
    fn new(users: &str, memcache: &str) -> Self {
        let config = Config::empty();
        let file = config.folder().join("users");
        fs::write(&file, users).unwrap();
        let memcache = memcache.replace("FILE", file.to_str().unwrap());
        config.write(&format!("[server]\nport = 0\n[admin]\nenabled = false\n{memcache}"));
        Place { config, users: file }
    }

    /// A server with these flags, in which FILE is the file of users, and an environment that names it if `env`.
    fn start(&self, flags: &[&str], env: bool) -> Daemon {
        let users = self.users.to_str().unwrap();
        let flags = flags.iter().map(|flag| if *flag == "FILE" { users } else { flag });
        let mut command = Command::new(SEGCACHE);
        command.args(flags).arg(&self.config.file).env_remove("MEMCACHED_SASL_PWDB");
        if env {
            command.env("MEMCACHED_SASL_PWDB", users);
        }
        Daemon::spawn(&mut command)
    }
}

/// `set` with credentials.
fn login(credentials: &str) -> Vec<u8> {
    format!("set k 0 0 {}\r\n{credentials}\r\n", credentials.len()).into_bytes()
}

/// A request of the binary protocol and its reply, with a status and a text.
fn frame(magic: u8, opcode: u8, status: u8, key: &str, rest: &str) -> Vec<u8> {
    let mut bytes = vec![magic, opcode, 0, key.len() as u8, 0, 0, 0, status, 0, 0, 0];
    bytes.push((key.len() + rest.len()) as u8);
    bytes.resize(24, 0);
    [&bytes, key.as_bytes(), rest.as_bytes()].concat()
}

fn sasl(credentials: &str) -> Vec<u8> {
    frame(0x80, 0x21, 0, "PLAIN", credentials)
}

#[test]
fn the_flags_are_memcacheds() {
    let place = Place::new("user:password\nbob:secret\n", "");
    let text_login = |daemon: &mut Daemon, works: bool| {
        let mut client = Client::tcp(daemon.address());
        if works {
            client.ask(b"get k\r\n", UNAUTHENTICATED);
            client.ask(&login("bob secret"), b"STORED\r\n");
            client.ask(b"get k\r\n", b"END\r\n");
        } else {
            client.send(&login("bob secret"));
            assert_eq!(text(&client.rest_or_reset()), "", "text is not spoken");
        }
    };
    let binary_login = |daemon: &mut Daemon, works: bool| {
        let address = daemon.address();
        let mut client = Client::tcp(address);
        if works {
            client.ask(&sasl("\0user\0password"), &frame(0x81, 0x21, 0, "", "Authenticated"));
            client.ask(&frame(0x80, 0x0a, 0, "", ""), &frame(0x81, 0x0a, 0, "", ""));
            let mut client = Client::tcp(address);
            client
                .ask(&frame(0x80, 0x0a, 0, "", ""), &frame(0x81, 0x0a, 0x20, "", "Auth failure."));
            client.finish();
        } else {
            client.send(&sasl("\0user\0password"));
            assert!(!client.rest_or_reset().ends_with(b"Authenticated"));
        }
    };
    for (flags, env, by_text, by_sasl) in [
        (&["-Y", "FILE"][..], false, true, false),
        (&["-S", "-Y", "FILE"], false, true, true),
        (&["-S"], true, false, true),
        (&["-Y", "FILE", "-B", "auto"], false, true, true),
        (&["-Y", "FILE", "-B", "binary"], false, false, true),
    ] {
        let mut daemon = place.start(flags, env);
        text_login(&mut daemon, by_text);
        let mut daemon = place.start(flags, env);
        binary_login(&mut daemon, by_sasl);
    }
    let place = Place::new("user:password\nbob:secret\n", "[memcache]\nauth_file = \"FILE\"\n");
    for (flags, by_text) in [(&[][..], true), (&["-S"], false)] {
        text_login(&mut place.start(flags, false), by_text);
        binary_login(&mut place.start(flags, false), true);
    }
}

#[test]
fn a_server_without_users_does_not_start() {
    let place = Place::new("user:hidden\nbob\n", "");
    let (users, config) = (place.users.to_str().unwrap(), place.config.file.to_str().unwrap());
    let refused = |flags: &[&str], parts: &[&str]| {
        let output = run(SEGCACHE, flags);
        let message = text(&output.stderr);
        assert!(!output.status.success(), "{flags:?}");
        assert!(parts.iter().all(|part| message.contains(part)), "{flags:?}: {message}");
        assert!(!message.contains("hidden"), "what is in the file is not shown: {message}");
    };
    refused(&["-S", config], &["error: -S: ", "names no file", "-Y FILE"]);
    refused(&["-Y", users, config], &["error: -Y: ", users, "line 2: there is no ':'"]);
    refused(&["-Y", users, "--check-config", config], &["error: -Y: ", "line 2"]);
    refused(&["-Y", "/nowhere/users", config], &["error: -Y: ", "/nowhere/users", "No such file"]);
    fs::write(&place.users, "").unwrap();
    refused(&["-Y", users, config], &["there is no user"]);
    fs::write(&place.users, "u:p\n").unwrap();
    refused(&["-Y", users, "-U", "1", config], &["error: -U: ", "nobody can log in by datagrams"]);
    refused(&["-Y", users, "--resp-port", "1", config], &["error: [resp]: ", "no users in RESP"]);
}

#[test]
fn the_users_are_read_again() {
    let place = Place::new("old:one\n", "");
    let mut daemon = place.start(&["-Y", "FILE"], false);
    let address = daemon.address();
    let mut early = Client::tcp(address);
    early.ask(&login("old one"), b"STORED\r\n");

    fs::write(&place.users, "new:two\n").unwrap();
    daemon.signal("HUP");
    daemon.line("users are read anew");
    let mut client = Client::tcp(address);
    client.ask(&login("old one"), FAILURE);
    client.ask(&login("new two"), b"STORED\r\n");
    early.ask(b"get k\r\n", b"END\r\n");

    fs::write(&place.users, "new:two\nbroken\n").unwrap();
    daemon.signal("HUP");
    let problem = daemon.line("users stay as they are: ");
    assert!(problem.contains("users: line 2: there is no ':'"), "{problem}");
    Client::tcp(address).ask(&login("new two"), b"STORED\r\n");

    early.send(b"stats\r\n");
    let mut stats = String::new();
    while !stats.ends_with("END\r\n") {
        stats.push_str(&text(&early.take(1)));
    }
    assert!(stats.contains("STAT auth_cmds 4\r\nSTAT auth_errors 1\r\n"), "{stats}");
    early.send(b"stats settings\r\n");
    let mut settings = String::new();
    while !settings.ends_with("END\r\n") {
        settings.push_str(&text(&early.take(1)));
    }
    let file = place.users.display();
    let shown = format!("STAT auth_enabled_sasl no\r\nSTAT auth_enabled_ascii {file}\r\n");
    assert!(settings.contains(&shown), "{settings}");
}

#[test]
fn failures_are_logged_without_what_was_typed() {
    let place = Place::new("user:password\n", "");
    let mut daemon = place.start(&["-Y", "FILE"], false);
    let mut client = Client::tcp(daemon.address());
    for _ in 0..100 {
        client.ask(&login("password secret"), FAILURE);
    }
    daemon.line(" has failed to log in");
    daemon.signal("TERM");
    let (_, log) = daemon.end();
    assert!(!log.contains("secret") && !log.contains("password"), "{log}");
    assert!(log.lines().filter(|line| line.contains("failed to log in")).count() < 20, "{log}");
}

/// Any cut of what clients send is answered as the whole, as memcached does line by line.
#[test]
fn memcached_answers_the_same() {
    let Some(memcached) = Memcached::find() else { return };
    if !memcached.is_reference() {
        return memcached.not_compared("logging in");
    }
    let place = Place::new("user:password\nbob:secret\n", "");
    let (_child, theirs) = memcached.start(&["-Y", place.users.to_str().unwrap()]);
    let mut daemon = place.start(&["-Y", "FILE"], false);
    let ours = daemon.address();
    let lines: [&[u8]; 9] = [
        b"get a\r\n",
        b"stats\r\n",
        b"set k 0 0 10\r\nuser wrong\r\n",
        b"set k 0 0 4\r\nuser\r\n",
        b"set k 0 0 12\r\nuser secret\0\r\n",
        b"sets k x y 10 noreply\r\nbob secret\r\n",
        b"get k\r\n",
        b"\r\n",
        b"set k 0 0 10\r\nuser wrong\r\n",
    ];
    for piece in [1, 2, 3, 7, 100] {
        let mut both = [Client::tcp(theirs), Client::tcp(ours)];
        for line in lines {
            let [expected, told] = both.each_mut().map(|client| {
                line.chunks(piece).for_each(|part| client.send(part));
                let mut reply = Vec::new();
                while !reply.ends_with(b"\r\n") {
                    reply.extend(client.take(1));
                }
                text(&reply).to_string()
            });
            assert_eq!(told, expected, "{} in pieces of {piece}", line.escape_ascii());
        }
    }
}

#[test]
fn clients_log_in() {
    let Some(python) =
        python::python("pymemcache, bmemcached", "pymemcache and python-binary-memcached")
    else {
        return;
    };
    let place = Place::new("user:password\n", "[memcache]\nauth_file = \"FILE\"\n");
    let mut daemon = place.start(&[], false);
    let address = daemon.address().to_string();
    let told = python::transcript(&python, "with_login.py", &[&address, "user", "password"]);
    let expected =
        "before: b'unauthenticated'\nlogin: True\ntext: True b'value'\nsasl: True value\n";
    python::same("with_login.py", &told, expected);
}

/// libmemcached, by pylibmc: the client that most others are made of.
#[test]
fn libmemcached_logs_in() {
    let told = "pylibmc, built with SASL";
    let Some(python) = python::python("pylibmc; assert pylibmc.support_sasl", told) else { return };
    let has_plain = fs::read_dir("/usr/lib").unwrap().flatten();
    if !has_plain.map(|folder| folder.path().join("sasl2/libplain.so")).any(|plain| plain.exists())
    {
        return test_support::child::missing("SASL's PLAIN (apt-get install libsasl2-modules)");
    }
    let place = Place::new("user:password\n", "");
    for flags in [&["-S", "-Y", "FILE"][..], &["-Y", "FILE", "-B", "binary"]] {
        let mut daemon = place.start(flags, false);
        let address = daemon.address().to_string();
        let arguments = [&address[..], "user", "password"];
        let told = python::transcript(&python, "with_libmemcached_login.py", &arguments);
        let expected = "wrong: Error\nset: True\nget: v\nmulti: []\nget_multi: 100\nincr: 2\n";
        python::same("with_libmemcached_login.py", &told, expected);
    }
}
