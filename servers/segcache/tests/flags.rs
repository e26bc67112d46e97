// SPDX-License-Identifier: Apache-2.0
//! memcached's flags, all of them: each is taken, or refused in one sentence. Debian's `memcached.conf` starts the server.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use socket2::{Domain, Socket, Type};
use std::collections::BTreeSet;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Output};
use test_support::client::Client;
use test_support::daemon::{Config, Daemon, pid_in, run, text};
use test_support::memcached::Memcached;

const SEGCACHE: &str = env!("CARGO_BIN_EXE_segcache");

/// The flags of memcached 1.6.45: short, long, and a value for those that have one.
const FLAGS: [(&str, &str, &str); 36] = [
    ("-p", "--port", "0"),
    ("-U", "--udp-port", "0"),
    ("-s", "--unix-socket", "/nowhere/socket"),
    ("-a", "--unix-mask", "0770"),
    ("-A", "--enable-shutdown", ""),
    ("-l", "--listen", "127.0.0.1"),
    ("-d", "--daemon", ""),
    ("-r", "--enable-coredumps", ""),
    ("-u", "--user", "nobody"),
    ("-m", "--memory-limit", "64"),
    ("-M", "--disable-evictions", ""),
    ("-c", "--conn-limit", "100"),
    ("-k", "--lock-memory", ""),
    ("-v", "--verbose", ""),
    ("-h", "--help", ""),
    ("-i", "--license", ""),
    ("-V", "--version", ""),
    ("-P", "--pidfile", "/nowhere/pid"),
    ("-f", "--slab-growth-factor", "1.25"),
    ("-n", "--slab-min-size", "48"),
    ("-L", "--enable-largepages", ""),
    ("-D", "", ":"),
    ("-t", "--threads", "4"),
    ("-R", "--max-reqs-per-event", "20"),
    ("-C", "--disable-cas", ""),
    ("-b", "--listen-backlog", "1024"),
    ("-B", "--protocol", "auto"),
    ("-I", "--max-item-size", "1m"),
    ("-S", "--enable-sasl", ""),
    ("-F", "--disable-flush-all", ""),
    ("-X", "--disable-dumping", ""),
    ("-W", "--disable-watch", ""),
    ("-Y", "--auth-file", "/nowhere/users"),
    ("-e", "--memory-file", "/nowhere/items"),
    ("-Z", "--enable-ssl", ""),
    ("-N", "--napi_ids", "2"),
];

/// The options of its `-o`, with a value for those that have one.
const OPTIONS: [&str; 64] = [
    "maxconns_fast",
    "no_maxconns_fast",
    "hashpower=20",
    "tail_repair_time=60",
    "hash_algorithm=jenkins",
    "no_lru_crawler",
    "lru_crawler_sleep=100",
    "lru_crawler_tocrawl=10",
    "read_buf_mem_limit=100",
    "resp_obj_mem_limit=100",
    "no_lru_maintainer",
    "hot_lru_pct=20",
    "warm_lru_pct=40",
    "hot_max_factor=0.2",
    "warm_max_factor=2",
    "temporary_ttl=61",
    "idle_timeout=60",
    "slab_chunk_max=512",
    "slab_reassign",
    "no_slab_reassign",
    "slab_automove=1",
    "no_slab_automove",
    "slab_automove_ratio=0.8",
    "slab_automove_window=30",
    "slab_automove_freeratio=0.01",
    "slab_sizes=100-200",
    "no_chunked_items",
    "watcher_logbuf_size=256",
    "worker_logbuf_size=64",
    "track_sizes",
    "no_hashexpand",
    "modern",
    "no_modern",
    "sock_cookie_id=5",
    "drop_privileges",
    "no_drop_privileges",
    "relaxed_privileges",
    "no_inline_ascii_resp",
    "ext_path=/nowhere/ext:1G",
    "ext_page_size=64",
    "ext_wbuf_size=4",
    "ext_threads=1",
    "ext_item_size=512",
    "ext_item_age=10",
    "ext_low_ttl=0",
    "ext_drop_unread",
    "ext_recache_rate=2000",
    "ext_compact_under=1",
    "ext_drop_under=1",
    "ext_max_frag=0.8",
    "ext_max_sleep=1000000",
    "proxy_config=routelib",
    "proxy_arg=/nowhere/proxy",
    "proxy_uring",
    "ssl_chain_cert=/nowhere/cert",
    "ssl_key=/nowhere/key",
    "ssl_keyformat=PEM",
    "ssl_verify_mode=0",
    "ssl_ciphers=ECDHE",
    "ssl_ca_cert=/nowhere/ca",
    "ssl_wbuf_size=16",
    "ssl_session_cache",
    "ssl_kernel_tls",
    "ssl_min_version=2",
];

