// SPDX-License-Identifier: Apache-2.0
//! From files and flags to a configuration.

use super::*;
use config::Span;
use protocol_resp::service::Host;
use protocol_resp::service::config::parameter;
use server::dialect::redis::{Directive, ParameterTable, Place};
use server::settings::{Configuration, LogLevel, SocketMode};
use std::io::Write;
use std::time::Duration;

fn flag(name: &str, value: &str) -> Directive {
    let parameter = Redis::find(name.as_bytes()).expect(name);
    Directive { parameter, value: value.to_owned(), place: Place::Flag }
}

/// What a file of this name and text comes to, with flags behind it.
fn load(name: &str, text: &str, flags: &[(&str, &str)]) -> Result<Loaded, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    let mut file = std::fs::File::create(&path).expect(name);
    file.write_all(text.as_bytes()).expect(name);
    let flags = flags.iter().map(|(name, value)| flag(name, value)).collect();
    Loaded::load(Some(&path), flags)
        .map_err(|error| error.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

#[test]
fn a_redis_conf_fills_sections_and_parameters() {
    let text = "port 7000\nbind 127.0.0.1\nmaxclients 50\ntimeout 30\ntcp-backlog 5\nio-threads 3\n\
                loglevel warning\nlogfile \"/x.log\"\nunixsocketperm 770\nmaxmemory 1gb\n\
                maxmemory-policy allkeys-lfu\nrequirepass secret\n";
    let Loaded { config, warnings, .. } = load("redis.conf", text, &[]).expect("a right file");
    assert_eq!(config.server.listen[0].to_string(), "notls:127.0.0.1:7000");
    assert_eq!((config.server.max_connections, config.server.backlog), (50, 5));
    assert_eq!(config.server.idle_timeout, Span(Duration::from_secs(30)));
    assert_eq!(config.server.socket_mode, SocketMode(0o770));
    assert_eq!((config.worker.threads, config.debug.log_level), (3, LogLevel::Warn));
    assert_eq!(config.debug.log_file.as_deref(), Some("/x.log".as_ref()));
    assert_eq!(config.redis.get("maxmemory"), "1073741824");
    assert!(warnings.is_empty(), "{warnings:?}");
    let text = config.text().expect("TOML");
    assert!(text.contains("maxmemory = 1073741824\n") && !text.contains("secret"), "{text}");
}

#[test]
fn the_admin_plane_comes_with_a_file_of_ours() {
    for (name, is_enabled) in [("rds.toml", true), ("redis.conf", false)] {
        let config = load(name, "", &[]).expect("a right file").config;
        assert_eq!(config.admin.enabled, is_enabled, "{name}");
    }
}

#[test]
fn the_memory_limit_may_have_64_bits() {
    let most = [("maxmemory", "18446744073709551615")];
    let config = load("redis.conf", "", &most).expect("a right flag").config;
    assert_eq!(config.redis.get("maxmemory"), most[0].1);
    let text = "maxmemory 9223372036854775808\n";
    let config = load("redis.conf", text, &[]).expect("a right file").config;
    assert_eq!(config.redis.get("maxmemory"), "9223372036854775808");
}

#[test]
fn flags_come_last() {
    let flags = [("port", "2"), ("appendonly", "no"), ("maxmemory", "5")];
    let text = "port 1\nappendonly yes\nmaxmemory 4\n";
    let config = load("redis.conf", text, &flags).expect("the flags put it right").config;
    assert_eq!((config.server.port, config.redis.get("maxmemory")), (Some(2), "5"));
    let text = "[server]\nport = 1\nlisten = [\"127.0.0.1:3\"]\n[redis]\nmaxmemory = 4\n";
    let config = load("rds.toml", text, &flags).expect("a right file").config;
    assert_eq!((config.server.port, config.redis.get("maxmemory")), (Some(2), "5"));
    assert_eq!(config.server.listen[0].to_string(), "notls:127.0.0.1:2");
}

#[test]
fn nobody_is_closed_for_being_slow_unless_a_file_says_so() {
    let limits = |text: &str| {
        let mut config = load("rds.toml", text, &[]).unwrap().config;
        config.settle();
        [config.server.read_timeout, config.server.write_timeout].map(|limit| limit.unwrap().0)
    };
    assert_eq!(limits(""), [Duration::ZERO; 2]);
    let limit = Duration::from_secs(5);
    assert_eq!(limits("[server]\nwrite_timeout = \"5s\"\n"), [Duration::ZERO, limit]);
}

#[test]
fn the_kind_of_a_file_is_told_by_its_name_or_its_text() {
    let (toml, conf) = ("# x\n[redis]\nhz = 5\n", "# x\nhz 5\n");
    for (name, text) in
        [("a.toml", toml), ("a.conf", conf), ("a", toml), ("a", conf), ("a", "redis.hz = 5")]
    {
        let config = load(name, text, &[]).expect(text).config;
        assert_eq!(config.redis.get("hz"), "5", "{name}: {text}");
    }
    assert!(load("a.conf", "[redis]\n", &[]).is_err());
}

#[test]
fn what_has_no_effect_is_named_in_one_warning() {
    let text = "locale-collate C\nsave 900 1\nactivedefrag yes\nappendonly no\nrdbcompression no\n";
    let warnings = load("redis.conf", text, &[]).expect("nothing is wrong").warnings;
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("redis.conf:2"), "{warnings:?}");
    assert!(warnings[0].contains("locale-collate ("));
    assert!(warnings[0].contains("save (") && warnings[0].contains("activedefrag ("));
}

