// SPDX-License-Identifier: Apache-2.0
//! [`Spec`]: a row of the command table.

use super::bits::{Categories, Flags};
use super::key_spec::KeySpec;
use super::syntax::{self, Argument};

/// A row of the command table.
#[derive(Debug)]
#[non_exhaustive]
pub struct Spec {
    /// Lower case; that of a sub-command has its container in front: `client|id`.
    pub name: &'static str,
    /// What kind of command it is.
    pub group: Group,
    /// How many arguments it takes, with its name (and that of its container); a negative number
    /// is the least.
    pub arity: i8,
    /// Its properties, which are checked before it runs.
    pub flags: Flags,
    /// Where its keys are.
    pub keys: &'static [KeySpec],
    /// The argument that names an element of the value under its only key, such as a field of a hash or a
    /// member of a set; it is prefetched. Of several elements it is the first. If options may come before it,
    /// it is the argument only when there are none.
    pub element: Option<u8>,
    /// Its arguments, in the notation of [`syntax`](super::syntax).
    pub syntax: &'static str,
    /// Which of its arguments are secret.
    pub secret: Secret,
    /// Which of its arguments are channels, and how they are used.
    pub channels: Channels,
    /// Which databases it uses, if that does not follow from its keys.
    pub(super) databases: Option<Databases>,
    /// The type of its reply.
    pub reply: Shape,
    /// Its time complexity.
    pub complexity: &'static str,
    /// The version of Redis that introduced it.
    pub since: &'static str,
    /// One sentence on what it does.
    pub summary: &'static str,
    /// Standardised hints for proxies and other clients of several servers.
    pub tips: &'static [&'static str],
    /// If it is deprecated: since when, and its replacement.
    pub deprecated: Option<Deprecation>,
    /// The categories that do not follow from the flags.
    pub(super) categories: Categories,
}

/// Parameters whose values are secrets, also those that only other servers have.
pub(crate) const SECRET_PARAMETERS: &[&str] = &[
    "requirepass",
    "masterauth",
    "masteruser",
    "primaryauth",
    "primaryuser",
    "tls-key-file-pass",
    "tls-client-key-file-pass",
];

/// Which arguments are passwords: MONITOR and the slow log show a placeholder instead of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secret {
    /// None.
    None,
    /// All from this one on.
    From(usize),
    /// The values of some parameters, among pairs of a name and a value.
    Values {
        /// The parameters, in any case.
        names: &'static [&'static str],
        /// The first name.
        from: usize,
    },
    /// Those behind an option.
    Behind {
        /// The option, in any case.
        option: &'static str,
        /// The first argument that may be the option.
        from: usize,
        /// How many arguments behind it are secret.
        count: usize,
        /// Other options, each with the number of its values, which may read like that option.
        others: &'static [(&'static str, usize)],
    },
    /// The values of some options, and all between them.
    OfOptions {
        /// The options, in any case, each with the number of its values.
        options: &'static [(&'static str, usize)],
        /// The first argument that may be an option.
        from: usize,
        /// Behind this word there are no options.
        end: &'static str,
    },
}

/// How a command uses channels among its arguments, because users are allowed or denied channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// No argument is a channel.
    None,
    /// The first argument is a channel to which something is sent.
    Publish,
    /// Each argument is a channel to subscribe to.
    Subscribe,
    /// Each argument is a pattern of channels to subscribe to.
    SubscribePattern,
    /// Each argument, if there is one, is a channel or a pattern to unsubscribe from, which every user may
    /// do.
    Unsubscribe,
}

/// Which databases a command uses, because users are allowed or denied databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Databases {
    /// None.
    None,
    /// The selected one.
    Selected,
    /// All of them.
    All,
    /// Those whose numbers are the arguments at these places.
    Named(&'static [usize]),
    /// The selected one, and that whose number is the argument at this place.
    SelectedAndNamed(usize),
    /// The selected one, and that whose number is behind the option `DB` at this place or further on.
    SelectedAndOption(usize),
}

