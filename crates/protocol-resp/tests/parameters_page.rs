// SPDX-License-Identifier: Apache-2.0
//! `docs/parameters.md` follows from the table of parameters. When the table changes,
//! `UPDATE_PARAMETERS=1 cargo test -p shoebill-protocol-resp --test parameters_page` writes it anew.

use protocol_resp::service::config::{Parameter, parameters};
use std::fs;
use std::path::Path;

const HEAD: &str = "\
# Parameters

<!-- Made from the table of parameters by crates/protocol-resp/tests/parameters_page.rs. -->

Redis's parameters as `rds` knows them, by their names and with the same values: on the command line
(`--maxmemory 4gb`), in a `redis.conf` (`maxmemory 4gb`), in `[redis]` of a TOML file
(`maxmemory = \"4gb\"`) and by `CONFIG`. [rds.md](rds.md) says how these go together.

Sizes are numbers of bytes, or have a unit: `k`, `m` and `g` are powers of 1000, `kb`, `mb` and `gb` of
1024.
";

const USED: &str = "
## In force

*Changes* says whether `CONFIG SET` changes it while the server runs. What a TOML file says in a
section that all our servers share has its place there instead of in `[redis]`.

| parameter | default | changes | in a TOML file | what it is for |
|---|---|---|---|---|
";

const REFUSED: &str = "
## Refused

A server does not start with these, and `CONFIG SET` refuses them, unless the value is the default.

| parameter | default | why |
|---|---|---|
";

const IGNORED: &str = "
## Without effect, with a warning

A server starts with these, and says that they make no difference. `CONFIG GET` shows the default, and
`CONFIG SET` refuses anything else, but for `save`: it is taken with a warning in the log, and shown.

| parameter | default | why |
|---|---|---|
";

const KEPT: &str = "
## Without effect

Whatever these are, the server behaves the same. Any right value is accepted and shown.

";

fn expected() -> String {
    let mut page = HEAD.to_owned();
    page += USED;
    page.extend(sorted(|one| !one.about().is_empty()).into_iter().map(used));
    page += REFUSED;
    page.extend(sorted(|one| one.is_refused()).into_iter().map(because));
    page += IGNORED;
    page.extend(sorted(|one| one.reason().is_some() && !one.is_refused()).into_iter().map(because));
    page += KEPT;
    let kept = sorted(|one| one.about().is_empty() && one.reason().is_none());
    let names: Vec<String> = kept.into_iter().map(names).collect();
    page + &wrapped(&names) + "\n"
}

fn sorted(is_meant: impl Fn(&&Parameter) -> bool) -> Vec<&'static Parameter> {
    let mut meant: Vec<_> = parameters().filter(is_meant).collect();
    meant.sort_by_key(|parameter| parameter.name());
    meant
}

fn names(parameter: &Parameter) -> String {
    match parameter.alias() {
        Some(alias) => format!("`{}` (`{alias}`)", parameter.name()),
        None => format!("`{}`", parameter.name()),
    }
}

fn default(parameter: &Parameter) -> String {
    let default = parameter.default();
    if default.is_empty() { "none".to_owned() } else { format!("`{default}`") }
}

fn used(parameter: &Parameter) -> String {
    let changes = if parameter.is_live() { "yes" } else { "no" };
    let place =
        parameter.place().map_or_else(|| "`[redis]`".to_owned(), |place| format!("`{place}`"));
    let (names, default, about) = (names(parameter), default(parameter), parameter.about());
    format!("| {names} | {default} | {changes} | {place} | {about} |\n")
}

fn because(parameter: &Parameter) -> String {
    let reason = parameter.reason().unwrap_or_default();
    format!("| {} | {} | {reason} |\n", names(parameter), default(parameter))
}

/// Words with commas between them, in lines of up to 100 characters.
fn wrapped(words: &[String]) -> String {
    let mut lines = vec![String::new()];
    for (at, word) in words.iter().enumerate() {
        let end = if at + 1 < words.len() { "," } else { "." };
        let line = lines.last_mut().expect("there is one");
        if line.is_empty() {
            line.push_str(&format!("{word}{end}"));
        } else if line.len() + word.len() + 2 > 100 {
            lines.push(format!("{word}{end}"));
        } else {
            line.push_str(&format!(" {word}{end}"));
        }
    }
    lines.join("\n")
}

#[test]
fn the_page_of_parameters_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/parameters.md");
    if std::env::var_os("UPDATE_PARAMETERS").is_some() {
        fs::write(&path, expected()).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap();
    let help =
        "run UPDATE_PARAMETERS=1 cargo test -p shoebill-protocol-resp --test parameters_page";
    assert!(found == expected(), "{help}");
}
