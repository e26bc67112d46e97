// SPDX-License-Identifier: Apache-2.0
//! The command line of the built server: Redis's flags, with a TOML file or a `redis.conf`.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use rustls::version::TLS13;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Output};
use test_support::certificates::Certificates;
use test_support::child::free_port;
use test_support::client::Client;
use test_support::daemon::{Config, Daemon, run, text};
use test_support::manager::Manager;
use test_support::{http, wait_until};

const RDS: &str = env!("CARGO_BIN_EXE_rds");

/// Ports of the system's choice.
const FREE: [&str; 4] = ["--port", "0", "--admin-port", "0"];

/// Starts the server with `flags` on free ports.
fn start(flags: &[&str]) -> Daemon {
    Daemon::spawn(Command::new(RDS).args(flags).args(FREE))
}

/// A file of this name and text, in a folder of its own.
fn file(name: &str, text: &str) -> (Config, PathBuf) {
    let folder = Config::empty();
    let path = folder.folder().join(name);
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

/// The reply to a request, which is one line.
fn ask(client: &mut Client, request: &str, reply: &str) {
    client.ask(format!("{request}\r\n").as_bytes(), format!("{reply}\r\n").as_bytes());
}

/// The reply to a request, which is a bulk string.
fn bulk(client: &mut Client, request: &str) -> String {
    client.send(format!("{request}\r\n").as_bytes());
    let len: usize = client.line()[1..].parse().unwrap();
    let body = text(&client.take(len));
    client.take(2);
    body
}

fn refused(output: &Output, parts: &[&str]) {
    let message = text(&output.stderr);
    assert!(!output.status.success(), "{parts:?} is accepted");
    for part in parts {
        assert!(message.contains(part), "without {part:?}: {message}");
    }
}

#[test]
fn a_redis_conf_becomes_a_file_of_ours() {
    let lines = "port 7000\nmaxmemory 1gb\nmaxmemory-policy allkeys-lru\nio-threads 4\n";
    let (_folder, path) = file("redis.conf", lines);
    let output = run(RDS, &[path.to_str().unwrap(), "--maxclients", "5", "--print-config"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    for line in [
        "listen = [\"notls:127.0.0.1:7000\"]\n",
        "max_connections = 5\n",
        "threads = 4\n",
        "maxmemory = 1073741824\n",
        "maxmemory-policy = \"allkeys-lru\"\n",
    ] {
        assert!(printed.contains(line), "{line} is not in\n{printed}");
    }
    assert_eq!(text(&output.stderr), "");

    let (_folder, again) = file("rds.toml", &printed);
    let output = run(RDS, &[again.to_str().unwrap(), "--print-config"]);
    assert_eq!(text(&output.stdout), printed);
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn help_and_version_are_told() {
    for flag in ["-h", "--help"] {
        let help = text(&run(RDS, &[flag]).stdout);
        assert!(help.starts_with("A Redis replacement for caching\n"), "{help}");
        for flag in ["--port <", "--maxmemory <", "--requirepass <", "--check-config"] {
            assert!(help.contains(flag), "{flag} is not in\n{help}");
        }
    }
    for flag in ["-v", "-V", "--version"] {
        let version = concat!("rds ", env!("CARGO_PKG_VERSION"), "\n");
        assert_eq!(text(&run(RDS, &[flag]).stdout), version);
    }
}

#[test]
fn bad_values_are_refused_with_a_reason() {
    let flags: &[(&[&str], &[&str])] = &[
        (&["--port", "x"], &["the command line: port \"x\"", "into an integer"]),
        (&["--maxmemory", "lots"], &["maxmemory \"lots\"", "a memory value"]),
        (&["--appendonly", "yes"], &["appendonly \"yes\"", "keeps nothing on disk"]),
        (&["--maxmemory-policy", "lru"], &["one of the following: volatile-lru"]),
        (&["--tls-port", "1"], &["tls-port \"1\"", "tls-cert-file"]),
        (&["--tls-port", "1", "--tls-auth-clients", "no"], &["tls-key-file"]),
        (&["--nonsense", "1"], &["--nonsense"]),
        (&["/nowhere/redis.conf"], &["/nowhere/redis.conf", "No such file"]),
        (&["/nowhere/rds.toml"], &["/nowhere/rds.toml", "No such file"]),
    ];
    for (flags, parts) in flags {
        refused(&run(RDS, flags), parts);
    }
    let (_folder, path) = file("redis.conf", "maxmemory 1gb\nmaxclients none\n");
    let output = run(RDS, &["--check-config", path.to_str().unwrap()]);
    refused(&output, &["redis.conf:2: maxclients \"none\"", "into an integer"]);
    let (_folder, path) = file("rds.toml", "[redis]\nmaxmemry = 1\n");
    let output = run(RDS, &["--check-config", path.to_str().unwrap()]);
    refused(&output, &["rds.toml:2:1", "maxmemry is no parameter of Redis"]);
}

#[test]
fn a_configuration_is_checked_without_a_start() {
    let (_folder, path) = file("redis.conf", "maxmemory 1gb\n");
    let path = path.to_str().unwrap();
    let output = run(RDS, &["--check-config", path]);
    assert_eq!(text(&output.stdout), format!("{path}: ok\n"));
    assert!(output.status.success());
}

#[test]
fn the_packaged_configuration_says_the_defaults() {
    let printed = |path: &str| {
        let output = run(RDS, &["--print-config", path]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).to_owned()
    };
    let (_folder, empty) = file("rds.toml", "");
    let packaged = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/config/rds.toml");
    assert_eq!(printed(packaged), printed(empty.to_str().unwrap()));
}

#[test]
fn it_serves_until_it_is_told_to_shut_down() {
    for threads in ["1", "3"] {
        let mut daemon = start(&["--io-threads", threads]);
        let address = daemon.address();
        let mut clients: Vec<_> = (0..6).map(|_| Client::tcp(address)).collect();
        ask(&mut clients[0], "SET key value", "+OK");
        for client in &mut clients {
            client.ask(b"GET key\r\n", b"$5\r\nvalue\r\n");
        }
        clients[1].send(b"SHUTDOWN NOSAVE\r\n");
        assert_eq!(clients[1].rest(), b"");
        assert_eq!(clients[2].rest(), b"");
        assert!(daemon.end().0.success(), "{threads} threads");
    }
}

#[test]
fn the_service_manager_hears_of_a_shutdown_by_a_client() {
    let folder = Config::empty();
    let manager = Manager::new(folder.folder());
    let mut daemon = Daemon::spawn(manager.manage(Command::new(RDS).args(FREE)));
    assert_eq!(manager.told(), "READY=1");
    let mut client = Client::tcp(daemon.address());
    client.send(b"SHUTDOWN\r\n");
    assert_eq!(manager.told(), "STOPPING=1");
    assert!(daemon.end().0.success());
}

#[test]
fn it_listens_where_it_is_told() {
    let folder = Config::empty();
    let path = folder.folder().join("socket");
    let socket = path.to_str().unwrap();
    let mut daemon = start(&["--unixsocket", socket, "--unixsocketperm", "770"]);
    daemon.line("listening on unix:");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o770);
    ask(&mut Client::unix(&path), "PING", "+PONG");
    daemon.signal("TERM");
    assert!(daemon.end().0.success());
    assert!(!path.exists(), "it takes its socket away");
}

#[test]
fn tls_is_spoken_on_a_port_of_its_own() {
    let folder = Config::empty();
    let certificates = Certificates::new(folder.folder());
    let paths = ["server.pem", "server.key", "ca.pem"].map(|name| certificates.path(name));
    let [chain, key, ca] = paths.each_ref().map(|path| path.to_str().unwrap());
    // The system chooses no port for TLS: 0 is none.
    let port = free_port().to_string();
    let flags = ["--tls-port", &port, "--tls-cert-file", chain, "--tls-key-file", key];
    let flags = [&flags[..], &["--tls-ca-cert-file", ca]].concat();
    let mut daemon = start(&flags);
    let address = daemon.address();
    let mut client = Client::tls(address, certificates.client(&TLS13, true));
    ask(&mut client, "PING", "+PONG");
    client.ask(
        b"CONFIG GET tls-port\r\n",
        format!("*2\r\n$8\r\ntls-port\r\n${}\r\n{port}\r\n", port.len()).as_bytes(),
    );
    let told = |client: &mut Client, name: &str| {
        let info = bulk(client, "INFO tls");
        let value = info.lines().find_map(|line| line.strip_prefix(&format!("{name}:")));
        value.unwrap_or_else(|| panic!("{name} in {info}")).to_owned()
    };
    let serials = ["server", "client", "ca"].map(|role| format!("tls_{role}_cert_serial"));
    let [server, own, authority] = serials.each_ref().map(|name| told(&mut client, name));
    assert!(server.len() > 8 && server != authority && own == "none", "{server} {authority}");
    let left = told(&mut client, "tls_server_cert_expires_in_seconds");
    assert!(left.parse::<u64>().unwrap() > 1_000_000_000, "the generator's are for long: {left}");
    // The numbers are those of the certificates in use.
    certificates.renew();
    daemon.signal("HUP");
    let is_new = |client: &mut Client| told(client, &serials[0]) != server;
    while !is_new(&mut client) {
        std::thread::yield_now();
    }
    assert_eq!(told(&mut client, &serials[2]), authority);
}

#[test]
fn info_tells_the_engine_and_where_clients_connect() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let port = free_port().to_string();
    let socket = path.to_str().unwrap();
    for engine in ["epoll", "io_uring"] {
        let flags = ["--port", &port, "--unixsocket", socket, "--engine", engine];
        let mut daemon = Daemon::spawn(Command::new(RDS).args(flags).args(["--admin-port", "0"]));
        let info = bulk(&mut Client::tcp(daemon.address()), "INFO server");
        for line in [
            format!("multiplexing_api:{engine}"),
            format!("listener0:name=tcp,bind=127.0.0.1,port={port}"),
            format!("listener1:name=unix,bind={socket}"),
        ] {
            assert!(info.contains(&format!("{line}\r\n")), "{line}: {info}");
        }
        assert!(!info.contains("listener2"), "{info}");
    }
}

#[test]
fn limits_change_while_it_runs() {
    let mut daemon = start(&["--maxclients", "1"]);
    let address = daemon.address();
    let mut first = Client::tcp(address);
    ask(&mut first, "PING", "+PONG");
    let refusal = b"-ERR max number of clients reached\r\n";
    assert_eq!(Client::tcp(address).rest(), refusal);
    ask(&mut first, "CONFIG SET maxclients 2", "+OK");
    let mut second = Client::tcp(address);
    ask(&mut second, "PING", "+PONG");
    assert_eq!(Client::tcp(address).rest(), refusal);
    assert!(bulk(&mut first, "INFO stats").contains("rejected_connections:2\r\n"));
    assert!(bulk(&mut first, "INFO clients").contains("maxclients:2\r\n"));
    ask(&mut first, "CONFIG SET timeout 1", "+OK");
    assert_eq!(second.rest(), b"", "the idle one is closed");
}

#[test]
fn memory_is_kept_within_its_limit_by_the_policy() {
    let mut daemon = start(&["--maxmemory", "4mb"]);
    let mut client = Client::tcp(daemon.address());
    let value = "x".repeat(100_000);
    let set = |n: usize| {
        let key = format!("key:{n}");
        let len = (key.len(), value.len());
        format!("*3\r\n$3\r\nSET\r\n${}\r\n{key}\r\n${}\r\n{value}\r\n", len.0, len.1)
    };
    for n in 0.. {
        client.send(set(n).as_bytes());
        match client.take(1)[0] {
            b'+' => client.expect(b"OK\r\n"),
            _ => {
                let oom = "OOM command not allowed when used memory > 'maxmemory'.\r\n";
                client.expect(oom.as_bytes());
                break;
            }
        }
        assert!(n < 60, "there is no end to it");
    }
    ask(&mut client, "CONFIG SET maxmemory-policy allkeys-lru", "+OK");
    for n in 100..200 {
        client.ask(set(n).as_bytes(), b"+OK\r\n");
    }
    let info = bulk(&mut client, "INFO");
    let number = |name: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(&format!("{name}:")));
        line.unwrap_or_else(|| panic!("{name} in {info}")).parse::<u64>().unwrap()
    };
    assert!(number("used_memory") <= 4 << 20 && number("used_memory_peak") < 5 << 20);
    assert!(number("evicted_keys") > 50);
    assert!(info.contains("maxmemory_policy:allkeys-lru\r\n"));
    assert!(info.contains("mem_allocator:jemalloc-5."));
}

