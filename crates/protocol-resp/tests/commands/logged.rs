// SPDX-License-Identifier: Apache-2.0
//! What the log says of commands.

use super::support::Ours;
use protocol_resp::Version;
use std::sync::{Mutex, Once};

/// All lines of all tests.
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A log that keeps warnings.
struct Kept;

impl log::Log for Kept {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        LINES.lock().expect("nobody panics with it").push(record.args().to_string());
    }

    fn flush(&self) {}
}

fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Kept).expect("there is no other");
        log::set_max_level(log::LevelFilter::Warn);
    });
}

/// The lines with this part.
fn lines(part: &str) -> Vec<String> {
    let lines = LINES.lock().expect("nobody panics with it");
    lines.iter().filter(|line| line.contains(part)).cloned().collect()
}

#[cfg(feature = "scripts")]
#[test]
fn a_script_that_takes_too_long_is_told_of() {
    listen();
    let mut ours = Ours::new(Version::Resp2);
    ours.ask(&["CONFIG", "SET", "busy-reply-threshold", "1"]);
    for (script, wrote) in [
        ("while true do end", "it has written nothing"),
        // It is told several times to end.
        ("while true do pcall(function() while true do end end) end", "it has written nothing"),
        ("redis.call('set', KEYS[1], 1) while true do end", "it has written"),
    ] {
        let sha = match ours.ask(&["SCRIPT", "LOAD", script]) {
            protocol_resp::client::Value::Bulk(sha) => String::from_utf8(sha).expect("digits"),
            other => panic!("no digest: {other:?}"),
        };
        ours.ask(&["EVALSHA", &sha, "1", "k"]);
        let told = lines(&sha);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("of client 1: still runs"), "{told:?}");
        assert!(told[1].contains("of client 1: ended because it ran for too long"), "{told:?}");
        assert!(told.iter().all(|line| line.ends_with(wrote)), "{told:?}");
    }
}

#[test]
fn a_maxmemory_below_what_is_used_is_told_of() {
    listen();
    let mut ours = Ours::new(Version::Resp2);
    ours.ask(&["SET", "k", &"x".repeat(1000)]);
    for (maxmemory, told) in [("0", 0), ("104857600", 0), ("1023", 1), ("0", 0)] {
        // No other test has such a number.
        ours.ask(&["CONFIG", "SET", "hz", "10", "maxmemory", maxmemory]);
        let lines = lines(&format!("CONFIG SET maxmemory: {maxmemory} bytes are less than the "));
        assert_eq!(lines.len(), told, "{maxmemory}: {lines:?}");
    }
}
