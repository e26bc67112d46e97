// SPDX-License-Identifier: Apache-2.0
use super::*;
use clap::{Arg, ValueHint};

config::section! {
    /// What is kept.
    struct Store in "store" {
        /// Threads that look after `it`.
        threads: usize = 1, within 1..=256;
        /// The file to keep it in.
        file: Option<String> = None;
    }
}

fn store() -> Manual<'static> {
    const OWN: [Own; 1] = [Own { key: "[store] threads", default: "4", absent: "" }];
    let threads = Arg::new("threads").long("threads").short('t').help("How many threads");
    let file = Arg::new("file").value_hint(ValueHint::FilePath);
    let move_all = Command::new("move").about("Moves everything");
    let command = Command::new("store").version("1.2").about("Keeps things");
    let command = command.arg(threads).arg(file).subcommand(move_all);
    let tables = vec![<Store as config::Section>::table()];
    Manual::new(command).section("EXIT STATUS", &[("0", "All is `well`.")]).settings(tables, &OWN)
}

fn page(name: &str) -> String {
    let pages = store().pages();
    pages.into_iter().find(|(file, _)| file == name).expect("the page is there").1
}

#[test]
fn there_is_a_page_for_each_command_and_for_the_file() {
    let names: Vec<_> = store().pages().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["store.1", "store.toml.5", "store-move.1"]);
}

#[test]
fn a_page_has_the_flags_the_parts_and_the_other_pages() {
    let page = page("store.1");
    assert!(page.contains(".TH STORE 1 \"\" \"shoebill 1.2\" Shoebill\n"), "{page}");
    assert_eq!(page.matches(".ds Aq").count(), 2, "{page}");
    assert!(page.contains("store \\- Keeps things"), "{page}");
    assert!(page.contains("\\-\\-threads\\fR"), "{page}");
    assert!(page.contains("How many threads"), "{page}");
    assert!(page.contains(".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\nAll is \\fBwell\\fR."), "{page}");
    let others = ".SH \"SEE ALSO\"\n\\fBstore\\-move\\fR(1), \\fBstore.toml\\fR(5)\n";
    assert!(page.ends_with(others), "{page}");
}

#[test]
fn the_page_of_the_file_has_every_key_with_what_applies_without_it() {
    let page = page("store.toml.5");
    let threads = ".TP\n\\fBthreads\\fR = 1 to 256\nThreads that look after \\fBit\\fR.\n\
                   .IP\nDefault: \\fB4\\fR\n";
    assert!(page.contains(threads), "{page}");
    assert!(page.contains("The file to keep it in.\n.IP\nWithout it: none.\n"), "{page}");
}

#[test]
fn each_shell_has_a_file_where_it_looks_for_it() {
    let completions = store().completions();
    let names: Vec<_> = completions.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["store.bash", "_store", "store.fish"]);
    for (name, text) in completions {
        assert!(text.contains("threads") && text.contains("move"), "{name}: {text}");
    }
}
