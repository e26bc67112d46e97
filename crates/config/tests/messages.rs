// SPDX-License-Identifier: Apache-2.0
//! What an operator reads when a configuration is wrong: the exact text, mistake by mistake.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::path::PathBuf;

use config::{ByteSize, ProblemKind, Span};
use serde::{Deserialize, Serialize};

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    daemonize: bool,
    ratio: f64,
    server: Server,
    listen: Vec<Listen>,
    limits: BTreeMap<String, u32>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Server {
    port: u16,
    workers: Option<NonZeroU16>,
    offset: i8,
    memory: ByteSize,
    idle_timeout: Span,
    log: Option<PathBuf>,
    #[serde(alias = "evict")]
    eviction: Eviction,
    window: Window,
    pair: (u8, u8),
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Eviction {
    #[default]
    None,
    RandomFifo,
    Merge {
        segments: u32,
    },
    Ghosts(u32),
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "RawWindow")]
struct Window {
    low: u32,
    high: u32,
}

#[derive(Deserialize)]
struct RawWindow {
    low: u32,
    high: u32,
}

impl TryFrom<RawWindow> for Window {
    type Error = String;

    fn try_from(raw: RawWindow) -> Result<Self, String> {
        if raw.low > raw.high {
            return Err(format!("low ({}) must not be above high ({})", raw.low, raw.high));
        }
        Ok(Window { low: raw.low, high: raw.high })
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Listen {
    address: Option<SocketAddr>,
    tls: Tls,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Tls {
    certificate: Option<PathBuf>,
    handshake_timeout: Span,
}

/// The error's text without the excerpts.
fn heads(text: &str) -> Vec<String> {
    let error = config::parse::<Settings>(text, "f").expect_err("the text is wrong");
    let head = |p: &config::Problem| {
        let place = p.position().map(|p| format!("{}:{}: ", p.line, p.column)).unwrap_or_default();
        format!("{place}{}", p.message())
    };
    error.problems().iter().map(head).collect()
}

fn assert_heads(text: &str, expected: &[&str]) {
    assert_eq!(heads(text), expected, "\n{text}");
}

#[test]
fn an_unknown_key_shows_its_place_and_the_likely_name() {
    let error = config::parse::<Settings>("[server]\n  prot = 11211 # ours\n", "my.toml");
    assert_eq!(
        error.unwrap_err().to_string(),
        "my.toml:2:3: unknown key \"prot\" in [server]; did you mean \"port\"?\n  \
           |\n\
         2 |   prot = 11211 # ours\n  \
           |   ^^^^"
    );
}

#[test]
fn unknown_keys_are_found_at_every_level_and_all_at_once() {
    let text = r#"
demonize = true
[server]
prot = 1
[[listen]]
adress = "127.0.0.1:1"
[[listen]]
address = "127.0.0.1:2"
[listen.tls]
certifcate = "x"
[sever]
a = 1
"#;
    assert_heads(
        text,
        &[
            "2:1: unknown key \"demonize\" at the top level; did you mean \"daemonize\"?",
            "4:1: unknown key \"prot\" in [server]; did you mean \"port\"?",
            "6:1: unknown key \"adress\" in listen[0]; did you mean \"address\"?",
            "10:1: unknown key \"certifcate\" in listen[1].tls; did you mean \"certificate\"?",
            "11:2: unknown key \"sever\" at the top level; did you mean \"server\"?",
        ],
    );
}

#[test]
fn unknown_keys_are_found_in_inline_tables_dotted_keys_and_choices() {
    assert_heads(
        "listen = [{ address = \"127.0.0.1:1\", tls = { keyy = 1 } }]\nserver.prot = 1\n",
        &[
            "1:46: unknown key \"keyy\" in listen[0].tls; \
             known here: \"certificate\", \"handshake_timeout\"",
            "2:8: unknown key \"prot\" in [server]; did you mean \"port\"?",
        ],
    );
    assert_heads(
        "[server]\neviction = { merge = { segment = 3, segments = 4 } }",
        &["2:24: unknown key \"segment\" in [server.eviction.merge]; did you mean \"segments\"?"],
    );
}

#[test]
fn a_key_in_the_wrong_table_is_sent_to_the_right_one() {
    assert_heads(
        "[server]\nport = 1\n[[listen]]\nidle_timeout = \"1s\"\n",
        &["4:1: unknown key \"idle_timeout\" in listen[0]; it belongs in [server]"],
    );
}

#[test]
fn unknown_keys_and_a_wrong_value_are_reported_in_the_order_of_the_file() {
    assert_heads(
        "[server]\nprot = 1\nport = true\n",
        &[
            "2:1: unknown key \"prot\" in [server]; did you mean \"port\"?",
            "3:8: server.port: found true, expected an integer from 0 to 65535",
        ],
    );
}

#[test]
fn many_problems_are_counted_not_shown() {
    let text: String = (0..100).map(|n| format!("key{n} = 1\n")).collect();
    let error = config::parse::<Settings>(text, "f").unwrap_err();
    assert_eq!(error.problems().len(), config::MAX_PROBLEMS);
    assert!(error.problems().iter().all(|p| p.kind() == ProblemKind::UnknownKey));
    assert!(error.to_string().ends_with("\nand 80 more"));
}

#[test]
fn a_wrong_type_names_key_value_and_expectation() {
    for (text, expected) in [
        ("daemonize = 1", "1:13: daemonize: found the integer 1, expected true or false"),
        ("ratio = \"x\"", "1:9: ratio: found the string \"x\", expected a number"),
        ("server = 5", "1:10: server: found the integer 5, expected a table"),
        ("server = []", "1:10: server: found an array, expected a table"),
        ("listen = 1.5", "1:10: listen: found the number 1.5, expected an array"),
        ("listen = [1]", "1:11: listen[0]: found the integer 1, expected a table"),
        (
            "limits.a = 1979-05-27",
            "1:12: limits.a: found the date 1979-05-27, expected an integer from 0 to 4294967295",
        ),
        ("server.log = 1", "1:14: server.log: found the integer 1, expected path string"),
        ("server.pair = [1]", "1:15: server.pair: found an array, expected an array of length 2"),
        (
            "server.memory = 1.5",
            "1:17: server.memory: found the number 1.5, expected a size, such as \"64MB\", or a \
             whole number of bytes",
        ),
        (
            "server.idle_timeout = []",
            "1:23: server.idle_timeout: found an array, expected a duration, such as \"250ms\", \
             or a whole number of milliseconds",
        ),
        (
            "server.eviction = 1",
            "1:19: server.eviction: found the integer 1, expected one of \"none\", \
             \"random-fifo\", \"merge\", \"ghosts\"",
        ),
        (
            "server.eviction = \"ghosts\"",
            "1:19: server.eviction: found the string \"ghosts\", expected a table { ghosts = … }",
        ),
        (
            "server.eviction.none = 1",
            "1:8: server.eviction: found a table, expected the string \"none\"",
        ),
        (
            "[[listen]]\naddress = 7",
            "2:11: listen[0].address: found the integer 7, expected socket address",
        ),
    ] {
        assert_heads(text, &[expected]);
    }
}

#[test]
fn a_value_out_of_range_names_the_range() {
    for (text, expected) in [
        (
            "server.port = 70000",
            "1:15: server.port: found the integer 70000, expected an integer from 0 to 65535",
        ),
        (
            "server.port = -1",
            "1:15: server.port: found the integer -1, expected an integer from 0 to 65535",
        ),
        (
            "server.port = 0x1_0000",
            "1:15: server.port: found the integer 0x10000, expected an integer from 0 to 65535",
        ),
        (
            "server.offset = 128",
            "1:17: server.offset: found the integer 128, expected an integer from -128 to 127",
        ),
        ("server.workers = 0", "1:18: server.workers: found the integer 0, expected a nonzero u16"),
        (
            "server.memory = -5",
            "1:17: server.memory: found the integer -5, expected a size, such as \"64MB\", or a \
             whole number of bytes",
        ),
        (
            "server.memory = 99999999999999999999",
            "1:17: server.memory: found the integer 99999999999999999999, expected an integer \
             of at most 64 bits",
        ),
        (
            "server.idle_timeout = -5",
            "1:23: server.idle_timeout: found the integer -5, expected a duration, such as \
             \"250ms\", or a whole number of milliseconds",
        ),
    ] {
        assert_heads(text, &[expected]);
    }
}

#[test]
fn a_refused_value_says_why() {
    for (text, expected) in [
        (
            "server.memory = \"64 parsecs\"",
            "1:17: server.memory: the string \"64 parsecs\" is refused: unknown unit \
             \"parsecs\" (known: TB, GB, MB, KB, B); write a size, such as \"64MB\"",
        ),
        (
            "server.idle_timeout = \"soon\"",
            "1:23: server.idle_timeout: the string \"soon\" is refused: \"soon\" does not begin \
             with a number; write a duration, such as \"250ms\"",
        ),
        (
            "server.eviction = \"random_fifo\"",
            "1:19: server.eviction: \"random_fifo\" is not one of the choices; did you mean \
             \"random-fifo\"?",
        ),
        (
            "server.eviction = \"lru\"",
            "1:19: server.eviction: \"lru\" is not one of the choices; known here: \"ghosts\", \
             \"merge\", \"none\", \"random-fifo\"",
        ),
        (
            "[server.window]\nlow = 9\nhigh = 2",
            "1:1: server.window: a table is refused: low (9) must not be above high (2)",
        ),
        ("[server.window]\nlow = 9", "1:1: missing key \"high\" in [server.window]"),
        (
            "server.eviction = \"none\"\nserver.evict = \"none\"",
            "1:1: key \"eviction\" is given twice in [server], under two names",
        ),
        (
            "[[listen]]\naddress = \"localhost\"",
            "2:11: listen[0].address: the string \"localhost\" is refused: invalid socket \
             address syntax",
        ),
    ] {
        assert_heads(text, &[expected]);
    }
}

#[test]
fn a_missing_key_of_the_whole_document_has_no_place() {
    #[derive(Debug, Deserialize)]
    struct Needs {
        #[allow(dead_code)]
        port: u16,
    }
    let error = config::parse::<Needs>("", "f").unwrap_err();
    assert_eq!(error.to_string(), "f: missing key \"port\" at the top level");
}

#[test]
fn syntax_errors_have_a_place() {
    let error = config::parse::<Settings>("[server]\nport == 1\n", "my.toml").unwrap_err();
    assert_eq!(error.problems()[0].kind(), ProblemKind::Syntax);
    assert_eq!(
        error.to_string(),
        "my.toml:2:7: extra `=`, expected nothing\n  |\n2 | port == 1\n  |       ^"
    );
    assert_heads("[server]\nport = 1\nport = 2\n", &["3:1: duplicate key"]);
}

#[test]
fn a_size_without_quotes_is_explained() {
    for (text, value) in
        [("server.memory = 64MB", "64MB"), ("server.idle_timeout = 1.5s # x", "1.5s")]
    {
        let heads = heads(text);
        assert!(
            heads[0].ends_with(&format!("a size or duration is written in quotes: \"{value}\"")),
            "{heads:?}"
        );
    }
}

#[test]
fn values_and_keys_are_shown_only_in_part() {
    let secret = "s".repeat(100_000);
    for text in [
        format!("server.port = \"{secret}\""),
        format!("server.memory = \"{secret}\""),
        format!("server.eviction = \"{secret}\""),
        format!("server.{secret} = 1"),
        format!("{secret}.{secret} = 1"),
        format!("limits.{secret} = \"{secret}\""),
        format!("server.port = {}", "9".repeat(100_000)),
        format!("server.window = {{ low = \"{secret}\" }}"),
    ] {
        let error = config::parse::<Settings>(&text, "f").unwrap_err().to_string();
        assert!(error.len() < 900, "{} bytes: {error:.900}", error.len());
    }
}