#[test]
fn a_password_is_asked_for_and_shown_to_nobody() {
    let (_folder, path) = file("redis.conf", "requirepass \"top secret\"\ndatabases 4\n");
    let mut daemon = start(&[path.to_str().unwrap()]);
    let mut client = Client::tcp(daemon.address());
    ask(&mut client, "GET key", "-NOAUTH Authentication required.");
    ask(&mut client, "AUTH \"top secret\"", "+OK");
    ask(&mut client, "SELECT 3", "+OK");
    ask(&mut client, "SELECT 4", "-ERR DB index is out of range");
    let admin = daemon.admin();
    let (status, body) = http::get(admin, "/config");
    assert_eq!(status, 200);
    assert!(body.contains("databases = 4") && !body.contains("secret"), "{body}");
    let info = bulk(&mut client, "INFO server");
    assert!(info.contains(&format!("config_file:{}\r\n", path.display())), "{info}");
}

#[test]
fn rates_and_resident_memory_come_with_time() {
    let mut daemon = start(&[]);
    let mut client = Client::tcp(daemon.address());
    wait_until("there is a rate", || {
        ask(&mut client, "PING", "+PONG");
        let info = bulk(&mut client, "INFO");
        let has = |name: &str| !info.contains(&format!("{name}:0\r\n"));
        has("instantaneous_ops_per_sec") && has("used_memory_rss") && has("total_net_input_bytes")
    });
    ask(&mut client, "SET key value EX 100", "+OK");
    let admin = daemon.admin();
    wait_until("it is on the admin plane", || {
        ["shoebill_keys{db=\"0\"}", "shoebill_keys_volatile{db=\"0\"}"]
            .iter()
            .all(|name| http::metric(admin, name) == 1.0)
    });
    assert!(http::metric(admin, "shoebill_resp_commands_total") > 2.0);
    ask(&mut client, "CONFIG RESETSTAT", "+OK");
    let info = bulk(&mut client, "INFO stats");
    assert!(info.contains("total_connections_received:0\r\n"), "{info}");
}

