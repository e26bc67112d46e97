// SPDX-License-Identifier: Apache-2.0
//! Libraries of Lua scripts, for `script_values` and `script_patterns`. An input is given to a script of `scripts/` as
//! its arguments; the script checks what the library makes of it, and fails if that is wrong.

use script::testing::{Canned, TextReply};
use script::{Vm, sha1};

/// How often a script may go on: it is asked after some ten thousand steps.
const PATIENCE: u64 = 100;

const JSON: &str = concat!(include_str!("scripts/same.lua"), include_str!("scripts/json.lua"));
const MSGPACK: &str =
    concat!(include_str!("scripts/same.lua"), include_str!("scripts/msgpack.lua"));
const STRUCT: &str = concat!(include_str!("scripts/same.lua"), include_str!("scripts/struct.lua"));
const PATTERNS: &str = include_str!("scripts/patterns.lua");

/// Reads an input as values: the first byte chooses the library. A format of `struct` ends with its line.
pub(crate) fn check_values(input: &[u8]) {
    let Some((&choice, input)) = input.split_first() else { return };
    match choice % 3 {
        0 => run(JSON, &[input]),
        1 => run(MSGPACK, &[input]),
        _ => run(STRUCT, &line_and_rest(input)),
    }
}

/// Finds a pattern, which ends with its line, in the rest of an input.
pub(crate) fn check_patterns(input: &[u8]) {
    run(PATTERNS, &line_and_rest(input));
}

fn line_and_rest(input: &[u8]) -> [&[u8]; 2] {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    [&input[..end], input.get(end + 1..).unwrap_or_default()]
}

/// A script may be ended for the time it takes. All other errors are findings.
fn run(source: &str, args: &[&[u8]]) {
    let mut vm = Vm::new("8.0.0").expect("there is memory");
    let sha = sha1::hex(source.as_bytes());
    vm.compile(&sha, source.as_bytes()).expect("it is Lua");
    let mut server = Canned { patience: PATIENCE, ..Canned::default() };
    if let Err(raised) = vm.run(&sha, &[], args, &mut server, &mut TextReply::default()) {
        let text = String::from_utf8_lossy(&raised.text);
        assert!(text.starts_with("ERR Script killed"), "{text}");
    }
}
