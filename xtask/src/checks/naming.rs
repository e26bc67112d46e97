// SPDX-License-Identifier: Apache-2.0
//! A folder has its package's name, crates are in a flat list, none is a hub, and what is published has our prefix.

use crate::finding::Finding;
use crate::workspace::{Package, Workspace};

const RULE: &str = "naming";

/// Names without a meaning, under which unrelated code collects.
const HUBS: [&str; 7] = ["common", "core", "util", "utils", "types", "helpers", "misc"];
/// Folders that hold packages; others are packages themselves.
const SHELVES: [&str; 3] = ["benches", "crates", "servers"];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.packages.iter().flat_map(messages).collect()
}

fn messages(package: &Package) -> Vec<Finding> {
    let Package { name, folder, .. } = package;
    let mut messages = Vec::new();
    let expected = match folder.split_once('/') {
        Some((shelf, _)) if SHELVES.contains(&shelf) => format!("{shelf}/{name}"),
        _ => name.clone(),
    };
    if *folder != expected {
        messages.push(format!("package `{name}` is in `{folder}`; move it to `{expected}`"));
    }
    if let Some(hub) = name.split(['-', '_']).find(|part| HUBS.contains(part)) {
        messages
            .push(format!("`{hub}` in `{name}` says nothing; name the crate after its one idea"));
    }
    if package.published && !package.prefixed {
        messages.push(format!(
            "`{name}` is published, so it is `shoebill-{name}` in its manifest, and `{name}` in `[lib]`"
        ));
    }
    let line = package.manifest_line("name");
    messages
        .into_iter()
        .map(|message| Finding::error(&package.manifest_path(), line, RULE, message))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example::{package, shown};

    fn findings(folder: &str, name: &str) -> Vec<String> {
        let package = Package { name: name.to_owned(), ..package(folder, 0, &[]) };
        shown(&check(&Workspace { packages: vec![package], ..Workspace::default() }))
    }

    #[test]
    fn good_names_are_fine() {
        for (folder, name) in
            [("crates/buffer", "buffer"), ("servers/segcache", "segcache"), ("xtask", "xtask")]
        {
            assert_eq!(findings(folder, name), [""; 0]);
        }
    }

    #[test]
    fn what_is_published_has_the_prefix() {
        let find = |published, prefixed| {
            let package = Package { published, prefixed, ..package("crates/buffer", 0, &[]) };
            shown(&check(&Workspace { packages: vec![package], ..Workspace::default() }))
        };
        assert_eq!(
            find(true, false),
            ["crates/buffer/Cargo.toml:2: naming: `buffer` is published, so it is \
              `shoebill-buffer` in its manifest, and `buffer` in `[lib]`"]
        );
        assert_eq!(find(true, true), [""; 0]);
        assert_eq!(find(false, false), [""; 0]);
    }

    #[test]
    fn a_folder_has_the_name_of_its_package() {
        assert_eq!(
            findings("crates/buf", "buffer"),
            ["crates/buf/Cargo.toml:2: naming: package `buffer` is in `crates/buf`; \
              move it to `crates/buffer`"]
        );
        assert_eq!(
            findings("crates/protocol/ping", "ping"),
            ["crates/protocol/ping/Cargo.toml:2: naming: package `ping` is in \
              `crates/protocol/ping`; move it to `crates/ping`"]
        );
    }

    #[test]
    fn hubs_are_refused() {
        for (name, hub) in [
            ("common", "common"),
            ("core", "core"),
            ("storage-types", "types"),
            ("net_utils", "utils"),
        ] {
            assert_eq!(
                findings(&format!("crates/{name}"), name),
                [format!(
                    "crates/{name}/Cargo.toml:2: naming: `{hub}` in `{name}` says nothing; \
                     name the crate after its one idea"
                )]
            );
        }
    }
}
