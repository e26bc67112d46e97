// SPDX-License-Identifier: Apache-2.0
//! The licences of the crates that are linked into the programs, as one text: most ask for their text to go along with
//! copies.

use super::program::Program;
use super::stage::names;
use super::tools::{Outcome, finish};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How deep below a crate's folder texts are looked for: C libraries are in folders of their own.
const DEPTH: usize = 2;

/// What cargo knows of the workspace and of all crates that it uses on this system.
pub(super) fn metadata(root: &Path) -> Outcome<Value> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let told = finish(cargo.current_dir(root).args([
        "metadata",
        "--locked",
        "--format-version=1",
        "--filter-platform",
        &format!("{}-unknown-linux-gnu", std::env::consts::ARCH),
    ]))?;
    serde_json::from_str(&told).map_err(|error| format!("cargo metadata: {error}"))
}

/// The licences of what `programs` link.
pub(super) fn of(metadata: &Value, programs: &[Program]) -> Outcome<String> {
    // Texts that are the same but for their blanks are told once, with all crates that have them.
    let mut texts: BTreeMap<String, (BTreeSet<String>, String)> = BTreeMap::new();
    let mut list = String::new();
    for crate_ in linked(metadata, programs) {
        let words = |key: &str| crate_[key].as_str().unwrap_or_default().to_owned();
        let title = format!("{} {}", words("name"), words("version"));
        list.push_str(&format!("{title}: {}\n", words("license")));
        let manifest = PathBuf::from(words("manifest_path"));
        for path in licence_files(manifest.parent().unwrap_or(&manifest), DEPTH)? {
            let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let key = text.split_whitespace().collect::<Vec<_>>().join(" ");
            texts.entry(key).or_insert_with(|| (BTreeSet::new(), text)).0.insert(title.clone());
        }
    }
    let mut all = format!("The programs are linked with these crates:\n\n{list}");
    let mut told: Vec<_> = texts.into_values().collect();
    told.sort_unstable();
    for (crates, text) in told {
        let crates: Vec<String> = crates.into_iter().collect();
        all.push_str(&format!(
            "\n{}\n{}\n\n{}\n",
            "=".repeat(78),
            crates.join(", "),
            text.trim_end()
        ));
    }
    Ok(all)
}

/// The crates of others that are linked, by name and version.
fn linked<'a>(metadata: &'a Value, programs: &[Program]) -> Vec<&'a Value> {
    let list = |value: &'a Value| value.as_array().into_iter().flatten();
    let packages: BTreeMap<&str, &Value> =
        list(&metadata["packages"]).filter_map(|it| Some((it["id"].as_str()?, it))).collect();
    let nodes: BTreeMap<&str, &Value> = list(&metadata["resolve"]["nodes"])
        .filter_map(|it| Some((it["id"].as_str()?, it)))
        .collect();
    let is_program = |package: &Value| programs.iter().any(|it| package["name"] == it.package);
    let mut next: Vec<&str> =
        packages.iter().filter(|(_, package)| is_program(package)).map(|(id, _)| *id).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = next.pop() {
        if !seen.insert(id) {
            continue;
        }
        for dependency in nodes.get(id).into_iter().flat_map(|node| list(&node["deps"])) {
            // Neither what only tests need, nor what only runs while others are built.
            let is_linked = list(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null());
            if is_linked {
                next.extend(dependency["pkg"].as_str());
            }
        }
    }
    let linked = seen.into_iter().filter_map(|id| packages.get(id).copied());
    let mut theirs: Vec<&Value> = linked.filter(|package| !package["source"].is_null()).collect();
    theirs.sort_by_key(|package| (package["name"].as_str(), package["version"].as_str()));
    theirs
}

/// The texts of licences in a folder and in those below it.
fn licence_files(folder: &Path, depth: usize) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    for name in names(folder)? {
        let path = folder.join(&name);
        if path.is_dir() {
            if depth > 0 {
                found.extend(licence_files(&path, depth - 1)?);
            }
            continue;
        }
        let upper = name.to_uppercase();
        let is_text = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"]
            .iter()
            .any(|begin| upper.starts_with(begin));
        if is_text && !upper.ends_with(".PY") && !upper.ends_with(".RS") {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::program::PROGRAMS;
    use serde_json::json;

    #[test]
    fn what_is_linked_is_found_through_our_own_crates() {
        let package = |name: &str, source: Value| json!({ "id": name, "name": name, "version": "1.0.0", "source": source });
        let dep = |name: &str, kind: Value| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [
                package("shoebill-rds", Value::Null),
                package("shoebill-buffer", Value::Null),
                package("libc", json!("registry")),
                package("proptest", json!("registry")),
                package("cc", json!("registry")),
            ],
            "resolve": { "nodes": [
                { "id": "shoebill-rds", "deps": [
                    dep("shoebill-buffer", Value::Null),
                    dep("proptest", json!("dev")),
                    dep("cc", json!("build")),
                ] },
                { "id": "shoebill-buffer", "deps": [dep("libc", Value::Null)] },
            ] },
        });
        let names: Vec<_> = linked(&metadata, PROGRAMS).iter().map(|it| &it["name"]).collect();
        assert_eq!(names, ["libc"]);
    }
}
