// SPDX-License-Identifier: Apache-2.0
//! From a command line to a configuration.

use super::*;
use crate::config::{PORT, Storage};
use protocol_memcache::settings::Spoken;
use server::dialect::memcached::{Arguments, Wrong};
use server::settings::{Listen, LogLevel, SocketMode};
use std::ffi::OsString;
use std::net::SocketAddr;
use storage_seg::settings::Policy;

fn parse(line: &str) -> Result<Arguments<Config>, Wrong> {
    let words = line.split_whitespace().map(OsString::from);
    Arguments::try_parse(command(), flags(), words)
}

fn applied(line: &str, mut config: Config) -> Config {
    let args = parse(line).expect(line);
    args.common.apply(&mut config);
    let _start = args.apply(&mut config, PORT).unwrap_or_else(|error| panic!("{line}: {error}"));
    config
}

fn config(line: &str) -> Config {
    applied(line, Config::default())
}

fn listen(line: &str) -> String {
    let listen = config(line).server.listen;
    listen.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

#[test]
fn addresses_take_the_port_of_p_unless_they_have_their_own() {
    assert_eq!(listen("segcache -l 127.0.0.1,::1 -p 22"), "127.0.0.1:22 [::1]:22");
    assert_eq!(listen("segcache -l [::1]:5 -l notls:10.0.0.1:6"), "[::1]:5 notls:10.0.0.1:6");
    assert_eq!(listen("segcache -l localhost"), "127.0.0.1:11211");
    assert_eq!(config("segcache -p 77").server.port, Some(77));
}

#[test]
fn a_star_is_all_addresses_of_the_versions_of_ip_that_the_system_has() {
    let has_v6 = std::net::UdpSocket::bind("[::1]:0").is_ok();
    for (line, v4, v6) in [
        ("segcache -l *", "0.0.0.0:11211", " [::]:11211"),
        ("segcache -l notls:* -p 5", "notls:0.0.0.0:5", " notls:[::]:5"),
        ("segcache -l *:7", "0.0.0.0:7", " [::]:7"),
    ] {
        assert_eq!(listen(line), format!("{v4}{}", if has_v6 { v6 } else { "" }), "{line}");
    }
}

#[test]
fn resp_has_a_port_of_its_own_on_the_same_addresses() {
    let listen = |line: &str| {
        let listen = config(line).resp_listen();
        listen.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(listen("segcache"), "");
    assert_eq!(listen("segcache --resp-port 6379"), "127.0.0.1:6379");
    assert_eq!(listen("segcache --resp-port 7 -s /tmp/x"), "127.0.0.1:7");
    let several = "segcache --resp-port 7 -p 5 -l 10.0.0.1,[::1]:9 -l notls:[::2]:8,[::1]:3";
    assert_eq!(listen(several), "10.0.0.1:7 [::1]:7 notls:[::2]:7");
}

#[test]
fn a_unix_socket_takes_the_place_of_tcp() {
    let config = config("segcache -s /tmp/x -a 0770 -p 5");
    assert_eq!(config.server.listen, [Listen::Unix("/tmp/x".into())]);
    assert_eq!(config.server.socket_mode, SocketMode(0o770));
}

#[test]
fn sizes_are_written_as_for_memcached() {
    assert_eq!(config("segcache -I 2m").cache.value_max(), ByteSize(2 << 20));
    assert_eq!(config("segcache -I 512K").cache.value_max(), ByteSize(512 << 10));
    assert_eq!(config("segcache -I 4096").cache.value_max(), ByteSize(4096));
    assert_eq!(config("segcache -m 100").cache.memory, ByteSize(100 << 20));
    assert_eq!(config("segcache -I 1g").cache.value_max(), ByteSize(1 << 30));
}

#[test]
fn no_evictions_and_large_pages_are_said_in_the_words_of_the_storage() {
    let with = |line: &str, storage: Storage| {
        let mut config = Config::default();
        config.cache.storage = storage;
        applied(line, config)
    };
    for storage in [Storage::Seg, Storage::HashMap] {
        assert!(with("segcache", storage).evicts());
        assert!(with("segcache", storage).warnings().is_empty());
        assert!(!with("segcache -M", storage).evicts());
    }
    let seg = with("segcache -M -L", Storage::Seg);
    assert_eq!((seg.seg.eviction, seg.cache.evict), (Policy::None, true));
    assert!(seg.seg.huge_pages == Some(true) && seg.warnings().is_empty());
    let hash_map = with("segcache -M -L", Storage::HashMap);
    assert_eq!((hash_map.seg.eviction, hash_map.cache.evict), (Policy::Scored, false));
    assert_eq!(hash_map.warnings().len(), 1, "there are no huge pages");
}

#[test]
fn large_pages_are_asked_for_whatever_the_file_says() {
    let mut config = Config::default();
    config.seg.huge_pages = Some(false);
    assert_eq!(applied("segcache", config.clone()).seg.huge_pages, Some(false));
    assert_eq!(applied("segcache -L", config).seg.huge_pages, Some(true));
}

#[test]
fn a_file_that_evicts_nothing_means_it_whatever_the_policy() {
    for storage in [Storage::Seg, Storage::HashMap] {
        let mut config = Config::default();
        config.cache.storage = storage;
        config.cache.evict = false;
        assert!(!config.evicts());
    }
}

#[test]
fn a_small_memory_has_small_values_unless_they_are_asked_for() {
    for (line, kilobytes) in [
        ("segcache -m 1", 256),
        ("segcache -m 2", 512),
        ("segcache -m 3", 768),
        ("segcache -m 4", 1024),
        ("segcache -m 64", 1024),
        ("segcache -m 1 -I 128k", 128),
    ] {
        let config = config(line).settled();
        assert_eq!(config.cache.value_max(), ByteSize(kilobytes << 10), "{line}");
        assert!(config.check().is_ok(), "{line}");
    }
    let mut config = config("segcache -m 1");
    config.cache.storage = Storage::HashMap;
    assert_eq!(config.cache.value_max(), ByteSize(512 << 10));
}

#[test]
fn what_is_spoken_has_memcacheds_names() {
    assert_eq!(config("segcache").memcache.protocol, Spoken::Auto);
    for (name, expected) in [
        ("auto", Spoken::Auto),
        ("auto-negotiate", Spoken::Auto),
        ("ascii", Spoken::Ascii),
        ("binary", Spoken::Binary),
    ] {
        assert_eq!(config(&format!("segcache -B {name}")).memcache.protocol, expected);
        assert_eq!(config(&format!("segcache --protocol={name}")).memcache.protocol, expected);
    }
    assert!(parse("segcache -B text").is_err());
}

/// Why a command line is refused, and memcached's exit code for it.
fn wrong(line: &str) -> (String, u8) {
    match parse(line).expect_err(line) {
        Wrong::Refused { message, code } => (message, code),
        other => panic!("{line}: {other}"),
    }
}

/// The error of a command line that is understood and cannot be carried out.
fn refused(line: &str) -> String {
    let args = parse(line).expect(line);
    let mut config = Config::default();
    let result = args.apply(&mut config, PORT).map(|_start| ()).and_then(|()| config.check());
    args.named(result.expect_err(line)).to_string()
}

#[test]
fn clients_may_do_what_flags_let_them() {
    let may = |line: &str| {
        let memcache = config(line).memcache;
        (memcache.shutdown, memcache.flush)
    };
    assert_eq!(may("segcache"), (false, true));
    assert_eq!(may("segcache -A -F"), (true, false));
    assert_eq!(may("segcache --enable-shutdown"), (true, true));
}

#[test]
fn what_changes_nothing_is_told_in_one_line() {
    let notice = |line: &str| parse(line).expect(line).notice();
    assert_eq!(notice("segcache -d -P /x -u nobody -k -r -R 20 -B auto -o modern"), None);
    let line = "segcache -f 1.5 -n 48 -C -N 2 -o modern,hashpower=20,idle_timeout=5";
    let expected = "accepted, no effect: -f, -n, -C, -N, -o hashpower";
    assert_eq!(notice(line).as_deref(), Some(expected));
}

#[test]
fn logging_in_is_in_memcacheds_forms_unless_others_are_asked_for() {
    for (line, protocol) in [
        ("segcache -Y /x", Spoken::Ascii),
        ("segcache -Y /x -S", Spoken::Auto),
        ("segcache -Y /x -B auto", Spoken::Auto),
        ("segcache -Y /x -B binary", Spoken::Binary),
        ("segcache -S", Spoken::Binary),
        ("segcache -S -B auto", Spoken::Auto),
    ] {
        let memcache = config(line).memcache;
        assert_eq!(memcache.protocol, protocol, "{line}");
        assert!(memcache.auth_file.is_some(), "{line}");
        let is_named = memcache.auth_file == Some("/x".into());
        assert_eq!(is_named, line.contains("-Y"), "{line}");
    }
    let config = config("segcache -S");
    assert!(config.check().is_err(), "there is no file");
}

#[test]
fn what_would_be_believed_in_is_refused() {
    for flag in ["-e /x", "-Z", "-o ssl_key=/x", "-I 100"] {
        let error = refused(&format!("segcache {flag}"));
        assert!(error.starts_with(&format!("{}: ", &flag[..2])), "{error}");
    }
    for option in ["ext_path=/x", "proxy_config=x", "drop_privileges", "ssl_ciphers=x"] {
        let (message, code) = wrong(&format!("segcache -o {option}"));
        assert!(message.starts_with(&format!("-o {option}: ")), "{message}");
        assert_eq!(code, 1, "{message}");
    }
}

#[test]
fn a_wrong_value_is_told_with_its_flag_and_memcacheds_exit_code() {
    for (line, message, code) in [
        ("-q", "-q: there is no such flag, see --help", 1),
        ("--foo", "--foo: there is no such flag, see --help", 1),
        ("a b", "b: there is a configuration file already", 1),
        ("-p x", "-p x: expected a whole number", 64),
        ("--port=x", "-p x: expected a whole number", 64),
        ("-p 70000", "-p 70000: expected a number from 0 to 65535", 64),
        ("-p", "-p: needs a value", 1),
        ("-m -v", "-m -v: expected a whole number", 64),
        ("-b -1", "-b -1: expected a number from 0 to 4294967295", 1),
        ("-f x", "-f x: expected a number", 1),
        ("-B text", "-B text: expected auto, ascii or binary", 64),
        ("--daemon=yes", "-d yes: takes no value", 1),
        ("--engine x", "--engine x: expected one of auto, epoll, io_uring", 1),
        ("-o modern,x=1", "-o x=1: there is no such option of memcached's", 1),
        ("-o idle_timeout", "-o idle_timeout: needs a value: idle_timeout=SECONDS", 1),
        ("-o idle_timeout=x", "-o idle_timeout=x: expected a number of seconds", 1),
        (
            "-o ssl_keyformat=DER",
            "-o ssl_keyformat=DER: expected PEM: convert it with openssl pkey",
            1,
        ),
    ] {
        assert_eq!(wrong(&format!("segcache {line}")), (message.to_owned(), code), "{line}");
    }
}

#[test]
fn flags_are_read_as_memcached_reads_them() {
    assert_eq!(
        config("segcache -m 64 -m 128").cache.memory,
        ByteSize(128 << 20),
        "the last counts"
    );
    assert_eq!(config("segcache -p77 -U0 --conn=9").server.port, Some(77));
    assert_eq!(config("segcache -p -1").server.port, Some(0), "any port");
    assert_eq!(wrong("segcache -p -2").0, "-p -2: expected a number from 0 to 65535");
    assert_eq!(config("segcache -c 9 --conn-l 7").server.max_connections, 7);
}

#[test]
fn addresses_may_be_hosts_and_have_no_prefixes_but_notls() {
    assert_eq!(listen("segcache -l notls:localhost:5"), "notls:127.0.0.1:5");
    for prefix in ["btls:", "mtls:", "proto[ascii]:", "tag_x_:", "tag[x]:"] {
        let (message, _) = wrong(&format!("segcache -l {prefix}127.0.0.1"));
        assert!(message.starts_with(&format!("-l {prefix}127.0.0.1: ")), "{message}");
        assert!(!message.contains("expected"), "{message}");
    }
}

#[test]
fn the_file_of_certificates_may_have_the_key() {
    let tls = config("segcache -Z -o ssl_chain_cert=/both").tls;
    assert_eq!(tls.private_key.as_deref(), Some("/both".as_ref()));
    let tls = config("segcache -Z -o ssl_key=/k,ssl_chain_cert=/c").tls;
    assert_eq!(tls.private_key.as_deref(), Some("/k".as_ref()));
}

#[test]
fn a_certificate_is_required_wherever_memcached_requires_one() {
    use server::settings::ClientAuth::{None, Optional, Required};
    for (mode, auth) in [(0, None), (1, Optional), (2, Required), (3, Required)] {
        let line = format!("segcache -Z -o ssl_chain_cert=/c,ssl_verify_mode={mode}");
        assert_eq!(config(&line).tls.client_auth, auth, "{mode}");
    }
    let unchecked = config("segcache -Z -o ssl_chain_cert=/c,ssl_ca_cert=/a,ssl_verify_mode=0").tls;
    assert_eq!((unchecked.ca_file, unchecked.client_auth), (Option::None, None));
    let error = refused("segcache -Z -o ssl_chain_cert=/c,ssl_ca_cert=/a");
    assert_eq!(error, "-o ssl_ca_cert: checks no client: add ssl_verify_mode=2");
    for version in ["3", "tlsv1.3"] {
        let line = format!("segcache -Z -o ssl_chain_cert=/c,ssl_min_version={version}");
        assert_eq!(config(&line).tls.min_version, server::settings::TlsVersion::Tls13);
    }
}

#[test]
fn a_limit_of_buffers_is_taken() {
    let memory = |value: &str| {
        config(&format!("segcache -o read_buf_mem_limit={value}")).worker.output_memory
    };
    assert_eq!(memory("10"), Some(ByteSize(10 << 20)));
    assert_eq!(memory("0"), None);
    assert!(parse("segcache -o read_buf_mem_limit=99999999999999999").is_err());
}

#[test]
fn extended_options_fill_sections() {
    let line = "segcache -Z -R 7 -o ssl_chain_cert=/c,ssl_key=/k,idle_timeout=60 \
                -o ssl_ca_cert=/a,ssl_verify_mode=2,ssl_min_version=tlsv1.3";
    let config = config(line);
    assert_eq!(config.worker.requests_per_turn, 7);
    assert_eq!(config.server.idle_timeout.0.as_secs(), 60);
    assert_eq!(config.tls.certificate_chain.as_deref(), Some("/c".as_ref()));
    assert_eq!(config.tls.private_key.as_deref(), Some("/k".as_ref()));
    assert_eq!(config.tls.ca_file.as_deref(), Some("/a".as_ref()));
    assert_eq!(config.tls.client_auth, server::settings::ClientAuth::Required);
    assert_eq!(config.tls.min_version, server::settings::TlsVersion::Tls13);
    for wrong in ["nonsense", "idle_timeout", "idle_timeout=x", "ssl_verify_mode=9", "ext_path=/x"]
    {
        assert!(parse(&format!("segcache -o {wrong}")).is_err(), "{wrong}");
    }
}

#[test]
fn a_comma_too_many_is_no_option() {
    for line in ["segcache -o modern,", "segcache -o idle_timeout=60,"] {
        assert_eq!(parse(line).expect(line).notice(), None, "{line}");
    }
    assert_eq!(config("segcache -o idle_timeout=60,").server.idle_timeout.0.as_secs(), 60);
    assert_eq!(wrong("segcache -o =1").0, "-o =1: there is no such option of memcached's");
}

#[test]
fn memcacheds_number_of_the_format_of_keys_is_taken() {
    for format in ["PEM", "pem", "1"] {
        assert!(parse(&format!("segcache -o ssl_keyformat={format}")).is_ok(), "{format}");
    }
    assert!(parse("segcache -o ssl_keyformat=2").is_err());
}

#[test]
fn verbosity_counts() {
    assert_eq!(config("segcache -v").debug.log_level, LogLevel::Debug);
    assert_eq!(config("segcache -vv").debug.log_level, LogLevel::Trace);
}

#[test]
fn udp_is_on_the_addresses_and_the_port_of_tcp() {
    let both = |line: &str| {
        let config = config(line);
        let address = SocketAddr::new(config.server.host, config.server.port.unwrap());
        let tcp = match &config.server.listen[..] {
            [] => vec![address.to_string()],
            listen => listen.iter().map(ToString::to_string).collect(),
        };
        let udp = config.udp.addresses(&config.server);
        (tcp.join(","), udp.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
    };
    for (line, tcp, udp) in [
        ("segcache", "127.0.0.1:11211", ""),
        ("segcache -U 0", "127.0.0.1:11211", ""),
        ("segcache -U 11311", "127.0.0.1:11311", "127.0.0.1:11311"),
        ("segcache -p 1 -U 2", "127.0.0.1:1", "127.0.0.1:2"),
        ("segcache -p 1 -U 0", "127.0.0.1:1", ""),
        ("segcache -l ::1,10.0.0.1:7 -U 2", "[::1]:2,10.0.0.1:7", "[::1]:2,10.0.0.1:2"),
        ("segcache -l ::1 -p 1 -U 2", "[::1]:1", "[::1]:2"),
    ] {
        assert_eq!(both(line), (tcp.to_owned(), udp.to_owned()), "{line}");
    }
    assert!(parse("segcache -U 65536").is_err());
    let encrypted = "segcache -Z -o ssl_chain_cert=/c,ssl_key=/k -U 2";
    let problem = config(encrypted).check().unwrap_err().to_string();
    assert!(problem.starts_with("[udp] listen: datagrams are not encrypted"), "{problem}");
    assert!(config(&format!("{encrypted} -l notls:127.0.0.1")).check().is_ok());
}

#[test]
fn a_second_server_takes_another_admin_port() {
    let admin = config("segcache --admin-port 9998").admin;
    assert_eq!((admin.enabled, admin.port), (true, 9998));
    assert_eq!(config("segcache").admin.port, 9999);
}

#[test]
fn the_cpu_time_of_turns_is_recorded_when_asked_for() {
    assert!(config("segcache --turn-cpu-time").worker.turn_cpu_time);
    assert!(!config("segcache").worker.turn_cpu_time);
}

#[test]
fn limits_of_the_cache_are_checked() {
    assert!(config("segcache -m 1024 -I 1m").check().is_ok());
    assert!(config("segcache -I 100").check().is_err());
    assert!(config("segcache -m 2 -I 2m").check().is_err());
}
