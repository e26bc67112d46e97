// SPDX-License-Identifier: Apache-2.0
//! `docs/commands.md` follows from the command table. When the table changes,
//! `UPDATE_COMMANDS=1 cargo test -p shoebill-protocol-resp --test commands_page` writes it anew.

use protocol_resp::table::{self, CommandId, Group, Spec};
use std::fs;
use std::path::Path;

const HEAD: &str = "\
# Commands

<!-- Made from the command table by crates/protocol-resp/tests/commands_page.rs. -->

What `rds` understands, by group. A name that is not here is answered with an error, and the
connection stays. *Time* is how the time of a command grows; *since* is the version of Redis that
brought it. `COMMAND DOCS` tells the same to clients, and `redis-cli` helps with it while one types.
";

/// The groups in the order of the page, and their titles.
const GROUPS: [(Group, &str); 16] = [
    (Group::String, "Strings"),
    (Group::Generic, "Keys"),
    (Group::Hash, "Hashes"),
    (Group::List, "Lists"),
    (Group::Set, "Sets"),
    (Group::SortedSet, "Sorted sets"),
    (Group::Stream, "Streams"),
    (Group::Bitmap, "Bitmaps"),
    (Group::Hyperloglog, "HyperLogLogs"),
    (Group::Geo, "Places"),
    (Group::Pubsub, "Channels"),
    (Group::Transactions, "Transactions"),
    (Group::Connection, "Connections"),
    (Group::Server, "Server"),
    (Group::Scripting, "Scripts"),
    (Group::Cluster, "Cluster"),
];

fn expected() -> String {
    let mut page = HEAD.to_owned();
    for (group, title) in GROUPS {
        let of_group = table::all().filter(|command| command.spec().group == group);
        let mut rows: Vec<&Spec> = of_group.filter(says_something).map(CommandId::spec).collect();
        rows.sort_by_key(|spec| spec.name);
        page += &format!("\n## {title}\n\n");
        page += "| command | what it does | answers | time | since |\n|---|---|---|---|---|\n";
        page.extend(rows.into_iter().map(row));
    }
    page
}

/// A container that only has sub-commands is not on the page; they are.
fn says_something(command: &CommandId) -> bool {
    !command.is_container() || command.spec().accepts(1)
}

fn row(spec: &Spec) -> String {
    let usage = format!("{} {}", spec.title(), spec.usage()).trim_end().replace('|', r"\|");
    let mut about = spec.summary.to_owned();
    if let Some(deprecated) = spec.deprecated {
        about += &format!(" Better: {}.", deprecated.replaced_by);
    }
    let Spec { complexity, since, .. } = spec;
    // In O(N*M) the stars would be emphasis.
    let complexity = complexity.replace('*', r"\*");
    format!("| `{usage}` | {about} | {} | {complexity} | {since} |\n", spec.reply.name())
}

#[test]
fn every_group_has_a_title() {
    for command in table::all() {
        let group = command.spec().group;
        assert!(GROUPS.iter().any(|(known, _)| *known == group), "{group:?} is not on the page");
    }
}

#[test]
fn the_page_of_commands_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    if std::env::var_os("UPDATE_COMMANDS").is_some() {
        fs::write(&path, expected()).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap();
    let help = "run UPDATE_COMMANDS=1 cargo test -p shoebill-protocol-resp --test commands_page";
    assert!(found == expected(), "{help}");
}