/// The deprecation of a command.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Deprecation {
    /// The version of Redis that deprecated it.
    pub since: &'static str,
    /// What to use.
    pub replaced_by: &'static str,
}

/// A group of commands. The file of a group has its rows, and another its functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Group {
    String,
    Generic,
    Hash,
    List,
    Set,
    SortedSet,
    Stream,
    Bitmap,
    Hyperloglog,
    Geo,
    Pubsub,
    Transactions,
    Connection,
    Server,
    Scripting,
    Cluster,
}

impl Group {
    /// The word for it in `COMMAND DOCS`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Generic => "generic",
            Self::Hash => "hash",
            Self::List => "list",
            Self::Set => "set",
            Self::SortedSet => "sorted-set",
            Self::Stream => "stream",
            Self::Bitmap => "bitmap",
            Self::Hyperloglog => "hyperloglog",
            Self::Geo => "geo",
            Self::Pubsub => "pubsub",
            Self::Transactions => "transactions",
            Self::Connection => "connection",
            Self::Server => "server",
            Self::Scripting => "scripting",
            Self::Cluster => "cluster",
        }
    }
}

/// The type of the reply of a command that succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// `OK`.
    Ok,
    /// Another word without line ends.
    Status,
    /// An integer.
    Integer,
    /// An integer, or null.
    IntegerOrNull,
    /// A double; a bulk string in RESP2.
    Float,
    /// As [`Float`](Self::Float), or null.
    FloatOrNull,
    /// A bulk string.
    Bulk,
    /// A bulk string, or null.
    BulkOrNull,
    /// Text for people: a verbatim string, or a bulk string in RESP2.
    Text,
    /// An array.
    Array,
    /// An array, or null.
    ArrayOrNull,
    /// A map; a flat array in RESP2.
    Map,
    /// A set; an array in RESP2.
    Set,
    /// A push for each argument; an array in RESP2.
    Push,
    /// It depends on the arguments.
    Various,
}

impl Shape {
    /// What it is, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Status => "simple string",
            Self::Integer => "integer",
            Self::IntegerOrNull => "integer or null",
            Self::Float => "double",
            Self::FloatOrNull => "double or null",
            Self::Bulk => "bulk string",
            Self::BulkOrNull => "bulk string or null",
            Self::Text => "text",
            Self::Array => "array",
            Self::ArrayOrNull => "array or null",
            Self::Map => "map",
            Self::Set => "set",
            Self::Push => "push",
            Self::Various => "depends on the arguments",
        }
    }
}

impl Spec {
    /// Which databases it uses: the selected one if it has keys, or works on keys that are not among its arguments.
    #[must_use]
    pub fn databases(&self) -> Databases {
        let uses_keys = self.has_keys() || self.categories().has(Categories::KEYSPACE);
        let others = if uses_keys { Databases::Selected } else { Databases::None };
        self.databases.unwrap_or(others)
    }

    /// Whether so many arguments may follow each other, the name being one (and that of the
    /// container another).
    #[must_use]
    pub const fn accepts(&self, arguments: usize) -> bool {
        let needed = self.arity.unsigned_abs() as usize;
        if self.arity < 0 { arguments >= needed } else { arguments == needed }
    }

