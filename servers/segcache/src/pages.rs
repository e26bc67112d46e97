// SPDX-License-Identifier: Apache-2.0
//! Pages, man pages and completions of shells, generated from the tables of settings and flags. When a table changes,
//! `UPDATE_SETTINGS=1 cargo test -p shoebill-segcache pages` rewrites them.

use crate::args;
use crate::config::{Cache, Config, PORT};
use ::config::Section;
use ::config::page::{self, Own};
use manual::Manual;
use protocol_memcache::settings::Memcache;
use server::dialect::memcached;
use server::settings::{Configuration, Resp, Udp};
use std::path::Path;
use storage_seg::settings::Seg;

/// What differs from the defaults that all servers share.
const OWN: [Own; 4] = [
    Own { key: "[server] port", default: "11211", absent: "" },
    Own { key: "[server] read_timeout", default: "", absent: "never" },
    Own { key: "[server] write_timeout", default: "", absent: "`\"1m\"`" },
    Own { key: "[worker] output_memory", default: "", absent: "a quarter of `[cache] memory`" },
];

#[test]
fn pages_follow_from_the_tables() {
    assert_eq!(OWN[0].default, PORT.to_string());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let flags = args::flags();
    let flag = |key: &str| memcached::flag_for(&flags, key);
    let file = page::toml(&page::head(args::NAME), &Config::tables(), &OWN, flag);
    page::keep(&root.join("packaging/config/segcache.toml"), |_| file.clone());
    let exits = [
        ("0", "It was told to stop, or to print something, and did."),
        (
            "1",
            "The configuration or a flag is wrong, or it cannot go on; the last line of standard error says why.",
        ),
        ("64", "The value of `-p`, `-U`, `-B` or `-I` is wrong."),
    ];
    Manual::new(memcached::command_with(args::command(), &flags))
        .section("EXIT STATUS", &exits)
        .server()
        .settings(Config::tables(), &OWN)
        .keep(&root);
    let parts = [
        ("keys of [memcache]", page::markdown(&Memcache::table())),
        ("keys of [udp]", page::markdown(&Udp::table())),
        ("keys of [resp]", page::markdown(&Resp::table())),
        ("keys of [cache]", page::markdown(&Cache::table())),
        ("keys of [seg]", page::markdown(&Seg::table())),
        ("defaults of segcache", page::own_markdown(&OWN)),
        ("flags of segcache", memcached::markdown(&flags)),
    ];
    page::keep(&root.join("docs/configuration.md"), |old| {
        parts.iter().fold(old.to_owned(), |page, (mark, text)| {
            page::with_part(&page, mark, text).expect(mark)
        })
    });
}
