// SPDX-License-Identifier: Apache-2.0
//! CONFIG REWRITE at the built server: what it writes, a new server begins with.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use test_support::child::{missing, redis_at};
use test_support::client::Client;
use test_support::daemon::{Config, Daemon};

const RDS: &str = env!("CARGO_BIN_EXE_rds");

/// What Debian's `redis.conf` and its users have: names for addresses, units, several lines of a parameter, comments, and
/// what has no effect here.
const CONF: &str = "# Mine.\nport 0\nbind 127.0.0.1 -::1\n\nmaxmemory 100mb\nmaxmemory-policy noeviction\nsave 900 1\n\
                    save 300 10\nclient-output-buffer-limit pubsub 32mb 8mb 60\nrepl-diskless-sync-delay 5\n\
                    hash-max-ziplist-entries 512\ntimeout 0\nlogfile \"\"\n";

fn start(conf: &Path) -> Daemon {
    Daemon::spawn(Command::new(RDS).arg(conf).args(["--admin-port", "0"]))
}

fn file(name: &str, text: &str) -> (Config, PathBuf) {
    let folder = Config::empty();
    let path = folder.folder().join(name);
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn ask(client: &mut Client, request: &str, reply: &str) {
    client.ask(format!("{request}\r\n").as_bytes(), format!("{reply}\r\n").as_bytes());
}

/// All parameters but `save`, which has no effect when the server starts, and their values.
fn parameters(client: &mut Client) -> Vec<[String; 2]> {
    let all = list(client, "CONFIG GET *");
    let pairs = all.chunks(2).map(|pair| [pair[0].clone(), pair[1].clone()]);
    pairs.filter(|[name, _]| name != "save").collect()
}

/// The lines of a reply that is an array of strings.
fn list(client: &mut Client, request: &str) -> Vec<String> {
    client.send(format!("{request}\r\n").as_bytes());
    let len: usize = client.line()[1..].parse().unwrap();
    let mut lines = Vec::new();
    for _ in 0..len {
        let len: usize = client.line()[1..].parse().unwrap();
        lines.push(String::from_utf8(client.take(len)).unwrap());
        client.take(2);
    }
    lines
}

#[test]
fn a_file_that_says_it_all_stays_as_it_is() {
    let (_folder, conf) = file("redis.conf", CONF);
    let mut server = start(&conf);
    let mut client = Client::tcp(server.address());
    ask(&mut client, "CONFIG REWRITE", "+OK");
    assert_eq!(fs::read_to_string(&conf).unwrap(), CONF);
}

#[test]
fn a_new_server_begins_with_what_was_in_force() {
    let (folder, conf) = file("redis.conf", CONF);
    let linked = folder.folder().join("link.conf");
    symlink(&conf, &linked).unwrap();
    fs::set_permissions(&conf, Permissions::from_mode(0o640)).unwrap();
    let mut server = start(&linked);
    let mut client = Client::tcp(server.address());
    for change in [
        "maxmemory 200mb maxmemory-policy allkeys-lfu",
        "requirepass \"a \\\"secret\\\" \\x01\"",
        "client-output-buffer-limit \"pubsub 1mb 0 0 normal 5gb 1gb 10\"",
        "save \"5 6 7 8\" notify-keyspace-events KEA hz 50",
        "latency-tracking-info-percentiles \"50 99.5\" shutdown-on-sigterm \"nosave now\"",
    ] {
        ask(&mut client, &format!("CONFIG SET {change}"), "+OK");
    }
    ask(&mut client, "ACL SETUSER ann on >pw ~a* %R~b* +@read -get (+set ~c)", "+OK");
    let all = parameters(&mut client);
    let users = list(&mut client, "ACL LIST");
    ask(&mut client, "CONFIG REWRITE", "+OK");
    let text = fs::read_to_string(&conf).unwrap();
    ask(&mut client, "CONFIG REWRITE", "+OK");
    assert_eq!(fs::read_to_string(&conf).unwrap(), text, "a second time changes nothing");
    assert!(
        text.starts_with("# Mine.\nport 0\nbind 127.0.0.1 -::1\n\nmaxmemory 200mb\n"),
        "{text}"
    );
    assert_eq!(text.matches("\nsave ").count(), 2, "{text}");
    assert!(fs::symlink_metadata(&linked).unwrap().is_symlink());
    assert_eq!(fs::metadata(&conf).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(folder.folder()).unwrap().count(), 2, "nothing is left behind");
    drop(server);

    let mut server = start(&conf);
    let mut client = Client::tcp(server.address());
    ask(&mut client, "AUTH \"a \\\"secret\\\" \\x01\"", "+OK");
    assert_eq!(list(&mut client, "ACL LIST"), users);
    assert_eq!(parameters(&mut client), all);
}

#[test]
fn redis_begins_with_it_too() {
    let (folder, conf) = file("redis.conf", CONF);
    let mut server = start(&conf);
    let mut client = Client::tcp(server.address());
    for change in [
        "maxmemory 200mb maxmemory-policy allkeys-lfu zset-max-listpack-entries 5",
        "client-output-buffer-limit \"pubsub 1mb 0 0 normal 5gb 1gb 10\"",
        "save \"5000 6 7000 8\" notify-keyspace-events KEA shutdown-on-sigterm \"nosave now\"",
    ] {
        ask(&mut client, &format!("CONFIG SET {change}"), "+OK");
    }
    ask(&mut client, "ACL SETUSER ann on >pw ~a* %R~b* +@read -get (+set ~c)", "+OK");
    ask(&mut client, "CONFIG REWRITE", "+OK");
    let values = |client: &mut Client| {
        let names =
            "maxmemory* zset-max-listpack-entries client-output* save notify* shutdown-on-sigterm";
        let all = list(client, &format!("CONFIG GET {names}"));
        let mut pairs: Vec<(String, String)> =
            all.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
        pairs.sort();
        pairs
    };
    let ours = values(&mut client);
    let Some(_redis) = redis_at(folder.folder(), "socket", &["--include", conf.to_str().unwrap()])
    else {
        return missing("redis-server");
    };
    let mut redis = Client::unix(&folder.folder().join("socket"));
    let theirs = values(&mut redis);
    assert_eq!(theirs, ours);
    ask(&mut redis, "AUTH ann pw", "+OK");
}

#[test]
fn what_cannot_be_written_is_told() {
    let (folder, conf) = file("redis.conf", "port 0\n");
    let mut server = start(&conf);
    let mut client = Client::tcp(server.address());
    fs::remove_file(&conf).unwrap();
    ask(&mut client, "CONFIG SET maxmemory 1gb", "+OK");
    ask(&mut client, "CONFIG REWRITE", "+OK");
    let text = fs::read_to_string(&conf).unwrap();
    assert!(text.contains("# Generated by CONFIG REWRITE\nmaxmemory 1gb\n"), "{text}");
    fs::remove_dir_all(folder.folder()).unwrap();
    let told = "-ERR Rewriting config file: No such file or directory";
    ask(&mut client, "CONFIG REWRITE", told);
    drop(server);

    let (_folder, conf) = file("rds.toml", "[server]\nport = 0\n[redis]\nhz = 20\n");
    let mut server = start(&conf);
    let mut client = Client::tcp(server.address());
    let told = "-ERR Rewriting config file: it is no redis.conf, people write it";
    ask(&mut client, "CONFIG REWRITE", told);
    drop(server);

    let mut server = Daemon::spawn(Command::new(RDS).args(["--port", "0", "--admin-port", "0"]));
    let mut client = Client::tcp(server.address());
    ask(&mut client, "CONFIG REWRITE", "-ERR The server is running without a config file");
}