#[test]
fn unknown_names_are_refused_all_at_once() {
    let text = "foo 1\nmaxmemory 1gb\nmaxmemry 4gb\n";
    let error = load("redis.conf", text, &[]).expect_err("nobody knows foo").to_string();
    let lines: Vec<_> = error.lines().collect();
    assert_eq!(lines.len(), 2, "{error}");
    assert!(lines[0].ends_with("redis.conf:1: unknown parameter \"foo\""), "{error}");
    let meant = "redis.conf:3: unknown parameter \"maxmemry\"; did you mean \"maxmemory\"?";
    assert!(lines[1].ends_with(meant), "{error}");
    let toml = load("rds.toml", "[redis]\nmaxmemry = \"4gb\"\n", &[]).expect_err("nor in TOML");
    assert!(toml.to_string().contains("did you mean \"maxmemory\"?"), "{toml}");
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let cases = [
        ("maxmemory lots", "redis.conf:1: maxmemory \"lots\": argument must be a memory value"),
        ("appendonly yes", "redis.conf:1: appendonly \"yes\": this server keeps nothing on disk"),
        ("replicaof a 1", "redis.conf:1: replicaof \"a 1\": this server does not replicate"),
        ("loadmodule x.so", "loads no modules"),
        ("rename-command FLUSHALL \"\"", "commands keep their names"),
        ("user alice on blah", "redis.conf:1: user \"alice on blah\": Syntax error"),
        ("user alice on\nuser bob off\nuser alice off", "Duplicate user 'alice' found"),
        ("aclfile /nowhere/acl", "cannot read"),
        ("bind nowhere", "redis.conf:1: bind \"nowhere\": expected IP addresses"),
        ("tls-protocols x\ntls-port 1", "expected TLSv1.2"),
        ("port 70000", "argument must be between 0 and 65535 inclusive"),
        ("maxmemory", "redis.conf:1: maxmemory \"\": wrong number of arguments"),
    ];
    for (text, problem) in cases {
        let error = load("redis.conf", text, &[]).expect_err(text);
        assert!(error.contains(problem), "{text}: {error}");
    }
    let error = load("redis.conf", "", &[("maxmemory", "x")]).expect_err("a wrong flag");
    assert!(error.starts_with("the command line: maxmemory \"x\": "), "{error}");
}

#[test]
fn the_service_is_told_what_sections_say() {
    let flags = [("port", "7000"), ("unixsocket", "/s"), ("maxclients", "7"), ("hz", "50")];
    let mut config = load("redis.conf", "", &flags).expect("right flags").config;
    let host = Host::new(config.databases());
    server_resp::configure(&mut config, &host);
    let shown = |name: &str| {
        let value = host.configured(parameter(name.as_bytes()).expect(name));
        String::from_utf8(value).expect("text")
    };
    assert_eq!((shown("port"), shown("tls-port")), ("7000".to_owned(), "0".to_owned()));
    assert_eq!((shown("unixsocket"), shown("bind")), ("/s".to_owned(), "127.0.0.1".to_owned()));
    assert_eq!((shown("maxclients"), shown("hz")), ("7".to_owned(), "50".to_owned()));
}

#[test]
fn the_configuration_of_debian_is_accepted() {
    let Ok(text) = std::fs::read_to_string("/etc/redis/redis.conf") else {
        return; // It comes with the package.
    };
    let loaded = load("redis.conf", &text, &[]).expect("it is right");
    assert_eq!(loaded.warnings, [""; 0]);
    assert!(redis::goes_behind(&loaded.config.redis, |_| false));
    assert!(loaded.config.redis.get("pidfile").ends_with(".pid"));
    // As its service file starts it.
    let flags = [("supervised", "systemd"), ("daemonize", "no")];
    let loaded = load("redis.conf", &text, &flags).expect("it is right");
    assert!(!redis::goes_behind(&loaded.config.redis, |_| true));
}

