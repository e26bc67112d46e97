// SPDX-License-Identifier: Apache-2.0
//! The command line of the built server: memcached's flags, with a configuration file.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::process::{Command, Output};
use test_support::client::Client;
use test_support::daemon::{Config, Daemon, pid_in, run, text};

const SEGCACHE: &str = env!("CARGO_BIN_EXE_segcache");

/// Without an admin plane, whose port could be taken.
const QUIET: &str = "[admin]\nenabled = false\n";

/// Starts the server with `flags` and a configuration file.
fn start(flags: &[&str], config: &Config) -> Daemon {
    Daemon::spawn(Command::new(SEGCACHE).args(flags).arg(&config.file))
}

/// What `--print-config` says with `flags` and a configuration of `lines`.
fn effective(flags: &[&str], lines: &str) -> String {
    let config = Config::new(lines);
    let output =
        run(SEGCACHE, &[flags, &["--print-config", config.file.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{flags:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The server must not start with `flags` and must say `parts`.
fn refused(flags: &[&str], parts: &[&str]) {
    refusal(&run(SEGCACHE, flags), flags, parts);
}

fn refusal(output: &Output, flags: &[&str], parts: &[&str]) {
    let message = text(&output.stderr);
    assert!(!output.status.success(), "{flags:?} is accepted");
    assert_eq!(text(&output.stdout), "", "{flags:?}");
    for part in parts {
        assert!(message.contains(part), "{flags:?} without {part:?}: {message}");
    }
}

#[test]
fn flags_override_the_file() {
    let file = "[server]\nport = 1\nbacklog = 2\nmax_connections = 3\nsocket_mode = \"0600\"\n\
                [worker]\nthreads = 4\n[cache]\nmemory = \"32MB\"\nvalue_max = \"1KB\"\nevict = true\n\
                [debug]\nlog_level = \"error\"\n";
    let untouched = effective(&[], file);
    for line in ["port = 1\n", "threads = 4\n", "memory = \"32MB\"\n", "log_level = \"error\"\n"] {
        assert!(untouched.contains(line), "{line} is not in\n{untouched}");
    }
    let flags: &[(&[&str], &str)] = &[
        (&["-p", "5"], "port = 5\n"),
        (&["-s", "/tmp/x"], "listen = [\"unix:/tmp/x\"]\n"),
        (&["-a", "0770"], "socket_mode = \"0770\"\n"),
        (&["-l", "127.0.0.2,[::1]:7"], "listen = [\n    \"127.0.0.2:1\",\n    \"[::1]:7\",\n]\n"),
        (&["-l", "127.0.0.2", "-p", "6"], "listen = [\"127.0.0.2:6\"]\n"),
        (&["-m", "100"], "memory = \"100MB\"\n"),
        (&["-M"], "eviction = \"none\"\n"),
        (&["-L"], "huge_pages = true\n"),
        (&["-c", "7"], "max_connections = 7\n"),
        (&["-t", "8"], "threads = 8\n"),
        (&["-I", "2m"], "value_max = \"2MB\"\n"),
        (&["-b", "9"], "backlog = 9\n"),
        (&["-v"], "log_level = \"debug\"\n"),
        (&["-vv"], "log_level = \"trace\"\n"),
        (&["-U", "0"], "port = 1\n"),
        (&["-U", "7"], "[udp]\nport = 7\n"),
    ];
    for (flags, line) in flags {
        let printed = effective(flags, file);
        assert!(printed.contains(line), "{flags:?}: {line} is not in\n{printed}");
    }
}

#[test]
fn each_storage_is_told_not_to_evict_in_its_own_words() {
    for (storage, line) in [("seg", "eviction = \"none\"\n"), ("hashmap", "evict = false\n")] {
        let file = format!("[cache]\nstorage = \"{storage}\"\n");
        let (without, with) = (effective(&[], &file), effective(&["-M"], &file));
        assert!(with.contains(line) && !without.contains(line), "{line} is not in\n{with}");
    }
}

#[test]
fn a_goal_and_its_exponent_are_shown_together() {
    let printed = effective(&[], "[seg]\ngoal = \"bytes\"\n");
    assert!(printed.contains("goal = \"bytes\"\nsize_exponent = 0.0\n"), "{printed}");
    assert_eq!(effective(&[], &printed), printed);
    let both = Config::new("[seg]\ngoal = \"bytes\"\nsize_exponent = 1.0\n");
    let flags = ["--print-config", both.file.to_str().unwrap()];
    refusal(&run(SEGCACHE, &flags), &flags, &["[seg] size_exponent: 1 ", "goal = \"bytes\""]);
}

#[test]
fn keys_of_pelikans_that_change_nothing_are_accepted_with_a_warning() {
    let config = Config::new("[seg]\nhash_power = 20\neviction = \"Merge\"\n");
    let file = config.file.to_str().unwrap();
    let output = run(SEGCACHE, &["--print-config", file]);
    assert!(output.status.success());
    assert!(text(&output.stdout).contains("eviction = \"merge\"\n"), "{output:?}");
    let warning = text(&output.stderr);
    assert!(warning.starts_with("warning: [seg] hash_power has no effect: "), "{warning}");
    assert!(!text(&output.stdout).contains("hash_power"), "it is not part of the configuration");
}

#[test]
fn the_printed_configuration_is_one() {
    let printed = effective(&["-m", "100", "-l", "[::1]:7", "-I", "512k"], "");
    assert_eq!(effective(&[], &printed), printed);
}

#[test]
fn help_and_version_are_told() {
    for flag in ["-h", "--help"] {
        let output = run(SEGCACHE, &[flag]);
        assert!(output.status.success());
        let help = text(&output.stdout);
        for flag in [
            "-p", "-s", "-a", "-l", "-m", "-M", "-L", "-c", "-t", "-I", "-b", "-v", "-V", "-h",
            "-U",
        ] {
            assert!(help.contains(&format!("  {flag}, --")), "{flag} is not in\n{help}");
        }
    }
    let output = run(SEGCACHE, &["-V"]);
    assert_eq!(text(&output.stdout), concat!("segcache ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn bad_values_are_refused_with_a_reason() {
    refused(&["-p", "65536"], &["-p 65536: expected a number from 0 to 65535"]);
    refused(&["-l", "nowhere.invalid"], &["-l nowhere.invalid: expected an IP address or"]);
    refused(&["-a", "999"], &["-a 999: ", "octal"]);
    refused(&["-m", "0"], &["-m 0: expected a number from 1 to"]);
    refused(&["-m", "1", "-I", "1m"], &["-I: [cache] value_max", "a quarter of memory = 1MB"]);
    refused(&["-m", "1073741823"], &["-m: [cache] memory", "cannot map memory"]);
    refused(&["-c", "0"], &["-c: [server] max_connections: 0 is not between 1 and"]);
    refused(&["-t", "0"], &["-t: [worker] threads: 0 is not between 1 and"]);
    refused(&["-I", "100"], &["-I: [cache] value_max", "100B is not from 1KB to 1GB"]);
    refused(&["-U", "65536"], &["-U 65536: expected a number from 0 to 65535"]);
    refused(&["-Z"], &["-Z: needs -o ssl_chain_cert=FILE,ssl_key=FILE"]);
    refused(&["/nowhere/segcache.toml"], &["/nowhere/segcache.toml", "No such file"]);
}

#[test]
fn a_configuration_is_checked_without_a_start() {
    let check = |lines: &str| {
        let config = Config::new(lines);
        let file = config.file.to_str().unwrap().to_owned();
        (run(SEGCACHE, &["--check-config", &file]), file)
    };
    let (output, file) = check("[cache]\nmemory = \"1GB\"\n");
    assert!(output.status.success());
    assert_eq!(text(&output.stdout), format!("{file}: ok\n"));

    let wrong = [
        ("[cache]\nmemry = \"1GB\"\n", ":2:1: unknown key \"memry\"", "did you mean \"memory\"?"),
        ("[cache]\nmemory = \"lots\"\n", ":2:10:", "lots"),
        ("[cache]\nmemory = \"512KB\"\n", "[cache] memory", "512KB is less than 1MB"),
        ("[cach]\n", "unknown", "did you mean \"cache\"?"),
        ("[cache]\nstorage = \"slab\"\n", ":2:11:", "slab"),
        ("[seg]\nheap_size = \"4GB\"\n", "[seg] heap_size", "write memory = \"4GB\""),
        ("[seg]\nsegment_size = 100000\n", "[seg] segment_size", "is not a power of two from"),
        (
            "[cache]\nmemory = \"16MB\"\n[seg]\nsegment_size = \"4MB\"\n",
            "[seg] segment_size",
            "an eighth",
        ),
        ("[seg]\nmerge_max = 1\n", "[seg] merge_max", "1 is not between 2 and"),
        ("[seg]\neviction = \"lru\"\n", ":2:12:", "lru"),
        ("[seg]\nsegmentsize = 1\n", ":2:1:", "did you mean \"segment_size\"?"),
        ("[server]\nlisten = [\"nowhere:1\"]\n", ":2:", "is not an address"),
        ("[worker]\nthreads = \"two\"\n", ":2:11:", "threads"),
    ];
    for (lines, first, second) in wrong {
        let (output, _) = check(lines);
        refusal(&output, &[lines], &[first, second]);
    }
}

#[test]
fn it_listens_where_it_is_told() {
    let config = Config::new(QUIET);
    let mut daemon = start(&["-l", "127.0.0.1:0,[::1]:0", "-t", "2"], &config);
    let addresses = [daemon.address(), daemon.line("listening on tcp6:").parse().unwrap()];
    for address in addresses {
        let mut client = Client::tcp(address);
        client.ask(b"get a\r\n", b"END\r\n");
    }
    daemon.signal("TERM");
    assert!(daemon.end().0.success());
}

#[test]
fn a_unix_socket_has_the_mode_it_was_given() {
    let config = Config::new(QUIET);
    for (flags, mode) in [(&["-a", "0750"][..], 0o750), (&[], 0o700)] {
        let path = config.folder().join("socket");
        let socket = path.to_str().unwrap();
        let mut daemon = start(&[&["-s", socket], flags].concat(), &config);
        daemon.line("listening on unix:");
        let metadata = std::fs::metadata(&path).unwrap();
        assert!(metadata.file_type().is_socket());
        assert_eq!(metadata.permissions().mode() & 0o777, mode);
        let mut client = Client::unix(&path);
        client.ask(b"set a 0 0 1\r\n1\r\nget a\r\n", b"STORED\r\nVALUE a 0 1\r\n1\r\nEND\r\n");
        daemon.signal("TERM");
        assert!(daemon.end().0.success());
        assert!(!path.exists(), "it takes its socket away");
    }
}

#[test]
fn one_connection_too_many_is_answered_as_by_memcached() {
    let config = Config::new(QUIET);
    let mut daemon = start(&["-p", "0", "-c", "2"], &config);
    let address = daemon.address();
    let mut first = Client::tcp(address);
    let mut second = Client::tcp(address);
    first.ask(b"get a\r\n", b"END\r\n");
    second.ask(b"get a\r\n", b"END\r\n");
    assert_eq!(Client::tcp(address).rest(), b"ERROR Too many open connections\r\n");
    first.ask(b"get a\r\n", b"END\r\n");
    first.send(b"quit\r\n");
    assert_eq!(first.rest(), b"");
    // There is room again once the server has seen the end of the first.
    test_support::wait_until("another connection is served", || {
        let mut third = Client::tcp(address);
        third.send(b"get a\r\n");
        third.take(5) == b"END\r\n"
    });
}

/// Bytes of an item with a key of one byte besides its value, as memcached counts them for `-I`.
const AROUND: usize = 60;

#[test]
fn limits_are_those_of_the_flags() {
    let config = Config::new(QUIET);
    let mut daemon = start(&["-p", "0", "-I", "1k", "-m", "8", "-t", "3", "-M"], &config);
    let mut client = Client::tcp(daemon.address());
    let set = |len: usize| format!("set a 0 0 {len}\r\n{}\r\n", "x".repeat(len));
    client.ask(set(1024 - AROUND).as_bytes(), b"STORED\r\n");
    client.ask(set(1025 - AROUND).as_bytes(), b"SERVER_ERROR object too large for cache\r\n");
    client.ask(b"get a\r\n", b"END\r\n");
    client.send(b"stats settings\r\nquit\r\n");
    let settings = text(&client.rest());
    for line in ["maxbytes 8388608", "num_threads 3", "item_size_max 1024", "evictions off"] {
        assert!(settings.contains(&format!("STAT {line}\r\n")), "{line} is not in\n{settings}");
    }
}

#[test]
fn every_storage_serves_with_one_worker_and_with_several() {
    for storage in ["seg", "hashmap"] {
        let config = Config::new(&format!("{QUIET}[cache]\nstorage = {storage:?}\n"));
        for threads in ["1", "3"] {
            let mut daemon = start(&["-p", "0", "-t", threads], &config);
            let address = daemon.address();
            let mut clients: Vec<_> = (0..6).map(|_| Client::tcp(address)).collect();
            clients[0].ask(b"set a 7 0 1\r\n1\r\n", b"STORED\r\n");
            for client in &mut clients {
                client.ask(b"get a\r\n", b"VALUE a 7 1\r\n1\r\nEND\r\n");
            }
            daemon.signal("TERM");
            assert!(daemon.end().0.success(), "{storage}, {threads} threads");
        }
    }
}

#[test]
fn values_of_the_largest_size_are_kept_also_in_a_small_memory() {
    let config = Config::new(QUIET);
    let cases: [(&[&str], usize); 7] = [
        // The default is lower there.
        (&["-m", "1"], 256 << 10),
        (&["-m", "2"], 512 << 10),
        (&["-m", "3"], 768 << 10),
        // Segments are far smaller than the value there.
        (&["-m", "4"], 1 << 20),
        (&["-m", "16", "-I", "4m"], 4 << 20),
        (&["-m", "64"], 1 << 20),
        (&["-m", "1024"], 1 << 20),
    ];
    for (flags, size) in cases {
        let len = size - AROUND;
        let mut daemon = start(&[&["-p", "0"], flags].concat(), &config);
        let mut client = Client::tcp(daemon.address());
        let value = "x".repeat(len);
        for key in ["a", "b", "c", "d", "e"] {
            client.ask(format!("set {key} 0 0 {len}\r\n{value}\r\n").as_bytes(), b"STORED\r\n");
            let reply = format!("VALUE {key} 0 {len}\r\n{value}\r\nEND\r\n");
            client.ask(format!("get {key}\r\n").as_bytes(), reply.as_bytes());
        }
    }
}

#[test]
fn the_version_is_memcacheds_and_its_own_is_a_statistic() {
    // memccapable, for one, reads the number to know what it can ask, and Perl's `version` nothing else.
    let config = Config::new(QUIET);
    let mut daemon = start(&["-p", "0"], &config);
    let mut client = Client::tcp(daemon.address());
    client.ask(b"version\r\n", b"VERSION 1.6.45\r\n");
    client.send(b"stats\r\n");
    let own = concat!("STAT software segcache ", env!("CARGO_PKG_VERSION"));
    let shown = std::iter::repeat_with(|| client.line()).take_while(|line| line != "END");
    assert!(shown.into_iter().any(|line| line == own), "{own}");
}

#[test]
fn it_starts_however_little_memory_its_user_may_lock() {
    // Rings count as locked memory of a user without privileges. Between none and one for each worker there are some.
    for limit in [0, 300_000, 500_000, 700_000] {
        let config = Config::new(QUIET);
        let mut command = Command::new("prlimit");
        command.arg(format!("--memlock={limit}:{limit}")).arg(SEGCACHE);
        command.args(["-u", "nobody", "-t", "4", "-p", "0"]).arg(&config.file);
        let mut daemon = Daemon::spawn(&mut command);
        Client::tcp(daemon.address()).ask(b"version\r\n", b"VERSION 1.6.45\r\n");
    }
}

#[test]
fn more_is_logged_when_asked_for() {
    let config = Config::new(QUIET);
    let mut daemon = start(&["-p", "0", "-vv"], &config);
    let address = daemon.address();
    drop(Client::tcp(address));
    daemon.line("TRACE");
}

#[test]
fn it_goes_behind_and_leaves_its_number() {
    let config = Config::new(QUIET);
    let (socket, pids) = (config.folder().join("socket"), config.folder().join("pid"));
    let (socket, pid_file) = (socket.to_str().unwrap(), pids.to_str().unwrap());
    let file = config.file.to_str().unwrap();
    // It returns when clients can connect.
    let output = run(SEGCACHE, &["-d", "-P", pid_file, "-s", socket, "-r", file]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let pid = pid_in(&pids);
    let mut client = Client::unix(std::path::Path::new(socket));
    client.ask(b"get a\r\n", b"END\r\n");
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let session = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(3).unwrap();
    assert_eq!(session, pid, "it has a session of its own");

    let second = run(SEGCACHE, &["-d", "-s", socket, file]);
    assert_eq!(second.status.code(), Some(71), "what fails is told before it goes behind");
    assert!(text(&second.stderr).contains("is served by another process"), "{second:?}");

    let status = Command::new("kill").arg(&pid).status().unwrap();
    assert!(status.success());
    assert_eq!(client.rest(), b"");
    test_support::wait_until("it takes its files away", || {
        !pids.exists() && !std::path::Path::new(socket).exists()
    });
}

#[test]
fn root_gives_its_rights_up_when_told() {
    let id = text(&Command::new("id").arg("-u").output().unwrap().stdout);
    let config = Config::new("[admin]\nport = 0\n");
    let mut daemon = start(&["-p", "0", "-u", "nobody"], &config);
    let address = daemon.address();
    Client::tcp(address).ask(b"get a\r\n", b"END\r\n");
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let line = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    if id.trim() == "0" {
        assert!(line("Uid:").iter().chain(&line("Gid:")).all(|id| id != "0"), "{status}");
        let admin = daemon.admin();
        test_support::wait_until("it knows its open files", || {
            test_support::http::metric(admin, "process_open_fds") > 0.0
        });
        refused(&["-p", "0", "-u", "no-such-user"], &["there is no user \"no-such-user\""]);
    } else {
        assert_eq!(line("Uid:")[0], id.trim(), "only root can");
    }
}

#[test]
fn a_configuration_may_come_on_standard_input() {
    let script = format!("echo '[server]\nport = 7' | {SEGCACHE} --print-config -");
    let output = run("sh", &["-c", &script]);
    assert!(text(&output.stdout).contains("port = 7\n"), "{output:?}");
    let script = format!("echo prot=7 | {SEGCACHE} --print-config -");
    let output = run("sh", &["-c", &script]);
    assert!(text(&output.stderr).contains("the standard input:1:1: unknown key"), "{output:?}");
    let output = run(SEGCACHE, &["--check-config", "/dev/zero"]);
    assert!(text(&output.stderr).contains("/dev/zero: larger than 1MB"), "{output:?}");
}

#[test]
fn queues_of_logs_have_a_bound() {
    for (section, key) in [("debug", "log_queue_lines"), ("klog", "queue_lines")] {
        let config = Config::new(&format!("[{section}]\n{key} = 99999999999\n"));
        let output = run(SEGCACHE, &[config.file.to_str().unwrap()]);
        let expected = format!("[{section}] {key}: 99999999999 is not between 1 and 1000000");
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(&expected), "{output:?}");
    }
}
