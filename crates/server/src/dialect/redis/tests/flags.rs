// SPDX-License-Identifier: Apache-2.0
//! The command line.

use super::super::flags::{Flags, command, secret_from};
use super::Few;
use clap::Command;
use std::ffi::OsString;

fn parse(words: &[&str]) -> Result<Flags, clap::Error> {
    Flags::try_parse::<Few>(Command::new("rds").version("1"), words.iter().map(OsString::from))
}

fn given(words: &[&str]) -> Vec<(&'static str, String)> {
    let args = parse(words).expect("a right command line");
    args.directives.iter().map(|it| (it.parameter.name, it.value.clone())).collect()
}

#[test]
fn the_words_behind_a_flag_are_its_value() {
    let words = ["rds", "--bind", "127.0.0.1", "-::1", "--port", "7000", "--save", ""];
    let expected = [("bind", "127.0.0.1 -::1"), ("port", "7000"), ("save", "")];
    let expected: Vec<_> = expected.map(|(name, value)| (name, value.to_owned())).into();
    let mut seen = given(&words);
    seen.sort();
    assert_eq!(seen, expected);
    assert_eq!(given(&["rds", "--maxmemory", "-1"])[0].1, "-1");
    assert_eq!(given(&["rds", "--port=1", "--port", "2"]), [("port", "2".to_owned())]);
    assert_eq!(
        given(&["rds", "--hash-max-ziplist-entries", "5"])[0].0,
        "hash-max-listpack-entries"
    );
}

#[test]
fn a_value_may_stand_in_the_word_of_its_name_and_look_like_a_flag() {
    let words = ["rds", "--port 7000", "--save", "--maxmemory  700mb", "--requirepass", "--x"];
    let mut seen = given(&words);
    seen.sort();
    let expected = [("maxmemory", "700mb"), ("port", "7000"), ("requirepass", "--x"), ("save", "")];
    assert_eq!(seen, expected.map(|(name, value)| (name, value.to_owned())));
    assert_eq!(given(&["rds", "--save"]), [("save", String::new())]);
    assert_eq!(given(&["rds", "--save 900 1", "60", "2"])[0].1, "900 1 60 2");
    assert_eq!(given(&["rds", "--requirepass \"a b\""])[0].1, "a b");
}

#[test]
fn flags_add_up_where_lines_of_a_file_do() {
    let words = ["rds", "--user", "a", "on", "nopass", "--port", "1", "--user", "b off"];
    let mut seen = given(&words);
    seen.sort();
    assert_eq!(seen, [("port", "1".to_owned()), ("user", "a on nopass\nb off".to_owned())]);
    let words = ["rds", "--save", "900", "1", "--save", "60 10", "--save", ""];
    assert_eq!(given(&words), [("save", String::new())], "the last one takes back");
}

#[test]
fn a_file_may_come_before_or_after() {
    for words in [["rds", "x.conf", "--port", "1"], ["rds", "--port", "1", "x.conf"]] {
        let args = parse(&words).expect("a right command line");
        assert_eq!(args.common.config.as_deref(), Some("x.conf".as_ref()));
        assert_eq!(args.directives.len(), 1);
    }
}

#[test]
fn what_is_no_flag_is_refused() {
    for words in [&["rds", "--prot", "1"][..], &["rds", "--port"], &["rds", "a", "b"]] {
        assert!(parse(words).is_err(), "{words:?}");
    }
}

#[test]
fn secrets_are_found_wherever_they_stand() {
    let line = "rds --requirepass one --port 2 --masterauth=three --user default on >four --hz 5 \
                --REQUIREPASS -- --port";
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let secrets = (0..words.len()).filter_map(|number| {
        let place = secret_from::<Few>(&words, number)?;
        Some(String::from_utf8_lossy(&words[number][place..]).into_owned())
    });
    assert_eq!(secret_from::<Few>(&[b"rds", b"--requirepass one"], 1), Some(14));
    assert_eq!(secrets.collect::<Vec<_>>(), ["one", "three", "default", "on", ">four", "--"]);
}

#[test]
fn help_shows_what_does_something() {
    let help = command::<Few>(Command::new("rds").version("1")).render_help().to_string();
    for flag in ["--maxmemory <", "--check-config", "--tls-cert-file <", "--admin-port <"] {
        assert!(help.contains(flag), "{flag} is not in\n{help}");
    }
    assert!(!help.contains("--masterauth"), "it does nothing here");
}