#[test]
fn who_is_supervised_stays_in_the_foreground() {
    let goes = |flags: &[(&str, &str)], set: &str| {
        let config = load("redis.conf", "", flags).expect("right flags").config;
        redis::goes_behind(&config.redis, |name| name == set)
    };
    assert!(!goes(&[], ""));
    assert!(goes(&[("daemonize", "yes")], "NOTIFY_SOCKET"));
    for (manager, set, expected) in [
        ("systemd", "NOTIFY_SOCKET", false),
        ("systemd", "", true),
        ("upstart", "UPSTART_JOB", false),
        ("auto", "NOTIFY_SOCKET", false),
        ("auto", "", true),
    ] {
        let flags = [("daemonize", "yes"), ("supervised", manager)];
        assert_eq!(goes(&flags, set), expected, "{manager} {set}");
    }
}

#[test]
fn users_of_a_file_are_all_kept() {
    let text = "user alice on >secret ~a* +get\nuser bob off (+set ~b)\n";
    let config = load("redis.conf", text, &[]).expect("a right file").config;
    let users = "alice on >secret ~a* +get\nbob off (+set ~b)";
    assert_eq!(config.redis.get("user"), users);
    assert!(!config.text().expect("it can be shown").contains("secret"));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("users.acl");
    std::fs::write(&file, "user alice on nopass +foo\n").expect("a file");
    let wrong = load("redis.conf", &format!("aclfile {}\n", file.display()), &[]);
    let wrong = wrong.expect_err("no such command");
    assert!(wrong.contains("users.acl:1: Unknown command or category name in ACL"), "{wrong}");
}

/// The parameters of a file of ours with this `[redis]`.
fn read(text: &str) -> Result<Parameters<Redis>, String> {
    let text = format!("[redis]\n{text}");
    config::parse::<Config>(&text, "x.toml").map(|file| file.redis).map_err(|e| e.to_string())
}

#[test]
fn values_of_all_types_are_taken_and_come_back() {
    let text = "maxmemory = \"1gb\"\nmaxmemory-policy = \"ALLKEYS-LRU\"\ndatabases = 4\n\
                activerehashing = true\nlatency-tracking-info-percentiles = [\"50\", \"99\"]\n";
    let parameters = read(text).expect(text);
    assert_eq!(parameters.get("maxmemory"), "1073741824");
    assert_eq!(parameters.get("maxmemory-policy"), "allkeys-lru");
    assert_eq!(parameters.get("latency-tracking-info-percentiles"), "50 99");
    assert_eq!(parameters.get("hz"), "10", "the default");
    let printed =
        config::print(&Config { redis: parameters.clone(), ..Config::default() }).expect("TOML");
    assert!(printed.contains("databases = 4\n"), "{printed}");
    let again = config::parse::<Config>(&printed, "x.toml").expect("what it prints");
    assert_eq!(again.redis, parameters);
}

#[test]
fn mistakes_are_told_with_their_place() {
    let cases = [
        ("maxmemry = 1", ":2:", "maxmemry is no parameter of Redis; did you mean \"maxmemory\"?"),
        ("maxmemory = \"lots\"", ":2:13", "argument must be a memory value"),
        ("port = 7000", ":2:", "said by [server] port"),
        ("appendonly = true", ":2:14", "keeps nothing on disk"),
        ("save = \"900 1\"", ":2:8", "keeps nothing on disk"),
    ];
    for (line, place, problem) in cases {
        let message = read(line).expect_err(line);
        assert!(message.contains(place) && message.contains(problem), "{line}: {message}");
    }
}

#[test]
fn secrets_are_not_shown() {
    let parameters = read("requirepass = \"secret\"\nhz = 5").expect("right");
    let shown = parameters.without_secrets();
    assert_eq!((shown.get("requirepass"), shown.get("hz")), ("(redacted)", "5"));
}

#[test]
fn what_sections_say_is_where_the_table_of_parameters_says_it() {
    let shown = redis::shown(&Config::default().sections(), PORT);
    // It is shown by nobody: there is no range of versions in `[tls]`.
    let unshown = "tls-protocols";
    for name in Redis::all().filter(|name| name.place.is_some() && name.name != unshown) {
        assert!(shown.iter().any(|(known, _)| *known == name.name), "{}", name.name);
    }
    for (name, _) in shown {
        assert!(Redis::find(name.as_bytes()).is_some_and(|name| name.place.is_some()), "{name}");
    }
}
