// SPDX-License-Identifier: Apache-2.0
//! The command line: everything but serving.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use test_support::daemon::{Config, run, text};

const PINGSERVER: &str = env!("CARGO_BIN_EXE_pingserver");

/// What it prints to standard output, with success and no word on standard error.
#[track_caller]
fn answer(arguments: &[&str]) -> String {
    let output = run(PINGSERVER, arguments);
    assert_eq!((output.status.code(), &text(&output.stderr)[..]), (Some(0), ""));
    text(&output.stdout)
}

/// What it prints to standard error about a configuration, with failure.
#[track_caller]
fn complaint(config: &Config) -> String {
    let file = config.file.to_str().unwrap();
    let checked = run(PINGSERVER, &["--check-config", file]);
    assert_eq!((checked.status.code(), &text(&checked.stdout)[..]), (Some(1), ""));
    let started = run(PINGSERVER, &[file]);
    assert_eq!(started.status.code(), Some(1), "it does not start with it either");
    assert_eq!(text(&started.stderr), text(&checked.stderr));
    text(&checked.stderr)
}

#[test]
fn it_says_who_it_is_and_how_to_use_it() {
    let version = format!("pingserver {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(answer(&["-V"]), version);
    assert_eq!(answer(&["--version"]), version);
    let help = answer(&["-h"]);
    for part in ["Usage: pingserver", "--check-config", "--print-config", "--list-metrics"] {
        assert!(help.contains(part), "{part} is not in:\n{help}");
    }
    let unknown = run(PINGSERVER, &["--chekc-config"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("--check-config"), "{}", text(&unknown.stderr));
}

#[test]
fn a_good_configuration_is_ok() {
    let config = Config::new("[server]\nport = 7000\n[worker]\nthreads = 4\n");
    let file = config.file.to_str().unwrap();
    assert_eq!(answer(&["--check-config", file]), format!("{file}: ok\n"));
    assert_eq!(answer(&["--check-config"]), "the default configuration: ok\n");
}

#[test]
fn a_wrong_key_is_shown_where_it_is_with_the_right_one() {
    let config = Config::new("[server]\nhost = \"::1\"\nprot = 7000\n");
    let complaint = complaint(&config);
    let expected = format!(
        "error: {}:3:1: unknown key \"prot\" in [server]; did you mean \"port\"?\n",
        config.file.display()
    );
    assert!(complaint.starts_with(&expected), "{complaint}");
    assert!(complaint.contains("prot = 7000") && complaint.contains("^^^^"), "{complaint}");
}

#[test]
fn a_wrong_value_is_refused_with_its_key() {
    for (text, parts) in [
        ("[server]\nport = 70000\n", &["2:8", "port", "70000"][..]),
        ("[server]\nlisten = [\"localhost\"]\n", &["2:", "localhost", "127.0.0.1:11211"]),
        ("[server]\nidle_timeout = \"soon\"\n", &["2:", "idle_timeout", "soon"]),
        ("[worker]\nthreads = 0\n", &["[worker] threads", "0 is not between 1 and 256"]),
        ("[worker]\nhigh_water = \"1\"\n", &["[worker] high_water", "1024"]),
        ("[worker]\ntimeout = \"1h\"\n", &["[worker] timeout", "1ms and 10s"]),
        ("[server]\nmax_connections = 0\n", &["[server] max_connections", "0"]),
        ("[tls]\ncertificate_chain = \"x.pem\"\n", &["[tls] private_key", "missing"]),
        ("[tls]\nclient_auth = \"required\"\n", &["[tls] client_auth", "certificate_chain"]),
        (
            "[tls]\ncertificate_chain = \"/no/x.pem\"\nprivate_key = \"/no/x.key\"\n",
            &["[tls]", "/no/x."],
        ),
        ("[server\n", &["1:8"]),
    ] {
        let complaint = complaint(&Config::new(text));
        assert!(complaint.starts_with("error: "), "{complaint}");
        for part in parts {
            assert!(
                complaint.contains(part),
                "{part} is not in the complaint on {text}{complaint}"
            );
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let output = run(PINGSERVER, &["/no/such/file.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("/no/such/file.toml"));
}

#[test]
fn the_printed_configuration_loads_back_to_itself() {
    let config = Config::new(
        "[server]\nlisten = [\"127.0.0.1:0\", \"notls:[::1]:0\", \"unix:/tmp/a b\"]\n\
         socket_mode = \"0660\"\nidle_timeout = \"90s\"\n\
         [worker]\nthreads = 3\nhigh_water = \"1.5MB\"\n[debug]\nlog_level = \"warn\"\n",
    );
    let printed = answer(&["--print-config", config.file.to_str().unwrap()]);
    for line in ["threads = 3", "socket_mode = \"0660\"", "log_level = \"warn\"", "port = 12321"] {
        assert!(printed.lines().any(|printed| printed == line), "{line} is not in:\n{printed}");
    }
    let again = Config::new(&printed);
    assert_eq!(answer(&["--print-config", again.file.to_str().unwrap()]), printed);
    let defaults = answer(&["--print-config"]);
    let again = Config::new(&defaults);
    assert_eq!(answer(&["--print-config", again.file.to_str().unwrap()]), defaults);
}

#[test]
fn metrics_are_listed_with_type_and_meaning() {
    let list = answer(&["--list-metrics"]);
    let names: Vec<&str> = list.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.is_sorted());
    for (name, kind) in [
        ("shoebill_ping_requests_total", "counter"),
        ("shoebill_ping_replies_total", "counter"),
        ("shoebill_connections", "gauge"),
        ("shoebill_request_duration_seconds", "histogram"),
        ("process_start_time_seconds", "gauge"),
        ("shoebill_received_bytes_total", "counter"),
        ("shoebill_log_lines_total{result}", "counter"),
    ] {
        let mut words = list
            .lines()
            .map(|line| line.splitn(3, ' ').map(str::trim).collect::<Vec<_>>())
            .filter(|words| words[0] == name);
        let words = words.next().unwrap_or_else(|| panic!("{name} is not in:\n{list}"));
        assert!(words[2].trim_start().starts_with(kind), "{words:?}");
        assert!(words[2].len() > 20, "it says what it means: {words:?}");
    }
}
