// SPDX-License-Identifier: Apache-2.0
//! SASL logins to memcached and to the built server, compared frame by frame: those that succeed, too, for which
//! memcached gets a database of users of libsasl.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs;
use std::io::Write;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use test_support::child;
use test_support::client::Client;
use test_support::daemon::{Config, Daemon};
use test_support::memcached::Memcached;

const GOOD: &str = "\0user\0password";
const BAD: &str = "\0user\0wrong";

#[derive(Clone, Copy)]
struct Frame {
    opcode: u8,
    extras: &'static [u8],
    key: &'static str,
    value: &'static str,
}

impl Frame {
    const fn of(opcode: u8, key: &'static str, value: &'static str) -> Self {
        Frame { opcode, extras: &[], key, value }
    }

    fn bytes(&self) -> Vec<u8> {
        let body = [self.extras, self.key.as_bytes(), self.value.as_bytes()].concat();
        let mut bytes = vec![0x80, self.opcode, 0, self.key.len() as u8, self.extras.len() as u8];
        bytes.resize(11, 0);
        bytes.push(body.len() as u8);
        bytes.extend(7_u32.to_be_bytes());
        bytes.extend([0; 8]);
        [bytes, body].concat()
    }
}

const GET: Frame = Frame::of(0x00, "k", "");
const SET: Frame = Frame { opcode: 0x01, extras: &[0; 8], key: "k", value: "v" };
const NOOP: Frame = Frame::of(0x0a, "", "");
const STAT: Frame = Frame::of(0x10, "", "");
const TOUCH: Frame = Frame { opcode: 0x1c, extras: &[0; 4], key: "k", value: "" };
const LIST: Frame = Frame::of(0x20, "", "");
const fn auth(credentials: &'static str) -> Frame {
    Frame::of(0x21, "PLAIN", credentials)
}
const fn step(credentials: &'static str) -> Frame {
    Frame::of(0x22, "PLAIN", credentials)
}

/// Each on a connection of its own.
const CONVERSATIONS: &[&[Frame]] = &[
    &[auth(GOOD), GET, SET, GET, NOOP],
    &[auth(BAD), GET],
    &[auth(BAD), auth(GOOD), GET],
    &[auth(GOOD), auth(BAD), GET],
    &[auth("user\0user\0password"), GET],
    &[auth("other\0user\0password"), GET],
    &[auth("user\0password")],
    &[auth("\0user\0")],
    &[auth("\0user\0password\0"), GET],
    &[auth(""), step(GOOD), GET],
    &[auth(""), step(BAD), GET],
    &[auth(""), auth(""), step(GOOD), GET],
    &[Frame::of(0x21, "plain", GOOD), GET],
    &[Frame::of(0x21, "NOPE", GOOD), LIST],
    &[Frame::of(0x21, "CRAM-MD5", ""), auth(GOOD), GET],
    &[Frame::of(0x21, "", GOOD)],
    &[LIST, LIST, auth(GOOD), GET],
    &[Frame::of(0x20, "k", "")],
    &[NOOP],
    &[SET],
    &[TOUCH],
    &[STAT],
];

/// What the server answers to each frame before the next is sent.
fn replies(server: SocketAddr, frames: &[Frame]) -> Vec<Vec<u8>> {
    let mut client = Client::tcp(server);
    let mut reply = |frame: &Frame| {
        client.send(&frame.bytes());
        let mut reply = client.take(24);
        // The CAS of a value is each server's own.
        reply[16..].fill(0);
        let body = u32::from_be_bytes(reply[8..12].try_into().unwrap());
        reply.extend(client.take(body as usize));
        reply
    };
    frames.iter().map(&mut reply).collect()
}

/// A folder with the same user for both servers: memcached's SASL database with its configuration, and our file
/// of passwords.
fn users() -> Option<Config> {
    let place = Config::empty();
    let file = |name: &str| place.folder().join(name).to_str().unwrap().to_owned();
    fs::write(file("users"), "user:password\n").unwrap();
    let database = file("sasldb");
    fs::write(
        file("memcached.conf"),
        format!(
            "mech_list: plain\npwcheck_method: auxprop\nauxprop_plugin: sasldb\nsasldb_path: {database}\n"
        ),
    )
    .unwrap();
    let mut command = Command::new("saslpasswd2");
    command.args(["-p", "-f", &database, "-a", "memcached", "-c", "user"]).stdin(Stdio::piped());
    let Ok(mut program) = command.spawn() else {
        child::missing("saslpasswd2 (apt-get install sasl2-bin)");
        return None;
    };
    program.stdin.take().unwrap().write_all(b"password").unwrap();
    assert!(program.wait().unwrap().success(), "saslpasswd2");
    place.write("[server]\nport = 0\n[admin]\nenabled = false\n");
    Some(place)
}

#[test]
fn memcached_logs_in_the_same() {
    let (Some(memcached), Some(place)) = (Memcached::find(), users()) else { return };
    let (_memcached, theirs) = child::at_free_port(|port| {
        let mut command = memcached.command(port);
        command.arg("-S").env("SASL_CONF_PATH", place.folder());
        command
    })
    .expect("memcached starts with SASL");
    let users = place.folder().join("users");
    let mut server = Command::new(env!("CARGO_BIN_EXE_segcache"));
    let mut server = Daemon::spawn(server.args(["-S", "-Y"]).arg(users).arg(&place.file));
    let ours = server.address();
    for (number, frames) in CONVERSATIONS.iter().enumerate() {
        let expected = replies(theirs, frames);
        assert_eq!(replies(ours, frames), expected, "conversation {number}");
        // Were nobody known to memcached, everything would be refused alike.
        if number == 0 {
            assert_eq!(expected[0].get(24..), Some(&b"Authenticated"[..]), "memcached's users");
        }
    }
}