/// A command line is taken, or refused in one sentence that begins with what was written.
#[track_caller]
fn taken_or_refused(output: &Output, written: &str) {
    let message = text(&output.stderr);
    if output.status.success() {
        assert_eq!(message, "", "{written}");
        return;
    }
    assert!(message.starts_with(&format!("error: {written}")), "{written}: {message}");
    assert_eq!(message.lines().count(), 1, "{written}: {message}");
    for never in ["tip:", "Usage:", "there is no such"] {
        assert!(!message.contains(never), "{written}: {message}");
    }
    assert!([1, 64].contains(&output.status.code().unwrap()), "{written}: {output:?}");
}

#[test]
fn each_flag_is_taken_or_refused_in_a_sentence() {
    for (short, long, value) in FLAGS {
        for flag in [short, long].into_iter().filter(|flag| !flag.is_empty()) {
            let words: Vec<_> = [flag, value, "--print-config"].to_vec();
            let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
            taken_or_refused(&run(SEGCACHE, &words), short);
        }
    }
    for option in OPTIONS {
        let name = option.split_once('=').map_or(option, |(name, _)| name);
        // TLS needs its flag, and files that there are not here.
        let (written, flags) = match name {
            "ssl_chain_cert" | "ssl_key" | "ssl_ca_cert" => ("", ["-Z", "-o", option]),
            _ => ("-o", ["-v", "-o", option]),
        };
        taken_or_refused(&run(SEGCACHE, &[&flags[..], &["--print-config"]].concat()), written);
    }
}

#[test]
fn what_cannot_start_ends_with_memcacheds_exit_code() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().port().to_string();
    // Nobody else is given this port, and whoever asks for it may listen.
    let kept = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    kept.set_reuse_address(true).unwrap();
    kept.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    let free = kept.local_addr().unwrap().as_socket().unwrap().port().to_string();
    // Those of memcached 1.6.45 for the same words.
    let cases: [(&[&str], i32); 15] = [
        (&["-p", "99999"], 64),
        (&["-I", "100"], 64),
        (&["-I", "2g"], 64),
        (&["-I", "60m"], 64),
        (&["-m", "0"], 64),
        (&["-m", "x"], 64),
        (&["-m"], 1),
        (&["-t", "0"], 1),
        (&["-c", "x"], 1),
        (&["-Z"], 64),
        (&["-Z", "-o", "ssl_chain_cert=/nowhere/cert,ssl_key=/nowhere/key"], 64),
        (&["-o", "idle_timeout"], 1),
        (&["-s", "/nowhere/socket"], 71),
        (&["-p", &taken], 71),
        (&["-p", &free, "-l", "127.0.0.1,127.0.0.1"], 71),
    ];
    for (words, code) in cases {
        let output = run(SEGCACHE, &[&["--admin-port", "0"], words].concat());
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).starts_with("error: "), "{words:?}");
    }
    // Only root has somebody to become.
    if std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        let output = run(SEGCACHE, &["-u", "nobody-of-this-name", "-p", "0", "--admin-port", "0"]);
        assert_eq!(output.status.code(), Some(67), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("there is no user \"nobody-of-this-name\""));
    }
}

#[test]
fn the_lists_have_all_that_memcached_tells_of() {
    let Some(memcached) = Memcached::find() else { return };
    if !memcached.is_reference() {
        memcached.not_compared("the list of flags");
        return;
    }
    let help = memcached.help();
    let ends = |end: char| end.is_whitespace() || [',', '=', '<', ':'].contains(&end);
    let flags: BTreeSet<&str> = FLAGS.iter().flat_map(|(short, long, _)| [*short, *long]).collect();
    let options: BTreeSet<&str> =
        OPTIONS.iter().map(|option| option.split('=').next().unwrap()).collect();
    let told = help.lines().filter(|line| line.starts_with('-'));
    let told = told.flat_map(|line| line.split(ends).take(3).filter(|word| word.starts_with('-')));
    // -vv is -v twice, and -o has the options.
    let several = ["-vv", "-vvv", "-o", "--extended"];
    let missing: Vec<_> =
        told.filter(|word| !flags.contains(word) && !several.contains(word)).collect();
    assert_eq!(missing, [""; 0], "{help}");
    let told = help.lines().filter_map(|line| line.strip_prefix("   - ")?.split_once(':'));
    let told = told.map(|(name, _)| name).filter(|name| !name.contains(' '));
    let missing: Vec<_> = told.filter(|name| !options.contains(name)).collect();
    assert_eq!(missing, [""; 0], "{help}");
}

#[test]
fn what_has_no_effect_is_told_once_in_the_log() {
    let config = Config::new("[admin]\nenabled = false\n");
    let flags = ["-p", "0", "-C", "-n", "48", "-o", "modern,hashpower=20"];
    let mut daemon = Daemon::spawn(Command::new(SEGCACHE).args(flags).arg(&config.file));
    assert_eq!(daemon.line("accepted, no effect: "), "-n, -C, -o hashpower");
}

