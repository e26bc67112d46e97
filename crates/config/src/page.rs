// SPDX-License-Identifier: Apache-2.0
//! Pages generated from tables of settings: Markdown for `docs`, commented files for `packaging`.
//!
//! A test generates them and compares ([`keep`]); with [`UPDATE`] in the environment it writes them.

use crate::section::{Row, Table};
use std::path::Path;
use std::{env, fs};

/// The environment variable with which tests write pages instead of comparing them.
pub const UPDATE: &str = "UPDATE_SETTINGS";

/// The widest line of a commented file.
const WIDTH: usize = 100;

/// A default of one server that differs from the shared one.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// The key, as `[section] key`.
    pub key: &'static str,
    /// Its default as written in a file; empty if it has none.
    pub default: &'static str,
    /// What applies without the key, in words, if it has no default.
    pub absent: &'static str,
}

/// What applies without a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unset<'a> {
    /// This value, as written in a file.
    Value(&'a str),
    /// What these words say.
    Words(&'a str),
}

impl<'a> Unset<'a> {
    /// What applies without the key `row`, with the server's `own` default if it has one.
    #[must_use]
    pub fn of(row: &'a Row, own: Option<&'a Own>) -> Self {
        match own {
            Some(own) if own.absent.is_empty() => Unset::Value(own.default),
            Some(own) => Unset::Words(own.absent),
            None => row.default.as_deref().map_or(Unset::Words(&row.absent), Unset::Value),
        }
    }
}

/// The keys of a section as a table in Markdown.
#[must_use]
pub fn markdown(table: &Table) -> String {
    let mut text = "| key | type | default | meaning |\n|---|---|---|---|\n".to_owned();
    for row in &table.rows {
        let Row { key, takes, about, .. } = row;
        let default =
            row.default.as_ref().map_or_else(|| row.absent.clone(), |it| format!("`{it}`"));
        text.push_str(&format!("| `{key}` | {takes} | {default} | {about} |\n"));
    }
    text
}

/// A server's own defaults as a table in Markdown.
#[must_use]
pub fn own_markdown(own: &[Own]) -> String {
    let mut text = "| key | default |\n|---|---|\n".to_owned();
    for Own { key, default, absent } in own {
        let shown = if default.is_empty() { (*absent).to_owned() } else { format!("`{default}`") };
        text.push_str(&format!("| `{key}` | {shown} |\n"));
    }
    text
}

/// How the commented file of a server begins.
#[must_use]
pub fn head(server: &str) -> String {
    format!(
        "Configuration of {server}. Every key is here with its default; all of them may be left out.\n\n\
         {0}{server} --check-config {server}.toml     is it right?\n\
         {0}{server} --print-config {server}.toml     what does it come to?\n\n\
         Sizes are written \"64MB\" (powers of 1024) or as a number of bytes, durations \"250ms\", \"30s\", \
         \"5m\", \"1h\", \"7d\" or as a number of milliseconds. An unknown key is an error. Flags of the \
         command line override what is said here. The keys in detail: docs/configuration.md. The limits in \
         detail: docs/limits.md.\n\n\
         This file is made from the table of settings: docs/dev/add-a-setting.md.",
        "  "
    )
}

/// A commented file with every key of these sections. `flag` names the flag of the command line that sets a
/// key, if there is one.
#[must_use]
pub fn toml(
    head: &str,
    tables: &[Table],
    own: &[Own],
    flag: impl Fn(&str) -> Option<String>,
) -> String {
    let mut text = comment(head);
    for table in tables {
        text.push_str(&format!("\n{table}\n"));
        text.push_str(&comment(&plain(&table.about)));
        for (number, row) in table.rows.iter().enumerate() {
            let key = format!("{table} {}", row.key);
            let own = own.iter().find(|own| own.key == key);
            if number > 0 || !table.about.is_empty() {
                text.push('\n');
            }
            text.push_str(&entry(row, own, flag(&key)));
        }
    }
    text
}

/// A key of a commented file: what it is for, what it may be, and its default.
fn entry(row: &Row, own: Option<&Own>, flag: Option<String>) -> String {
    let unset = Unset::of(row, own);
    let mut about = plain(&row.about);
    if !row.takes.is_empty() {
        about.push_str(&format!(" ({})", plain(&row.takes)));
    }
    if let Unset::Words(absent) = unset {
        about.push_str(&format!(" Without it: {}.", plain(absent)));
    }
    if let Some(flag) = flag {
        about.push_str(&format!(" Flag: {flag}."));
    }
    let own_example = own.filter(|own| !own.default.is_empty() && !own.absent.is_empty());
    let example = own_example.map(|own| own.default).or(row.example.as_deref());
    let example = example.map(|example| format!("# {} = {example}\n", row.key));
    let line = match unset {
        Unset::Value(default) => {
            format!("{}{} = {default}\n", example.unwrap_or_default(), row.key)
        }
        Unset::Words(_) => example.unwrap_or_else(|| format!("# {} =\n", row.key)),
    };
    format!("{}{line}", comment(&about))
}

/// Markdown without its marks for code.
fn plain(markdown: &str) -> String {
    markdown.replace('`', "")
}

/// Paragraphs as comments, in lines that are not too wide. Lines that begin with a blank stay as they are.
fn comment(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        if paragraph.is_empty() || paragraph.starts_with(' ') {
            lines.push(format!("# {paragraph}").trim_end().to_owned());
            continue;
        }
        let mut line = String::from("#");
        for word in paragraph.split_ascii_whitespace() {
            if line.chars().count() + 1 + word.chars().count() > WIDTH {
                lines.push(std::mem::replace(&mut line, String::from("#")));
            }
            line.push(' ');
            line.push_str(word);
        }
        lines.push(line);
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// `page` with `text` between the two comment lines that have this mark; `None` if there are no such lines.
#[must_use]
pub fn with_part(page: &str, mark: &str, text: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- end of {mark} -->"));
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}{text}{end}{after}"))
}

/// Compares the page at `path` with the result of `expected`, which is given the page's present text. With
/// [`UPDATE`] in the environment it writes the page instead.
///
/// # Panics
///
/// When the page differs, or cannot be read or written.
pub fn keep(path: &Path, expected: impl Fn(&str) -> String) {
    let found = fs::read_to_string(path).unwrap_or_default();
    let expected = expected(&found);
    if env::var_os(UPDATE).is_some() {
        fs::write(path, expected).expect("the page can be written");
        return;
    }
    let differing = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
    assert!(
        found == expected,
        "{} does not follow from the table of settings (expected, found: {differing:?}); \
         set {UPDATE}=1 and run this test again",
        path.display()
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ByteSize, Section};

    crate::section! {
        /// What is kept.
        struct Cache in "cache" {
            /// Memory for items.
            memory: ByteSize = ByteSize(64 << 20), takes "a size, at least `\"1MB\"`";
            /// Threads that look
            /// after them.
            threads: usize = 1, within 1..=256;
            /// The file to keep them in.
            file: Option<std::path::PathBuf> = None, example "/x";
            /// Nobody's business.
            secret: Option<u64> = None, hidden ();
        }
        without_effect {
            hash_power: "the index grows by itself";
        }
    }

    #[test]
    fn keys_are_rows() {
        let expected = "| key | type | default | meaning |\n|---|---|---|---|\n\
            | `memory` | a size, at least `\"1MB\"` | `\"64MB\"` | Memory for items. |\n\
            | `threads` | 1 to 256 | `1` | Threads that look after them. |\n\
            | `file` | path | none | The file to keep them in. |\n";
        assert_eq!(markdown(&Cache::table()), expected);
    }

    #[test]
    fn a_commented_file_has_every_key() {
        let own = [Own { key: "[cache] threads", default: "4", absent: "" }];
        let flag = |key: &str| (key == "[cache] memory").then(|| "-m".to_owned());
        let expected = "# Mine.\n#\n#   as it is\n\n[cache]\n# What is kept.\n\n\
            # Memory for items. (a size, at least \"1MB\") Flag: -m.\nmemory = \"64MB\"\n\n\
            # Threads that look after them. (1 to 256)\nthreads = 4\n\n\
            # The file to keep them in. (path) Without it: none.\n# file = \"/x\"\n";
        let text = toml("Mine.\n\n  as it is", &[Cache::table()], &own, flag);
        assert_eq!(text, expected);
        let again: toml::Table = text.parse().expect("TOML");
        let section = toml::Table::try_from(again["cache"].clone()).expect("a table");
        let read: Cache = section.try_into().expect("what a file has can be read");
        assert_eq!((read.threads, read.memory), (4, ByteSize(64 << 20)));
        assert!(read.secret.is_none() && read.file.is_none());
    }

    #[test]
    fn values_are_checked_and_keys_without_effect_are_named() {
        let cache: Cache = ::toml::from_str("threads = 0\nhash_power = 3").expect("right types");
        let problem = ("[cache] threads", "0 is not between 1 and 256".to_owned());
        assert_eq!(cache.problem(), Some(problem));
        let warning = "[cache] hash_power has no effect: the index grows by itself";
        assert_eq!(cache.warnings(), [warning]);
        assert!(Cache::default().problem().is_none() && Cache::default().warnings().is_empty());
    }

    #[test]
    fn a_part_of_a_page_is_replaced() {
        let page = "a\n<!-- x -->\nold\n<!-- end of x -->\nb\n";
        let expected = "a\n<!-- x -->\nnew\n<!-- end of x -->\nb\n";
        assert_eq!(with_part(page, "x", "new\n").as_deref(), Some(expected));
        assert_eq!(with_part(page, "y", "new\n"), None);
    }
}
