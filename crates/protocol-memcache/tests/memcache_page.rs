// SPDX-License-Identifier: Apache-2.0
//! The tables of commands in `docs/memcache.md` follow from the command table and from that of opcodes. When these
//! change, run `UPDATE_COMMANDS=1 cargo test -p shoebill-protocol-memcache --test memcache_page`.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use protocol_memcache::{Command, Part, commands, opcodes};
use std::fs;
use std::path::Path;

/// The commands of meta.
fn is_meta(command: &Command) -> bool {
    matches!(command.name, "mg" | "ms" | "md" | "ma" | "mn" | "me")
}

fn lines(chosen: impl Fn(&Command) -> bool) -> String {
    let mut table = String::from("| command | what it does |\n|---|---|\n");
    for command in commands().filter(|command| command.is_text() && chosen(command)) {
        let usage = format!("{} {}", command.name, command.usage).replace('|', r"\|");
        table.push_str(&format!("| `{}` | {} |\n", usage.trim_end(), command.about));
    }
    table
}

fn frames() -> String {
    let mut table =
        String::from("| opcode | name | extras | key | value |\n|---|---|---|---|---|\n");
    for row in opcodes() {
        let extras: Vec<_> = row.extras.iter().map(u8::to_string).collect();
        let part = |part: Part| match part {
            Part::Never => "no",
            Part::Always => "yes",
            Part::Maybe => "may be empty",
            Part::Ignored => "dropped",
        };
        let (extras, key, value) = (extras.join(" or "), part(row.key), part(row.value));
        let opcode = row.opcode as u8;
        table.push_str(&format!(
            "| `0x{opcode:02x}` | {} | {extras} | {key} | {value} |\n",
            row.name
        ));
    }
    table
}

/// `page` with the tables as they must be, each between its mark and the next end.
fn expected(page: &str) -> String {
    let tables = [
        ("text", lines(|command| !is_meta(command))),
        ("meta", lines(is_meta)),
        ("binary", frames()),
    ];
    let mut made = page.to_owned();
    for (name, table) in tables {
        let mark = format!("<!-- {name} -->\n");
        let start = made.find(&mark).expect("the page has the mark") + mark.len();
        let end = start + made[start..].find("<!-- end -->").expect("the table ends");
        made.replace_range(start..end, &format!("\n{table}\n"));
    }
    made
}

#[test]
fn the_page_of_the_protocol_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/memcache.md");
    let found = fs::read_to_string(&path).unwrap();
    let expected = expected(&found);
    if std::env::var_os("UPDATE_COMMANDS").is_some() {
        fs::write(&path, &expected).unwrap();
        return;
    }
    let help =
        "run UPDATE_COMMANDS=1 cargo test -p shoebill-protocol-memcache --test memcache_page";
    assert!(found == expected, "{help}");
}
