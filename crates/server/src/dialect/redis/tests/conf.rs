// SPDX-License-Identifier: Apache-2.0
//! Lines of a `redis.conf`.

use super::super::conf::{Conf, Error, merge};
use super::Few;
use std::path::Path;

fn read(text: &str) -> Result<Conf, Error> {
    Conf::parse::<Few>(text, Path::new("redis.conf"))
}

#[test]
fn lines_are_directives() {
    let conf =
        read("# a comment\n\n  Port 7000 \nrequirepass \"ab\"\nfoo bar\nsave 900 1 300 10\n");
    let conf = conf.expect("right lines");
    let seen: Vec<_> = conf
        .directives
        .iter()
        .map(|it| (it.parameter.name, it.value.as_str(), it.place.to_string()))
        .collect();
    let expected = [
        ("port", "7000", "redis.conf:3".to_owned()),
        ("requirepass", "ab", "redis.conf:4".to_owned()),
        ("save", "900 1 300 10", "redis.conf:6".to_owned()),
    ];
    assert_eq!(seen, expected);
    assert_eq!(conf.unknown[0].name, "foo");
    assert!(matches!(read("requirepass \"a"), Err(Error::Line(..))));
}

#[test]
fn unknown_names_are_told_with_what_was_meant() {
    let conf = read("prot 7000\nPROTECTED\nzzzzzzzz \"a\u{7}\"\n").expect("right lines");
    let told: Vec<_> = conf.unknown.iter().map(ToString::to_string).collect();
    assert_eq!(told[0], "redis.conf:1: unknown parameter \"prot\"; did you mean \"port\"?");
    assert_eq!(told[2], "redis.conf:3: unknown parameter \"zzzzzzzz\"");
}

#[test]
fn files_include_others_from_where_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect(name);
        path
    };
    let load = |file: &Path| {
        let text = std::fs::read_to_string(file).expect("it was written");
        Conf::parse::<Few>(&text, file)
    };
    let lines = "port 1\ninclude oth?r.conf\ninclude none/*.conf\nport 3\n";
    let main = write("main.conf", lines);
    write("other.conf", "port 2\nnothing\n");
    let conf = load(&main).expect("both are there");
    let values: Vec<_> = conf.directives.iter().map(|it| it.value.as_str()).collect();
    assert_eq!(values, ["1", "2", "3"]);
    assert!(conf.unknown[0].place.to_string().ends_with("other.conf:2"));
    let round = write("round.conf", "include round.conf\n");
    assert!(matches!(load(&round), Err(Error::Line(..))));
    let missing = write("missing.conf", "include nothing.conf\n");
    assert!(matches!(load(&missing), Err(Error::File(_))));
}

#[test]
fn the_last_word_counts_but_where_words_add_up() {
    let conf = read(
        "port 1\nport 2\nsave 900 1\nsave \"\"\nsave 300 10\nsave 60 1\n\
         client-output-buffer-limit normal 0 0 0\nclient-output-buffer-limit pubsub 1 1 1\n",
    );
    let merged = merge(conf.expect("right lines").directives);
    let values: Vec<_> = merged.iter().map(|it| it.value.as_str()).collect();
    assert_eq!(values, ["2", "300 10 60 1", "normal 0 0 0 pubsub 1 1 1"]);
}