#[test]
fn a_walk_does_not_stop_at_what_is_empty() {
    let mut daemon = start(&["--io-threads", "4"]);
    let mut client = Client::tcp(daemon.address());
    client.ask(b"SCAN 0\r\n", b"*2\r\n$1\r\n0\r\n*0\r\n");
    ask(&mut client, "SET only 1", "+OK");
    client.ask(b"SCAN 0\r\n", b"*2\r\n$1\r\n0\r\n*1\r\n$4\r\nonly\r\n");
}

#[test]
fn commands_are_logged_when_asked_for() {
    let folder = Config::empty();
    let log = folder.folder().join("klog");
    folder.write(&format!("[admin]\nenabled = false\n[klog]\nfile = {log:?}\nsample = 1\n"));
    let mut daemon = Daemon::spawn(Command::new(RDS).arg(&folder.file).args(["--port", "0"]));
    let mut client = Client::tcp(daemon.address());
    ask(&mut client, "SET key value", "+OK");
    ask(
        &mut client,
        "LPUSH key x",
        "-WRONGTYPE Operation against a key holding the wrong kind of value",
    );
    let mut lines = String::new();
    wait_until("the lines are there", || {
        lines = std::fs::read_to_string(&log).unwrap_or_default();
        lines.matches('\n').count() == 2
    });
    assert!(lines.contains(" set key 33 5 ok\n"), "{lines}");
    assert!(lines.contains(" lpush key 31 68 WRONGTYPE\n"), "{lines}");
}

