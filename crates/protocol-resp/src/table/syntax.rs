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
//! | `TOKEN` | a word to be sent as it is |
//! | `TOKEN name` | a word and the argument that follows it |
//! | `(a b)` | a block: what belongs together |
//! | `(a \| b)` | one of several |
//! | `[a]` | may be left out |
//! | `a...` | may be repeated; so `TOKEN a...` repeats `a`, and `(TOKEN a)...` both |
//! | `(name: a b)` | the name of a block or a choice, else it is `a_b`; or that of a token |

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
            (true, false) => format!("{before}{value} [{value} ...]"),
            (true, true) => format!("{before}{value} [{before}{value} ...]"),
        };
        if self.optional { write!(f, "[{text}]") } else { f.write_str(&text) }
    }
}

/// Reads the notation. `key_specs` is how many there are: keys are given to them in order, and what
/// is left to the last.
///
/// # Errors
///
/// A notation that is none, with the part that could not be read.
pub(super) fn parse(syntax: &'static str, key_specs: usize) -> Result<Vec<Argument>, &'static str> {
    let mut parser = Parser { rest: syntax, key_specs, keys: 0 };
    let arguments = parser.sequence()?;
    if parser.rest.is_empty() { Ok(arguments) } else { Err(parser.rest) }
}

struct Parser {
    rest: &'static str,
    key_specs: usize,
    /// How many keys have been seen.
    keys: usize,
}

impl Parser {
    /// Everything up to the end, a bar or a closing bracket.
    fn sequence(&mut self) -> Result<Vec<Argument>, &'static str> {
        let mut arguments = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.is_empty() || self.rest.starts_with(['|', ')', ']']) {
                return Ok(arguments);
            }
            arguments.push(self.element()?);
        }
    }

    /// A token, an argument, or both.
    fn element(&mut self) -> Result<Argument, &'static str> {
        let token = self.token();
        let mut argument = match token {
            Some(token) if !self.operand_follows() => {
                let name = token.to_ascii_lowercase();
                Argument { token: Some(token), ..Argument::new(&name, Kind::PureToken) }
            }
            _ => self.operand()?,
        };
        if self.take("...") {
            argument.multiple = true;
            argument.multiple_token = argument.token.is_some();
        }
        argument.token = argument.token.or(token);
        Ok(argument)
    }

    /// A name, or what is in brackets.
    fn operand(&mut self) -> Result<Argument, &'static str> {
        self.rest = self.rest.trim_start();
        if self.take("(") {
            self.group(")")
        } else if self.take("[") {
            let argument = self.group("]")?;
            Ok(Argument { optional: true, ..argument })
        } else {
            self.name()
        }
    }

    /// What is in brackets, and the closing one.
    fn group(&mut self, end: &str) -> Result<Argument, &'static str> {
        let label = self.label();
        let mut choices = vec![self.sequence()?];
        while self.take("|") {
            choices.push(self.sequence()?);
        }
        if !self.take(end) || choices.iter().any(Vec::is_empty) {
            return Err(self.rest);
        }
        let one = |mut arguments: Vec<Argument>| match arguments.len() {
            1 => arguments.remove(0),
            _ => Argument::group(None, Kind::Block, arguments),
        };
        if choices.len() > 1 {
            let choices = choices.into_iter().map(one).collect();
            return Ok(Argument::group(label, Kind::OneOf, choices));
        }
        let arguments = choices.remove(0);
        Ok(match (label, &arguments[..]) {
            (Some(name), [token]) if token.kind == Kind::PureToken => {
                Argument { name: name.to_owned(), ..token.clone() }
            }
            (Some(_), _) => Argument::group(label, Kind::Block, arguments),
            (None, _) => one(arguments),
        })
    }

    /// `name`, `name:type`, `name#spec`.
    fn name(&mut self) -> Result<Argument, &'static str> {
        let word = self.word();
        let (word, spec) = match word.split_once('#') {
            Some((word, spec)) => (word, Some(spec.parse().map_err(|_| spec)?)),
            None => (word, None),
        };
        let typed = word.rsplit_once(':').and_then(|(name, kind)| Some((name, Kind::named(kind)?)));
        let (name, kind) = typed.unwrap_or_else(|| (word, Kind::usual(word)));
        if name.is_empty() {
            return Err(self.rest);
        }
        let mut argument = Argument::new(name, kind);
        argument.key_spec = spec;
        if kind == Kind::Key {
            let next = self.keys.min(self.key_specs.saturating_sub(1));
            argument.key_spec = spec.or(Some(next));
            self.keys += 1;
        }
        Ok(argument)
    }

    fn take(&mut self, what: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(what);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// The word that comes next.
    fn word(&mut self) -> &'static str {
        let end = self.rest.find([' ', '|', '(', ')', '[', ']']).unwrap_or(self.rest.len());
        let end = self.rest[..end].find("...").unwrap_or(end);
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// A word in capitals.
    fn token(&mut self) -> Option<&'static str> {
        let capital = self.rest.starts_with(|first: char| first.is_ascii_uppercase());
        capital.then(|| self.word())
    }

    /// Whether a token is followed by an argument of its own.
    fn operand_follows(&self) -> bool {
        let next = self.rest.trim_start();
        next.starts_with(|first: char| first == '(' || first.is_ascii_lowercase())
    }

    /// `label: ` at the begin of a group.
    fn label(&mut self) -> Option<&'static str> {
        let (label, rest) = self.rest.split_once(": ")?;
        if label.contains([' ', '|', '(', ')', '[', ']']) {
            return None;
        }
        self.rest = rest;
        Some(label)
    }
}
