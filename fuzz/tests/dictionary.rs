// SPDX-License-Identifier: Apache-2.0
//! `dictionaries/memcache.dict` and `dictionaries/commands.dict` follow from the command tables of
//! the two protocols. When a table changes, `UPDATE_DICTIONARY=1 cargo test --test dictionary`
//! writes them anew.

use protocol_resp::table;
use protocol_resp::table::syntax::Argument;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What else a fuzzer would have to find by chance.
const WORDS: [&str; 28] = [
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
    " v",
    " k q",
    " b",
    " O1",
    " T30",
    " N30 R31",
    " C1 I",
    " E1",
    " MA",
    " MI J1 D1",
];

/// Repetitions and passing time, see `src/stretch.rs` and `src/session.rs`.
const BYTES: [&str; 3] = [r"\xff\x00\x10", r"\xff\x03\x8c", r"\xfe\x0a"];

/// The header of both files.
const HEADER: &str = "# Made from the command table by tests/dictionary.rs.\n";

fn memcache() -> String {
    let mut entries = BTreeSet::new();
    for command in protocol_memcache::commands().filter(|command| command.is_text()) {
        entries.insert(format!("{} ", command.name));
        let choices = command.usage.split(['[', ']', '|', ' ']);
        entries.extend(choices.filter(is_literal).map(str::to_owned));
    }
    entries.extend(WORDS.map(str::to_owned));
    let escaped = entries.iter().map(|entry| escape(entry));
    let opcodes =
        protocol_memcache::opcodes().map(|row| format!(r"\x80\x{:02x}", row.opcode as u8));
    let others = opcodes.chain(BYTES.map(str::to_owned));
    let lines = escaped.chain(others).map(|entry| format!("\"{entry}\"\n"));
    HEADER.to_owned() + &lines.collect::<String>()
}

/// The lines of `resp_commands`: names, the words of their options, and what a script says.
fn commands() -> String {
    let mut entries: BTreeSet<String> = SCRIPT.map(str::to_owned).into();
    for id in table::all() {
        entries.insert(format!("{} ", id.spec().title()));
        tokens(&id.spec().arguments(), &mut entries);
    }
    let lines = entries.iter().map(|entry| format!("\"{}\"\n", escape(entry)));
    HEADER.to_owned() + &lines.collect::<String>()
}

fn tokens(arguments: &[Argument], entries: &mut BTreeSet<String>) {
    for argument in arguments {
        entries.extend(argument.token.map(|token| format!("{token} ")));
        tokens(&argument.arguments, entries);
    }
}

/// See `src/commands.rs`, and the keys and values that its commands are made of.
const SCRIPT: [&str; 28] = [
    "\n",
    "\n@0\n",
    "\n@1\n",
    "\n@2\n",
    "\n@3\n",
    "\n@+1000\n",
    "\n@-\n",
    "s1 ",
    "h1 ",
    "l1 ",
    "t1 ",
    "z1 ",
    "k ",
    "0 ",
    "1 ",
    "-1 ",
    "(1 ",
    "[a ",
    "-inf ",
    "+inf ",
    "* ",
    "9223372036854775807 ",
    "-9223372036854775808 ",
    "0.1 ",
    "\"\\x00\" ",
    "ch1 ",
    "maxmemory ",
    "notify-keyspace-events ",
];

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

fn compare(name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("dictionaries").join(name);
    if std::env::var_os("UPDATE_DICTIONARY").is_some() {
        fs::write(&path, expected).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "run UPDATE_DICTIONARY=1 cargo test --test dictionary");
}

#[test]
fn the_dictionary_of_memcache_has_every_command() {
    compare("memcache.dict", &memcache());
}

#[test]
fn the_dictionary_of_commands_has_every_command() {
    compare("commands.dict", &commands());
}
