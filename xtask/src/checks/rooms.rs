// SPDX-License-Identifier: Apache-2.0
//! The modules at the top of a crate, its rooms, use lower rooms only.
//!
//! A crate that is divided into rooms lists them, the lowest first, in its manifest:
//! `[package.metadata.shoebill] rooms = ["wire", "table", ...]`. The check reads all paths in the code that
//! begin with `crate`, or that climb with `super` to the root of the crate, tests included.

use crate::finding::Finding;
use crate::scan::{Scan, in_word};
use crate::workspace::{Package, Source, Workspace};

const RULE: &str = "rooms";

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in workspace.packages.iter().filter(|package| !package.rooms.is_empty()) {
        let folder = format!("{}/src/", package.folder);
        for source in &workspace.sources {
            if let Some(file) = source.path.strip_prefix(&folder)
                && file != "lib.rs"
            {
                findings.extend(check_file(package, source, file));
            }
        }
    }
    findings
}

fn check_file(package: &Package, source: &Source, file: &str) -> Vec<Finding> {
    let module = file.trim_end_matches(".rs").trim_end_matches("/mod");
    let (room, depth) = (module.split('/').next().unwrap_or(module), module.split('/').count());
    let place = |name: &str| package.rooms.iter().position(|room| room == name);
    let error = |line, message| Finding::error(&source.path, line, RULE, message);
    let Some(here) = place(room) else {
        return vec![error(1, format!("`{room}` is not among the rooms of `{}`", package.folder))];
    };
    let mut findings = Vec::new();
    for (name, at) in names_at_root(&source.scan, depth) {
        let message = match place(name) {
            Some(there) if there <= here => continue,
            Some(_) => format!("`{room}` must not use `{name}`, which is a higher room"),
            None => format!("`{name}` is no room; write the path through its room"),
        };
        findings.push(error(source.scan.line(at), message));
    }
    findings
}

/// The names in the crate's root that the code of a module at this depth uses, and their places.
fn names_at_root(scan: &Scan, depth: usize) -> Vec<(&str, usize)> {
    let code = &scan.code;
    let inline = inline_modules(scan);
    let mut names = Vec::new();
    for at in scan.words("crate") {
        if !code[..at].ends_with(['$', ':']) {
            names.extend(heads(code, at + "crate".len()));
        }
    }
    for at in scan.words("super").filter(|at| !code[..*at].ends_with("::")) {
        let mut end = at + "super".len();
        let mut climbed = 1;
        while code[end..].starts_with("::super") {
            end += "::super".len();
            climbed += 1;
        }
        let nested = inline.iter().filter(|module| module.contains(&at)).count();
        if climbed == depth + nested {
            names.extend(heads(code, end));
        }
    }
    names.sort_by_key(|(_, at)| *at);
    names
}

/// The blocks of inline modules.
fn inline_modules(scan: &Scan) -> Vec<std::ops::Range<usize>> {
    let block = |at: usize| {
        let rest = scan.code[at + "mod".len()..].trim_start();
        let rest = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').trim_start();
        let open = scan.code.len() - rest.len();
        rest.starts_with('{').then(|| open..scan.block_end(open))
    };
    scan.words("mod").filter_map(block).collect()
}

/// The first names after `::` at `at`: one, or those of a group.
fn heads(code: &str, at: usize) -> Vec<(&str, usize)> {
    let Some(rest) = code[at..].strip_prefix("::") else { return Vec::new() };
    let start = at + "::".len();
    if !rest.starts_with('{') {
        return name_at(code, start).into_iter().collect();
    }
    let mut names = Vec::new();
    let (mut nesting, mut begins) = (0_usize, false);
    for (i, byte) in rest.bytes().enumerate() {
        match byte {
            b'{' => {
                nesting += 1;
                begins = nesting == 1;
            }
            b'}' => nesting -= 1,
            b',' => begins = nesting == 1,
            _ if begins && in_word(byte) => {
                names.extend(name_at(code, start + i));
                begins = false;
            }
            _ => {}
        }
        if nesting == 0 {
            break;
        }
    }
    names
}

fn name_at(code: &str, at: usize) -> Option<(&str, usize)> {
    let len = code[at..].bytes().take_while(|byte| in_word(*byte)).count();
    (len > 0).then(|| (&code[at..at + len], at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example::{package, shown};

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let rooms = ["wire", "table", "engine"].map(str::to_owned).to_vec();
        let resp = Package { rooms, ..package("crates/resp", 2, &[]) };
        let file = |(path, text): &(&str, &str)| Source::new(&format!("crates/resp/{path}"), text);
        let sources = files.iter().map(file).collect();
        shown(&check(&Workspace { packages: vec![resp], sources, ..Workspace::default() }))
    }

    #[test]
    fn lower_rooms_and_the_own_one_are_fine() {
        assert_eq!(
            findings(&[
                ("src/lib.rs", "pub use engine::Engine; mod engine;"),
                ("src/engine.rs", "use crate::wire::Reply; use super::table; pub(crate) mod run;"),
                ("src/engine/run.rs", "use crate::{table, wire::{Args, Reply}}; use super::call;"),
                ("src/wire/parse.rs", "// crate::engine\nmod tests { use super::super::bulk; }"),
                ("tests/all.rs", "use crate::engine;"),
            ]),
            [""; 0]
        );
    }

    #[test]
    fn higher_rooms_are_not() {
        assert_eq!(
            findings(&[
                ("src/table.rs", "use super::engine;\nmod tests { use super::super::engine; }"),
                (
                    "src/table/row.rs",
                    "fn f() {\n crate::engine::run();\n super::super::engine::f() }"
                ),
                ("src/wire.rs", "use crate::{\n    wire::x,\n    table::{engine},\n};"),
            ]),
            [
                "crates/resp/src/table.rs:1: rooms: `table` must not use `engine`, which is a \
                 higher room",
                "crates/resp/src/table.rs:2: rooms: `table` must not use `engine`, which is a \
                 higher room",
                "crates/resp/src/table/row.rs:2: rooms: `table` must not use `engine`, which is a \
                 higher room",
                "crates/resp/src/table/row.rs:3: rooms: `table` must not use `engine`, which is a \
                 higher room",
                "crates/resp/src/wire.rs:3: rooms: `wire` must not use `table`, which is a higher \
                 room",
            ]
        );
    }

    #[test]
    fn what_is_in_no_room_is_found() {
        assert_eq!(
            findings(&[("src/kitchen.rs", ""), ("src/engine.rs", "use crate::Reply;")]),
            [
                "crates/resp/src/kitchen.rs:1: rooms: `kitchen` is not among the rooms of \
                 `crates/resp`",
                "crates/resp/src/engine.rs:1: rooms: `Reply` is no room; write the path through \
                 its room",
            ]
        );
    }
}
