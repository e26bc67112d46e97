// SPDX-License-Identifier: Apache-2.0
//! The sections of `docs/configuration.md` that all servers share are generated from the tables of settings.
//! When a table changes, `UPDATE_SETTINGS=1 cargo test` rewrites the page.

use config::{Section, Table, page};
use server::settings::{Admin, DebugLog, Klog, Server, Tls, Worker};
use std::path::Path;

#[test]
fn shared_sections_follow_from_their_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let tables: [Table; 6] = [
        Server::table(),
        Worker::table(),
        Admin::table(),
        Tls::table(),
        DebugLog::table(),
        Klog::table(),
    ];
    page::keep(&path, |old| {
        tables.iter().fold(old.to_owned(), |page, table| {
            let mark = format!("keys of {table}");
            page::with_part(&page, &mark, &page::markdown(table)).expect(&mark)
        })
    });
}
