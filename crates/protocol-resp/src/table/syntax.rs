// SPDX-License-Identifier: Apache-2.0
//! The arguments of a command: a short notation, and the tree that `COMMAND DOCS` shows.
//!
//! ```text
//! key value [condition: NX | XX] [GET] [expiration: EX seconds | PX milliseconds | KEEPTTL]
//! ```
//!
//! | notation | meaning |
//! |---|---|
//! | `name` | an argument; its type follows from the name, see [`Kind`] |
//! | `name:double` | an argument with another type than its name says |
//! | `name#1` | a key, or a pattern of keys, found by the key spec with this number |
//! | `TOKEN`, `*` | a word to be sent as it is |
//! | `TOKEN name` | a word and the argument that follows it |
//! | `(a b)` | a block: what belongs together |
//! | `(a \| b)` | one of several |
//! | `[a]` | may be left out |
//! | `a...` | may be repeated; so `TOKEN a...` repeats `a`, and `(TOKEN a)...` both |
//! | `(name: a b)` | the name of a block or a choice, else it is `a_b`; or that of a token |
//!
//! `parse.rs` reads it.

mod parse;

pub(super) use parse::parse;

use std::fmt;

/// An argument of a command, or several that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The word before it; the argument itself if that is a token.
    pub token: Option<&'static str>,
    /// Which of the key specs finds it.
    pub key_spec: Option<usize>,
    /// It may be left out.
    pub optional: bool,
    /// It may be repeated.
    pub multiple: bool,
    /// Its token is repeated, too.
    pub multiple_token: bool,
    /// What it consists of, or what there is to choose from.
    pub arguments: Vec<Argument>,
}

/// The type of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Any bytes; all names that are not listed here.
    String,
    /// An integer: counts, places, durations.
    Integer,
    /// A floating-point number: `score`.
    Double,
    /// A key: `key`, `source`, `destination` and the like.
    Key,
    /// A glob: `pattern`.
    Pattern,
    /// A time: `unix-time-seconds`, `unix-time-milliseconds`.
    UnixTime,
    /// A word to be sent as it is.
    PureToken,
    /// One of its parts.
    OneOf,
    /// All of its parts.
    Block,
}

const KINDS: [(Kind, &str); 9] = [
    (Kind::String, "string"),
    (Kind::Integer, "integer"),
    (Kind::Double, "double"),
    (Kind::Key, "key"),
    (Kind::Pattern, "pattern"),
    (Kind::UnixTime, "unix-time"),
    (Kind::PureToken, "pure-token"),
    (Kind::OneOf, "oneof"),
    (Kind::Block, "block"),
];

impl Kind {
    /// The word for it in `COMMAND DOCS`.
    #[must_use]
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    fn named(name: &str) -> Option<Self> {
        KINDS.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    /// The type that an argument of this name has unless the notation says otherwise.
    fn usual(name: &str) -> Self {
        match name {
            "key" | "key1" | "key2" | "newkey" | "source" | "destination" | "src" | "dst" => {
                Self::Key
            }
            "pattern" => Self::Pattern,
            "unix-time-seconds" | "unix-time-milliseconds" => Self::UnixTime,
            "score" => Self::Double,
            "seconds" | "milliseconds" | "timeout" | "cursor" | "count" | "limit" | "offset"
            | "start" | "stop" | "end" | "start-slot" | "end-slot" | "slot" | "index"
            | "index1" | "index2" | "rank" | "len" | "num-matches" | "numkeys" | "numfields"
            | "increment" | "decrement" | "weight" | "db" | "destination-db" | "client-id"
            | "maxage" | "protover" | "version" | "port" | "cluster_bus_port" | "config-epoch"
            | "bits" | "numlocal" | "numreplicas" => Self::Integer,
            _ => Self::String,
        }
    }
}

impl Argument {
    fn new(name: &str, kind: Kind) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            token: None,
            key_spec: None,
            optional: false,
            multiple: false,
            multiple_token: false,
            arguments: Vec::new(),
        }
    }

    /// Several arguments in one.
    fn group(label: Option<&str>, kind: Kind, arguments: Vec<Self>) -> Self {
        let names = arguments.iter().map(|argument| argument.name.as_str());
        let name = label.map_or_else(|| names.collect::<Vec<_>>().join("_"), str::to_owned);
        Self { arguments, ..Self::new(&name, kind) }
    }
}

/// The longest text of an argument that is written twice to say that it can be repeated.
const REPEATED_MAX: usize = 40;

/// The usual notation: `key [key ...]`, `[NX | XX]`, `<BEFORE | AFTER>`.
impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = |separator: &str| {
            let parts: Vec<_> = self.arguments.iter().map(Self::to_string).collect();
            parts.join(separator)
        };
        let token = self.token.unwrap_or_default();
        let value = match self.kind {
            Kind::PureToken => token.to_owned(),
            Kind::OneOf if self.optional && token.is_empty() => parts(" | "),
            Kind::OneOf => format!("<{}>", parts(" | ")),
            Kind::Block => parts(" "),
            _ => self.name.clone(),
        };
        let before = if self.kind == Kind::PureToken || token.is_empty() {
            String::new()
        } else {
            format!("{token} ")
        };
        let text = match (self.multiple, self.multiple_token) {
            (false, _) => format!("{before}{value}"),
            // Nobody would see that the second is as the first.
            (true, _) if value.len() > REPEATED_MAX => format!("{before}{value} ..."),
            (true, false) => format!("{before}{value} [{value} ...]"),
            (true, true) => format!("{before}{value} [{before}{value} ...]"),
        };
        if self.optional { write!(f, "[{text}]") } else { f.write_str(&text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(syntax: &'static str) -> String {
        let arguments = parse(syntax, 1).unwrap();
        arguments.iter().map(Argument::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_notation_of_the_rows_becomes_the_usual_one() {
        for (syntax, usual) in [
            ("", ""),
            ("key value", "key value"),
            ("timeout:double key#1", "timeout key"),
            ("key...", "key [key ...]"),
            ("(field value)...", "field value [field value ...]"),
            ("[count]", "[count]"),
            ("[name...]", "[name [name ...]]"),
            ("[condition: NX | XX] [GET]", "[NX | XX] [GET]"),
            ("(where: LEFT | RIGHT)", "<LEFT | RIGHT>"),
            ("[LIMIT (offset count)]", "[LIMIT offset count]"),
            ("[WEIGHTS weight...]", "[WEIGHTS weight [weight ...]]"),
            ("[(GET pattern)...]", "[GET pattern [GET pattern ...]]"),
            ("[AGGREGATE (SUM | MIN)]", "[AGGREGATE <SUM | MIN>]"),
            ("(args: (host-port: host port) | (no-one: NO ONE))", "<host port | NO ONE>"),
            ("[options: count [WITHVALUES]]", "[count [WITHVALUES]]"),
            ("ip:port", "ip:port"),
            (
                "(a-name of-something that-takes more-than-forty-bytes)...",
                "a-name of-something that-takes more-than-forty-bytes ...",
            ),
        ] {
            assert_eq!(shown(syntax), usual, "{syntax}");
        }
    }
}