    /// The last part of the name: `id` of `client|id`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        self.name.split_once('|').map_or(self.name, |(_, word)| word)
    }

    /// The name as a client writes it: `CLIENT ID`.
    #[must_use]
    pub fn title(&self) -> String {
        self.name.replace('|', " ").to_uppercase()
    }

    /// All its categories: those that its flags imply, too.
    #[must_use]
    pub const fn categories(&self) -> Categories {
        let implied: [(Flags, Categories); 5] = [
            (Flags::WRITE, Categories::WRITE),
            (Flags::READONLY, Categories::READ),
            (Flags::ADMIN, Categories::ADMIN.with(Categories::DANGEROUS)),
            (Flags::PUBSUB, Categories::PUBSUB),
            (Flags::BLOCKING, Categories::BLOCKING),
        ];
        let fast = self.flags.has(Flags::FAST);
        let pace = if fast { Categories::FAST } else { Categories::SLOW };
        let mut all = self.categories.with(pace);
        let mut next = 0;
        while next < implied.len() {
            // What a script may do is what its user may.
            let is_script = self.flags.has(Flags::RUNS_SCRIPT);
            if self.flags.has(implied[next].0) && !is_script {
                all = all.with(implied[next].1);
            }
            next += 1;
        }
        all
    }

    /// Whether any argument of it can be a key.
    #[must_use]
    pub fn has_keys(&self) -> bool {
        self.keys.iter().any(KeySpec::is_key)
    }

    /// The first key, the last key and the step between keys, as far as three numbers can say.
    /// Clients that are older than key specs use these. The last counts from the end if it is
    /// negative. All are 0 if there is no key, or none at a fixed place.
    #[must_use]
    pub fn key_range(&self) -> (i32, i32, i32) {
        let mut fixed = self.keys.iter().filter_map(KeySpec::fixed);
        let Some((first, last, step)) = fixed.next() else { return (0, 0, 0) };
        // Commands with several rules have neighbours as keys.
        let last = fixed.map(|(_, last, _)| last).fold(last, |a, b| if a < 0 { a } else { b });
        (first, last, step)
    }

    /// The flags as clients see them: with the one that follows from where the keys are.
    #[must_use]
    pub fn shown_flags(&self) -> Flags {
        let fixed = self.keys.iter().all(|rule| rule.fixed().is_some());
        self.flags.with(if fixed { Flags::NONE } else { Flags::MOVABLEKEYS })
    }

    /// Its arguments in the usual notation: `key [key ...]`.
    #[must_use]
    pub fn usage(&self) -> String {
        let arguments: Vec<_> = self.arguments().iter().map(Argument::to_string).collect();
        arguments.join(" ")
    }

    /// The tree of its arguments.
    #[must_use]
    pub fn arguments(&self) -> Vec<Argument> {
        syntax::parse(self.syntax, self.keys.len()).expect("the tests parse all rows")
    }
}

#[cfg(test)]
mod tests {
    use crate::table;
    use std::collections::HashSet;

    #[test]
    fn arities_say_exactly_or_at_least() {
        let spec = |name: &[u8]| table::find_full(name).unwrap().spec();
        assert!(spec(b"get").accepts(2) && !spec(b"get").accepts(1) && !spec(b"get").accepts(3));
        assert!(spec(b"del").accepts(2) && spec(b"del").accepts(1000) && !spec(b"del").accepts(1));
        assert!(spec(b"client|id").accepts(2), "the container counts");
    }

    #[test]
    fn rows_are_in_order_and_say_what_they_should() {
        let mut seen = HashSet::new();
        let mut container = "";
        for command in table::all() {
            let spec = command.spec();
            let name = spec.name;
            assert!(seen.insert(name), "{name} is there twice");
            assert_eq!(name, name.to_ascii_lowercase());
            match name.split_once('|') {
                Some((before, _)) => assert_eq!(before, container, "{name} follows its container"),
                None => container = name,
            }
            assert!(spec.summary.ends_with('.') && spec.summary.len() < 100, "{name}: the summary");
            assert!(!spec.complexity.is_empty() && !spec.complexity.ends_with('.'), "{name}");
            assert!(spec.arity != 0, "{name}: it has a name at least");
        }
    }

    #[test]
    fn a_name_is_written_as_clients_do() {
        let spec = table::find_full(b"client|no-evict").unwrap().spec();
        assert_eq!((spec.word(), spec.title().as_str()), ("no-evict", "CLIENT NO-EVICT"));
        assert_eq!(spec.usage(), "<ON | OFF>");
    }
}
