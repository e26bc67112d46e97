// SPDX-License-Identifier: Apache-2.0
//! What `print` writes loads back to the same settings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use config::{ByteSize, Error, Span};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    // Tables come before plain values on purpose: TOML wants them after.
    listen: Vec<Listen>,
    tls: Option<Tls>,
    limits: BTreeMap<String, u32>,
    name: String,
    tags: Vec<String>,
    memory: ByteSize,
    ratio: f64,
    eviction: Eviction,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Listen {
    port: u16,
    idle: Span,
    tls: Tls,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Tls {
    key: Option<PathBuf>,
    on: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Eviction {
    #[default]
    None,
    RandomFifo,
    Merge {
        segments: u32,
    },
}

fn tls() -> impl Strategy<Value = Tls> {
    (option::of(".{0,20}"), any::<bool>())
        .prop_map(|(key, on)| Tls { key: key.map(PathBuf::from), on })
}

fn listen() -> impl Strategy<Value = Listen> {
    (any::<u16>(), any::<Duration>(), tls()).prop_map(|(port, idle, tls)| Listen {
        port,
        idle: Span(idle),
        tls,
    })
}

fn settings() -> impl Strategy<Value = Settings> {
    let eviction = prop_oneof![
        Just(Eviction::None),
        Just(Eviction::RandomFifo),
        any::<u32>().prop_map(|segments| Eviction::Merge { segments }),
    ];
    (
        vec(listen(), 0..4),
        option::of(tls()),
        btree_map(".{0,10}", any::<u32>(), 0..4),
        any::<String>(),
        vec(any::<String>(), 0..4),
        any::<u64>(),
        any::<f64>(),
        eviction,
    )
        .prop_map(|(listen, tls, limits, name, tags, memory, ratio, eviction)| Settings {
            listen,
            tls,
            limits,
            name,
            tags,
            memory: ByteSize(memory),
            ratio,
            eviction,
        })
}

proptest! {
    #[test]
    fn printed_settings_load_back(settings in settings()) {
        let text = config::print(&settings).unwrap();
        let again: Settings = config::parse(&text, "printed").map_err(|error| {
            TestCaseError::fail(format!("{error}\n{text}"))
        })?;
        prop_assert_eq!(again, settings);
    }
}

#[test]
fn the_printed_form_is_plain() {
    let settings = Settings {
        listen: vec![Listen { port: 1, idle: Span(Duration::from_secs(60)), ..Listen::default() }],
        name: "a".to_owned(),
        memory: ByteSize(64 << 20),
        ..Settings::default()
    };
    assert_eq!(
        config::print(&settings).unwrap(),
        "name = \"a\"\ntags = []\nmemory = \"64MB\"\nratio = 0.0\neviction = \"none\"\n\n\
         [[listen]]\nport = 1\nidle = \"1m\"\n\n[listen.tls]\non = false\n\n[limits]\n"
    );
}

#[test]
fn what_has_no_form_in_toml_is_an_error() {
    let error = config::print(&5).unwrap_err();
    assert!(matches!(error, Error::Print { .. }));
    assert!(error.to_string().starts_with("cannot print the configuration: "), "{error}");
    assert!(config::print(&BTreeMap::from([("a", [Some(1), None])])).is_err());
}
