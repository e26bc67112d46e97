// SPDX-License-Identifier: Apache-2.0
//! Files as they come: missing, foreign, saved by another editor.

use config::{Error, ProblemKind};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Settings {
    server: Server,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Server {
    port: u16,
}

#[test]
fn bytes_that_are_not_utf8_have_a_place() {
    let error = config::parse::<Settings>(b"a = 1\nb = \"\xc3\xa9\xff\"\n", "f").unwrap_err();
    assert_eq!(error.problems()[0].kind(), ProblemKind::Encoding);
    assert_eq!(
        error.to_string(),
        "f:2:7: the byte 0xff is not UTF-8; save the file as UTF-8\n  |\n\
         2 | b = \"é\u{fffd}\"\n  |       ^"
    );
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_fine() {
    let text = "\u{feff}[server]\r\nport = 7\r\n";
    assert_eq!(config::parse::<Settings>(text, "f").unwrap().server.port, 7);
}

#[test]
fn a_missing_file_is_named() {
    let error = config::load::<Settings>("/nonexistent/my.toml").unwrap_err();
    assert!(matches!(error, Error::Read { .. }));
    assert_eq!(
        error.to_string(),
        "cannot read the configuration file \"/nonexistent/my.toml\": \
         No such file or directory (os error 2)"
    );
    let directory = tempfile::tempdir().unwrap();
    let error = config::load::<Settings>(directory.path()).unwrap_err();
    assert!(error.to_string().contains("Is a directory"), "{error}");
}

#[test]
fn a_file_is_loaded_and_its_path_named_in_errors() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("my.toml");
    std::fs::write(&path, "server.port = 7").unwrap();
    assert_eq!(config::load::<Settings>(&path).unwrap().server.port, 7);
    std::fs::write(&path, "server.port = \"x\"").unwrap();
    let error = config::load::<Settings>(&path).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}:1:15: server.port:", path.display())), "{error}");
}

#[test]
fn a_file_of_another_kind_is_refused_by_its_size() {
    let error = config::parse::<Settings>(vec![b'#'; config::MAX_BYTES + 1], "core").unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }));
    assert_eq!(error.to_string(), "core: larger than 1MB, the most a configuration file may have");
    assert!(config::parse::<Settings>(vec![b'#'; config::MAX_BYTES], "f").is_ok());
}
