// SPDX-License-Identifier: Apache-2.0
//! Takes the Rust blocks out of the guides, so that the compiler sees what a reader copies. `pages` has links to the
//! guides, which a package has as files.
//!
//! A block that begins with `` ```rust src/codec.rs `` belongs to that file of the example, and one that begins with
//! `` ```rust wiring `` is an expression or an item by itself. A block of Rust without such a word fails the build.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

/// What a guide has, by the word behind ```` ```rust ````. Several blocks of one file follow each other.
type Blocks = BTreeMap<String, String>;

fn main() {
    let out = env::var("OUT_DIR").expect("cargo says where");
    let write = |name: &str, text: &str| {
        fs::write(Path::new(&out).join(name), text).expect("the folder is writable");
    };
    let protocol = blocks("pages/add-a-protocol.md");
    write("protocol.rs", &crate_of(&protocol));
    write("wiring.rs", &protocol["wiring"]);
    let storage = blocks("pages/add-a-storage.md");
    write("storage_test.rs", &storage["test"]);
}

fn blocks(path: &str) -> Blocks {
    println!("cargo::rerun-if-changed={path}");
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut blocks = Blocks::new();
    let mut word: Option<String> = None;
    for (index, line) in text.lines().enumerate() {
        let bare = line.trim_start();
        match (&word, bare.strip_prefix("```")) {
            (None, Some(info)) if info == "rust" || info.starts_with("rust ") => {
                let name = info["rust".len()..].trim();
                assert!(!name.is_empty(), "{path}:{}: say which file this is", index + 1);
                word = Some(name.to_owned());
            }
            // Blocks of other languages are passed over.
            (None, Some(info)) if !info.is_empty() => word = Some(String::new()),
            (Some(_), Some(_)) => word = None,
            (Some(name), None) if !name.is_empty() => {
                let block = blocks.entry(name.clone()).or_default();
                block.push_str(line);
                block.push('\n');
            }
            _ => {}
        }
    }
    blocks
}

/// `src/lib.rs` with the files of its modules in it: `include!` takes neither modules in files nor inner
/// attributes.
fn crate_of(blocks: &Blocks) -> String {
    let mut text = String::new();
    for line in blocks["src/lib.rs"].lines() {
        let module = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'));
        match module {
            Some(name) => {
                let file = &blocks[&format!("src/{name}.rs")];
                text.push_str(&format!("mod {name} {{\n{}}}\n", plain(file)));
            }
            None => text.push_str(&plain(line)),
        }
    }
    text
}

/// Inner documentation as comments, without inner attributes.
fn plain(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("#!["));
    lines.map(|line| line.replacen("//!", "//", 1) + "\n").collect()
}