#[test]
fn it_says_that_it_is_ready_where_redis_does() {
    let ports = FREE.join(" ");
    let mut stdout = Daemon::spawn_script(&format!("exec {RDS} {ports} 2>/dev/null"));
    stdout.line("* Ready to accept connections tcp");
    stdout.signal("TERM");
    assert!(stdout.end().0.success());

    let folder = Config::empty();
    let socket = folder.folder().join("socket");
    let flags = ["--unixsocket", socket.to_str().unwrap(), "--loglevel", "warning"];
    let mut daemon = Daemon::spawn_apart(Command::new(RDS).args(FREE).args(flags));
    wait_until("it serves", || UnixStream::connect(&socket).is_ok());
    ask(&mut Client::unix(&socket), "PING", "+PONG");
    daemon.signal("TERM");
    assert_eq!(daemon.stdout(), "", "it is no warning");

    let log = folder.folder().join("log");
    let logged = ["--logfile", log.to_str().unwrap()];
    let mut daemon = Daemon::spawn_apart(Command::new(RDS).args(FREE).args(logged));
    wait_until("it is in the log", || {
        std::fs::read_to_string(&log).is_ok_and(|text| text.contains("Ready to accept connections"))
    });
    daemon.signal("TERM");
    assert_eq!(daemon.stdout(), "");

    // Ours goes to standard error.
    let config = Config::new("[server]\nport = 0\n[admin]\nport = 0\n");
    let mut daemon = Daemon::spawn_apart(Command::new(RDS).arg(&config.file));
    daemon.line("* Ready to accept connections tcp");
    daemon.signal("TERM");
    assert_eq!(daemon.stdout(), "");
}

