// SPDX-License-Identifier: Apache-2.0
//! Pages, man pages and completions of shells, generated from the tables of settings. When a table changes,
//! `UPDATE_SETTINGS=1 cargo test -p shoebill-rds pages` rewrites them.

use crate::config::{Config, PORT};
use crate::{NAME, program};
use ::config::page::{self, Own};
use manual::Manual;
use server::dialect::redis;
use server::settings::Configuration;
use server_resp::Redis;
use std::path::Path;

/// What differs from the defaults that all servers share.
const OWN: [Own; 5] = [
    Own { key: "[server] port", default: "6379", absent: "6379" },
    Own { key: "[server] read_timeout", default: "", absent: "never" },
    Own { key: "[server] write_timeout", default: "", absent: "never" },
    Own { key: "[worker] output_memory", default: "", absent: "no limit" },
    Own {
        key: "[debug] log_file",
        default: "",
        absent: "standard error; standard output without a TOML file",
    },
];

#[test]
fn pages_follow_from_the_tables() {
    assert_eq!(OWN[0].default, PORT.to_string());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = page::toml(&page::head(NAME), &Config::tables(), &OWN, |_| None);
    page::keep(&root.join("packaging/config/rds.toml"), |_| file.clone());
    let exits = [
        ("0", "It was told to stop, or to print something, and did."),
        (
            "1",
            "The configuration is wrong, or it cannot go on; the last line of standard error says why.",
        ),
        ("2", "The command line is wrong."),
    ];
    Manual::new(redis::command::<Redis>(program()))
        .section("EXIT STATUS", &exits)
        .server()
        .settings(Config::tables(), &OWN)
        .keep(&root);
    page::keep(&root.join("docs/configuration.md"), |old| {
        let mark = "defaults of rds";
        page::with_part(old, mark, &page::own_markdown(&OWN)).expect(mark)
    });
}
