// SPDX-License-Identifier: Apache-2.0
//! No input panics, overflows the stack or makes an unbounded error.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use config::{ByteSize, MAX_PROBLEMS, Span};
use proptest::collection::vec;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

/// Has one of everything that serde can ask for.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Everything {
    a: i64,
    b: bool,
    c: Option<char>,
    d: f32,
    e: String,
    f: Vec<Everything>,
    g: BTreeMap<String, Everything>,
    h: Choice,
    i: (u8, i128),
    j: ByteSize,
    k: Span,
    l: Option<IpAddr>,
    m: PathBuf,
    n: Wrapped,
    o: BTreeMap<Key, u8>,
    p: Tagged,
    q: Untagged,
    r: (),
    #[serde(flatten)]
    rest: BTreeMap<String, toml::Value>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
enum Choice {
    #[default]
    A,
    B(u8),
    C(u8, u8),
    D {
        x: u8,
    },
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Wrapped(Vec<Wrapped>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Key {
    A,
    B,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(tag = "kind", deny_unknown_fields)]
enum Tagged {
    #[default]
    A,
    B {
        x: u8,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    A(u8),
    B { x: Vec<u8> },
}

impl Default for Untagged {
    fn default() -> Self {
        Untagged::A(0)
    }
}

fn survives(bytes: &[u8]) {
    if let Err(error) = config::parse::<Everything>(bytes, "f") {
        let text = error.to_string();
        assert!(!text.is_empty());
        assert!(text.len() < (MAX_PROBLEMS + 1) * 3000, "{} bytes", text.len());
    }
}

/// Text that is often valid TOML for [`Everything`].
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-r]",
        Just("kind".to_owned()),
        Just("x".to_owned()),
        Just("A".to_owned()),
        Just("\"A\"".to_owned()),
        Just("\"64MB\"".to_owned()),
        Just("'''".to_owned()),
        Just("\"\"\"".to_owned()),
        Just("1979-05-27T07:32:00Z".to_owned()),
        Just("nan".to_owned()),
        Just("99999999999999999999999999999999999999999".to_owned()),
        "-?[0-9]{1,3}",
        "[\\[\\]{}.,= \n\r\t\"'#\\\\]",
        Just(" = ".to_owned()),
        Just("\n[".to_owned()),
        Just("\n[[".to_owned()),
        Just("]]\n".to_owned()),
        any::<char>().prop_map(|c| c.to_string()),
    ]
}

/// Any TOML value, nested.
fn value() -> impl Strategy<Value = toml::Value> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(toml::Value::Integer),
        any::<f64>().prop_map(toml::Value::Float),
        any::<bool>().prop_map(toml::Value::Boolean),
        ".{0,9}".prop_map(toml::Value::String),
        "[ABCD]".prop_map(toml::Value::String),
        "[0-9]{1,3}(MB|ms|)".prop_map(toml::Value::String),
    ];
    leaf.prop_recursive(4, 64, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(toml::Value::Array),
            vec(("[a-rABCDx]|kind|.{0,3}", inner), 0..6)
                .prop_map(|entries| toml::Value::Table(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..300)) {
        survives(&bytes);
    }

    #[test]
    fn any_text(text in ".{0,200}") {
        survives(text.as_bytes());
    }

    #[test]
    fn nearly_toml(fragments in vec(fragment(), 0..40)) {
        survives(fragments.concat().as_bytes());
    }

    #[test]
    fn valid_toml_of_another_shape(entries in vec(("[a-r]", value()), 0..6)) {
        let table: toml::Table = entries.into_iter().collect();
        survives(table.to_string().as_bytes());
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let dotted = |levels: usize| vec!["a"; levels].join(".");
    let mut nested = String::from("1");
    for _ in 0..79 {
        nested = format!("{{ {} = {nested} }}", dotted(79));
    }
    for text in [
        "f=[".repeat(200_000),
        format!("f = {}{}", "[".repeat(300_000), "]".repeat(300_000)),
        format!("f = {}1{}", "{a=".repeat(200_000), "}".repeat(200_000)),
        format!("f = {}1{}", "[{a=".repeat(30), "}]".repeat(30)),
        format!("g.{} = 1", dotted(400_000)),
        format!("[{}]", dotted(400_000)),
        format!("[{}]\n{} = {nested}", dotted(79), dotted(79)),
        format!("[{}]", "f=[".repeat(70)),
        format!("n = {}1{}", "[".repeat(70), "]".repeat(70)),
    ] {
        survives(text.as_bytes());
    }
}

#[test]
fn large_inputs_take_no_quadratic_time() {
    for text in [
        "[[f]]\n".repeat(150_000),
        (0..80_000).map(|n| format!("k{n}=1\n")).collect::<String>(),
        format!("[[f]]\n{}", (0..80_000).map(|n| format!("k{n}=1\n")).collect::<String>()),
        format!(
            "[{}]\n{}",
            "x".repeat(500_000),
            (0..40_000).map(|n| format!("k{n}=1\n")).collect::<String>()
        ),
        "\n".repeat(1_000_000),
        format!("j = \"{}\"", "9".repeat(1_000_000)),
    ] {
        survives(text.as_bytes());
    }
}