#[test]
fn a_configuration_may_come_on_standard_input() {
    let script = format!("echo 'port 0\nmaxclients 7' | {RDS} - --hz 50");
    let mut daemon = Daemon::spawn_script(&script);
    let mut client = Client::tcp(daemon.address());
    client.ask(b"CONFIG GET maxclients\r\n", b"*2\r\n$10\r\nmaxclients\r\n$1\r\n7\r\n");
    client.ask(b"CONFIG GET hz\r\n", b"*2\r\n$2\r\nhz\r\n$2\r\n50\r\n");
    assert!(bulk(&mut client, "INFO server").contains("config_file:\r\n"));
    client.send(b"SHUTDOWN\r\n");
    assert!(daemon.end().0.success());
    let output = run(RDS, &["/dev/zero"]);
    refused(&output, &["/dev/zero: larger than 1MB"]);
}

#[test]
fn a_password_is_not_seen_in_the_command_line() {
    let flags = ["--requirepass", "hunter2", "--masterauth=hunter2", "--hz", "5"];
    let mut daemon = start(&flags);
    let mut client = Client::tcp(daemon.address());
    ask(&mut client, "AUTH hunter2", "+OK");
    let words = std::fs::read(format!("/proc/{}/cmdline", daemon.pid())).unwrap();
    let words = text(&words);
    assert!(!words.contains("hunter") && !words.contains("unter2"), "{words:?}");
    for word in ["--requirepass\0*\0", "--masterauth=*\0", "--hz\x005\0", "--port\x000\0"] {
        assert!(words.contains(word), "{word:?} is not in {words:?}");
    }
}

#[test]
fn there_are_no_more_clients_than_descriptors() {
    let mut daemon = Daemon::spawn_script(&format!("ulimit -n 128; exec {RDS} {}", FREE.join(" ")));
    let mut client = Client::tcp(daemon.address());
    let most = |client: &mut Client, most: &str| {
        let reply = format!("*2\r\n$10\r\nmaxclients\r\n$2\r\n{most}\r\n");
        client.ask(b"CONFIG GET maxclients\r\n", reply.as_bytes());
    };
    most(&mut client, "96");
    ask(
        &mut client,
        "CONFIG SET maxclients 10000",
        "-ERR CONFIG SET failed (possibly related to argument 'maxclients') - The operating system \
         is not able to handle the specified number of clients, try with 96",
    );
    most(&mut client, "96");
    ask(&mut client, "CONFIG SET maxclients 50", "+OK");
    most(&mut client, "50");
}