/// Whoever starts it may have it choose ports, and read in a file which they are.
#[test]
fn the_ports_are_in_the_file_that_the_environment_names() {
    let config = Config::new("[admin]\nenabled = false\n");
    let file = config.folder().join("ports");
    let mut command = Command::new(SEGCACHE);
    command.args(["-p", "-1", "-U", "-1", "-l", "127.0.0.1"]).arg(&config.file);
    let mut daemon = Daemon::spawn(command.env("MEMCACHED_PORT_FILENAME", &file));
    let port = daemon.address().port();
    assert_ne!(port, 0);
    let ports = fs::read_to_string(&file).unwrap();
    let udp = ports.strip_prefix(&format!("TCP INET: {port}\nUDP INET: ")).unwrap();
    assert_ne!(udp.trim_end().parse::<u16>().unwrap(), 0);
    assert!(!config.folder().join("ports.lck").exists());

    let mut unwritable = Daemon::spawn(command.env("MEMCACHED_PORT_FILENAME", "/nowhere/ports"));
    let problem = unwritable.line("cannot write the file of ports ");
    assert!(problem.starts_with("/nowhere/ports: "), "{problem}");
    Client::tcp(unwritable.address()).ask(b"get a\r\n", b"END\r\n");
}

/// The lines of Debian's file, with places of our own.
fn debians_file(folder: &Path) -> String {
    let id = Command::new("id").arg("-un").output().unwrap();
    let pids = folder.join("pid");
    format!(
        "# memcached default config file\n\n-d\n\nlogfile /nowhere/memcached.log\n\n# -v\n# -vv\n\n\
         -m 64\n\n# Default connection port is 11211\n-p 0\n\n-u {}\n-l 127.0.0.1 # only\n# -c 1024\n# -k\n# -M\n# -r\n\
         -P {}\n--admin-port 0\n",
        text(&id.stdout).trim(),
        pids.display()
    )
}

/// It serves, wrote its number, and takes that away in the end.
fn serves(mut daemon: Daemon, folder: &Path) {
    Client::tcp(daemon.address()).ask(b"get a\r\n", b"END\r\n");
    let pids = folder.join("pid");
    assert_eq!(pid_in(&pids), daemon.pid().to_string());
    daemon.signal("TERM");
    assert!(daemon.end().0.success());
    assert!(!pids.exists());
}

#[test]
fn debians_file_is_a_configuration() {
    let config = Config::empty();
    let file = config.folder().join("memcached.conf");
    fs::write(&file, debians_file(config.folder())).unwrap();
    serves(Daemon::spawn(Command::new(SEGCACHE).arg(&file)), config.folder());
    let file = file.to_str().unwrap();
    let printed = text(&run(SEGCACHE, &[file, "-m", "100", "--print-config"]).stdout);
    assert!(printed.contains("memory = \"100MB\"\n"), "flags come after the file: {printed}");
    fs::write(file, "-m 64\n-q\n").unwrap();
    assert_eq!(
        text(&run(SEGCACHE, &[file]).stderr),
        "error: -q: there is no such flag, see --help\n"
    );
}

#[test]
fn debians_wrapper_starts_the_server() {
    const WRAPPER: &str = "/usr/share/memcached/scripts/systemd-memcached-wrapper";
    let Ok(wrapper) = fs::read_to_string(WRAPPER) else {
        test_support::child::missing("Debian's memcached (apt-get install memcached)");
        return;
    };
    let id = text(&Command::new("id").arg("-u").output().unwrap().stdout);
    if id.trim() != "0" {
        // It is for root alone.
        return;
    }
    let config = Config::empty();
    let (script, file) = (config.folder().join("wrapper"), config.folder().join("memcached.conf"));
    fs::write(&script, wrapper.replace("/usr/bin/memcached", SEGCACHE)).unwrap();
    fs::write(&file, debians_file(config.folder())).unwrap();
    serves(Daemon::spawn(Command::new("perl").arg(&script).arg(&file)), config.folder());
}

#[test]
fn memory_is_locked_but_for_what_is_not_used() {
    let config = Config::empty();
    let mut command = Command::new(SEGCACHE);
    command.args(["-p", "0", "--admin-port", "0", "-m", "64", "-k"]);
    let mut daemon = Daemon::spawn(command.current_dir(config.folder()));
    // Not everybody may.
    let mut is_refused = false;
    let address = loop {
        let line = daemon.line("");
        is_refused |= line.contains("memory is not locked") || line.contains("memory cannot be");
        if let Some((_, address)) = line.split_once("listening on tcp:") {
            break address.parse().unwrap();
        }
    };
    let mut client = Client::tcp(address);
    let value = [b'x'; 1000];
    for number in 0..40_000 {
        let request = [format!("set k{number} 0 0 1000\r\n").as_bytes(), &value, b"\r\n"].concat();
        client.ask(&request, b"STORED\r\n");
    }
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    assert!(kib("VmRSS:") < 160 << 10, "{status}");
    assert!(is_refused || kib("VmLck:") > 40 << 10, "{status}");
    daemon.signal("TERM");
    assert!(daemon.end().0.success());
}
