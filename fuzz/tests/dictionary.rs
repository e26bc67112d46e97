// SPDX-License-Identifier: Apache-2.0
//! `dictionaries/memcache.dict` follows from the command table. When the table changes,
//! `UPDATE_DICTIONARY=1 cargo test --test dictionary` writes it anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What else a fuzzer would have to find by chance.
const WORDS: [&str; 18] = [
    " ",
    "\r\n",
    "\n",
    "\0",
    " 0 ",
    " 0 0 1\r\nx\r\n",
    " noreply",
    " -1 ",
    " 250 ",
    " 256 ",
    " 2048 ",
    " 2592000 ",
    " 1700000001 ",
    " 2147483645 ",
    " 4294967296 ",
    " 18446744073709551615 ",
    " HTTP/1.1\r\n",
    "kkkkkkkkkkkkkkkk",
];

/// Repetitions and passing time, see `src/stretch.rs` and `src/session.rs`.
const BYTES: [&str; 3] = [r"\xff\x00\x10", r"\xff\x03\x8c", r"\xfe\x0a"];

fn expected() -> String {
    let mut entries = BTreeSet::new();
    for command in protocol_memcache::commands() {
        entries.insert(format!("{} ", command.name));
        let choices = command.usage.split(['[', ']', '|', ' ']);
        entries.extend(choices.filter(is_literal).map(str::to_owned));
    }
    entries.extend(WORDS.map(str::to_owned));
    let escaped = entries.iter().map(|entry| escape(entry));
    let lines = escaped.chain(BYTES.map(str::to_owned)).map(|entry| format!("\"{entry}\"\n"));
    let header = "# Made from the command table by tests/dictionary.rs.\n";
    header.to_owned() + &lines.collect::<String>()
}

/// Whether a word of a usage line is to be sent as it is.
fn is_literal(word: &&str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn escape(entry: &str) -> String {
    let byte = |byte: u8| match byte {
        b' '..=b'~' if byte != b'"' && byte != b'\\' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    entry.bytes().map(byte).collect()
}

#[test]
fn the_dictionary_has_every_command() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("dictionaries/memcache.dict");
    if std::env::var_os("UPDATE_DICTIONARY").is_some() {
        fs::write(&path, expected()).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap();
    assert_eq!(found, expected(), "run UPDATE_DICTIONARY=1 cargo test --test dictionary");
}