#[test]
fn too_little_address_space_is_told() {
    let output = run("sh", &["-c", &format!("ulimit -v 100000; exec {RDS}")]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    refused(&output, &["the address space is limited (ulimit -v) to less than the 512 MB"]);
}

#[test]
fn it_goes_behind_as_redis_does() {
    let folder = Config::empty();
    let (socket, pids) = (folder.folder().join("socket"), folder.folder().join("pid"));
    let lines = format!(
        "daemonize yes\nport 0\nunixsocket {}\npidfile {}\n",
        socket.display(),
        pids.display()
    );
    let (_folder, path) = file("redis.conf", &lines);
    let path = path.to_str().unwrap();
    let output = run(RDS, &[path]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut client = Client::unix(&socket);
    let pid = std::fs::read_to_string(&pids).unwrap();
    assert!(bulk(&mut client, "INFO server").contains(&format!("process_id:{}\r\n", pid.trim())));
    let second = run(RDS, &[path]);
    refused(&second, &["is served by another process"]);
    client.send(b"SHUTDOWN\r\n");
    assert_eq!(client.rest(), b"");
    wait_until("it takes its files away", || !pids.exists() && !socket.exists());
}

#[test]
fn a_name_that_no_parameter_has_is_refused() {
    let (_folder, path) = file("redis.conf", "maxmemry 4gb\n");
    for check in [&["--check-config"][..], &["--port", "0"]] {
        let output = run(RDS, &[&[path.to_str().unwrap()], check].concat());
        refused(&output, &["redis.conf:1: unknown", "did you mean \"maxmemory\"?"]);
    }
}

#[test]
fn configurations_of_packages_are_taken() {
    for path in ["/etc/redis/redis.conf", "/etc/valkey/valkey.conf"] {
        if !std::path::Path::new(path).exists() {
            println!("{path} is not installed");
            continue;
        }
        let output = run(RDS, &["--check-config", path]);
        assert!(output.status.success(), "{path}: {}", text(&output.stderr));
    }
}

#[test]
fn counters_of_one_scrape_are_of_one_moment() {
    let mut daemon = start(&["--io-threads", "2"]);
    let address = daemon.address();
    let admin = daemon.admin();
    let mut clients = [Client::tcp(address), Client::tcp(address)];
    let mut sent = 0.0;
    for _ in 0..3 {
        for client in &mut clients {
            for _ in 0..100 {
                ask(client, "SET key value", "+OK");
                ask(client, "STRLEN key", ":5");
                ask(client, "LPUSH key value", WRONG_TYPE);
                sent += 3.0;
            }
        }
        // Nobody waits for the next beat of anything.
        let (_, page) = http::get(admin, "/metrics");
        let of = |name: &str| http::value(&page, name).expect(name);
        assert_eq!(
            (of("shoebill_requests_total"), of("shoebill_resp_commands_total")),
            (sent, sent)
        );
        assert_eq!(
            (
                of("shoebill_resp_error_replies_total"),
                of("shoebill_resp_lookups_total{command=\"strlen\",result=\"hit\"}")
            ),
            (sent / 3.0, sent / 3.0)
        );
        assert_eq!(of("shoebill_keys{db=\"0\"}"), 1.0);
        assert_eq!(of("shoebill_keyspace_bytes"), of("shoebill_keyspace_used_bytes"));
    }
}

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";

#[test]
fn limits_of_requests_change_while_connections_are_open() {
    let mut daemon = start(&[]);
    let address = daemon.address();
    let mut operator = Client::tcp(address);
    let mut client = Client::tcp(address);
    ask(&mut client, "PING", "+PONG");
    // 1.5 MiB: what announces it, and all of it.
    let head = format!("*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n${}\r\n", 3 << 19);
    let whole = format!("{head}{}\r\n", "v".repeat(3 << 19));
    client.ask(whole.as_bytes(), b"+OK\r\n");

    ask(&mut operator, "CONFIG SET proto-max-bulk-len 1mb", "+OK");
    client.ask(head.as_bytes(), b"-ERR Protocol error: invalid bulk length\r\n");

    let mut client = Client::tcp(address);
    ask(&mut client, "PING", "+PONG");
    ask(&mut operator, "CONFIG SET proto-max-bulk-len 2mb client-query-buffer-limit 1mb", "+OK");
    let refused = b"-ERR Protocol error: request exceeds the limit of the server\r\n";
    client.ask(head.as_bytes(), refused);

    let mut client = Client::tcp(address);
    ask(&mut client, "PING", "+PONG");
    ask(&mut operator, "CONFIG SET client-query-buffer-limit 2mb", "+OK");
    client.ask(whole.as_bytes(), b"+OK\r\n");
}
