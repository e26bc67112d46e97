// SPDX-License-Identifier: Apache-2.0
//! Pages generated from the tables of settings. When a table changes,
//! `UPDATE_SETTINGS=1 cargo test -p shoebill-rds pages` rewrites them.

use crate::NAME;
use crate::config::{Config, PORT};
use ::config::page::{self, Own};
use server::settings::Configuration;
use std::path::Path;

/// What differs from the defaults that all servers share.
const OWN: [Own; 3] = [
    Own { key: "[server] port", default: "6379", absent: "6379" },
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
    page::keep(&root.join("docs/configuration.md"), |old| {
        let mark = "defaults of rds";
        page::with_part(old, mark, &page::own_markdown(&OWN)).expect(mark)
    });
}
