// SPDX-License-Identifier: Apache-2.0
//! The seeds of some targets are made by `src/seeds.rs`. When that changes, or the command table does,
//! `UPDATE_SEEDS=1 cargo test --test seeds` writes them anew. Other files beside them are inputs that
//! once failed; they stay.

use fuzz::seeds::Seeds;
use std::fs;
use std::path::Path;

fn compare(target: &str, seeds: &Seeds) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    for (name, expected) in seeds {
        let path = folder.join(name);
        if std::env::var_os("UPDATE_SEEDS").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, expected).unwrap();
        }
        let found = fs::read(&path).unwrap_or_default();
        assert!(found == *expected, "{name}: run UPDATE_SEEDS=1 cargo test --test seeds");
    }
}

#[test]
fn keyspace_model() {
    compare("keyspace_model", &fuzz::seeds::keyspace_model());
}

#[test]
fn resp_commands() {
    compare("resp_commands", &fuzz::seeds::resp_commands());
}
