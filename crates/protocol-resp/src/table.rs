// SPDX-License-Identifier: Apache-2.0
//! The command table.
//!
//! Each command is a row: its name, its arity, the positions of its keys, the flags that are
//! checked before it runs, and its documentation. The parser's checks, the dispatch, `COMMAND`, the
//! help texts, `docs/commands.md` and the fuzz dictionary all read the table.
//!
//! * `spec.rs`: the columns of a row. `bits.rs`, `key_spec.rs`, `syntax.rs`: its larger parts.
//! * `strings.rs`, `generic.rs`, ...: the rows, a file for each group. `macros.rs`: their notation.
//! * `lookup.rs`: from a name to its row. `catalogue.rs`: the rows that a service supports.
//! * `keys.rs`: finds the keys among given arguments.
//! * `info/`: the replies of `COMMAND`.
//!
//! A sub-command has a row of its own, and a [`CommandId`] of its own. Its row follows that of its
//! container.
//!
//! ```
//! use protocol_resp::table::{self, Flags};
//!
//! let get = table::find(b"GeT").expect("it is in the table");
//! assert_eq!(get.spec().name, "get");
//! assert!(get.spec().accepts(2) && get.spec().flags.has(Flags::READONLY));
//!
//! let client = table::find(b"client").expect("it is in the table");
//! let id = table::find_sub(client, b"ID").expect("it is in the table");
//! assert_eq!(id.spec().name, "client|id");
//! ```

pub(crate) mod acl;
pub(crate) mod bitmaps;
mod bits;
mod catalogue;
pub(crate) mod cluster;
pub(crate) mod connection;
pub(crate) mod functions;
pub(crate) mod generic;
pub(crate) mod geo;
pub(crate) mod hashes;
pub(crate) mod hyperloglog;
pub mod info;
mod key_spec;
pub mod keys;
pub(crate) mod lists;
mod lookup;
mod macros;
pub(crate) mod other;
pub(crate) mod pubsub;
pub(crate) mod scripts;
pub(crate) mod server;
pub(crate) mod sets;
pub(crate) mod sorted_sets;
mod spec;
pub(crate) mod streams;
pub(crate) mod strings;
pub mod syntax;
pub(crate) mod transactions;

pub use bits::{Categories, Flags, KeyFlags};
pub use catalogue::Catalogue;
pub use key_spec::{Begin, Find, KeySpec};
pub(crate) use lookup::meant;
pub use lookup::{find, find_full, find_sub, resolve};
pub(crate) use spec::SECRET_PARAMETERS;
pub use spec::{Channels, Databases, Deprecation, Group, Secret, Shape, Spec};

/// Makes what is made of all groups, in the order of its arguments. The most used commands come first.
macro_rules! groups {
    (($dollar:tt) $first:ident $($next:ident)*) => {
        /// The tables of the groups.
        static GROUPS: [&[Spec]; COUNT_OF_GROUPS] = [$first::SPECS, $($next::SPECS),*];
        const COUNT_OF_GROUPS: usize = [stringify!($first), $(stringify!($next)),*].len();

        /// Hands all commands of the table to the macro `$to`, in order, each as
        /// `Get "get" = strings::get`: its name, and its function in `commands/`.
        macro_rules! all_commands {
            ($dollar to:ident) => {
                $crate::table::$first::collect! { $dollar to [] $($next)* }
            };
        }
        pub(crate) use all_commands;
    };
}

groups! {
    ($) strings hashes lists sets sorted_sets streams bitmaps hyperloglog geo generic connection transactions pubsub server acl scripts functions other cluster
}

/// Makes [`CommandId`].
macro_rules! command_ids {
    ($($command:ident $name:literal = $module:ident :: $function:ident)+) => {
        /// A command or sub-command.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum CommandId {
            $( #[doc = concat!("`", $name, "`")] $command, )+
        }

        impl CommandId {
            /// All of them.
            const ALL: [CommandId; [$($name),+].len()] = [$(CommandId::$command),+];
        }
    };
}

all_commands!(command_ids);

/// How many commands and sub-commands there are.
pub const COUNT: usize = CommandId::ALL.len();

/// The rows of all groups.
static TABLE: [&Spec; COUNT] = {
    let mut table = [&GROUPS[0][0]; COUNT];
    let (mut next, mut group) = (0, 0);
    while group < GROUPS.len() {
        let mut row = 0;
        while row < GROUPS[group].len() {
            table[next] = &GROUPS[group][row];
            next += 1;
            row += 1;
        }
        group += 1;
    }
    assert!(next == COUNT, "each command has its row");
    table
};

/// For each row, how many of the following rows are its sub-commands.
static SUBCOMMANDS: [u8; COUNT] = {
    let mut counts = [0; COUNT];
    let (mut row, mut container) = (0, 0);
    while row < COUNT {
        if lookup::position(TABLE[row].name.as_bytes(), b'|') == TABLE[row].name.len() {
            container = row;
        } else {
            counts[container] += 1;
        }
        row += 1;
    }
    counts
};

/// For each row, where its keys are, for the most common cases.
static PLACES: [Places; COUNT] = {
    let mut places = [Places::Elsewhere; COUNT];
    let mut row = 0;
    while row < COUNT {
        places[row] = match TABLE[row].keys {
            [] => Places::Nowhere,
            [
                KeySpec {
                    begin: Begin::Index(1), find: Find::Range { last: 0, .. }, flags, ..
                },
            ] if !flags.has(KeyFlags::NOT_KEY) => Places::First,
            [
                KeySpec {
                    begin: Begin::Index(2),
                    find: Find::Count { at: 0, first: 1, step: 1 },
                    flags,
                    ..
                },
            ] if !flags.has(KeyFlags::NOT_KEY) => Places::Counted,
            _ => Places::Elsewhere,
        };
        row += 1;
    }
    places
};

/// The [elements](Spec::element) of all rows, 0 for none. In an array of their own, close together, because
/// every request is looked up here.
static ELEMENTS: [u8; COUNT] = {
    let mut elements = [0; COUNT];
    let mut row = 0;
    while row < COUNT {
        if let Some(element) = TABLE[row].element {
            assert!(matches!(PLACES[row], Places::First), "of one key");
            assert!(element > 1, "behind the key");
            elements[row] = element;
        }
        row += 1;
    }
    elements
};

/// Where the keys of a command are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// It has no keys.
    Nowhere,
    /// The only key is argument 1.
    First,
    /// Argument 2 tells how many keys follow it, as those of a script.
    Counted,
    /// The rules of the row tell, see [`keys`].
    Elsewhere,
}

impl CommandId {
    /// The command with this number, if there is one.
    #[must_use]
    pub fn at(index: usize) -> Option<Self> {
        Self::ALL.get(index).copied()
    }

    /// The command's row in the table.
    #[must_use]
    pub fn spec(self) -> &'static Spec {
        TABLE[self.index()]
    }

    /// Its number. It is less than [`COUNT`], so it can index per-command arrays.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Where its keys are.
    #[inline]
    #[must_use]
    pub fn places(self) -> Places {
        PLACES[self.index()]
    }

    /// See [`Spec::element`].
    #[inline]
    #[must_use]
    pub fn element(self) -> Option<usize> {
        Some(usize::from(ELEMENTS[self.index()])).filter(|&at| at > 0)
    }

    /// Whether it is a sub-command.
    #[must_use]
    pub fn is_sub(self) -> bool {
        self.spec().name.contains('|')
    }

    /// Whether it has sub-commands.
    #[inline]
    #[must_use]
    pub fn is_container(self) -> bool {
        SUBCOMMANDS[self.index()] > 0
    }

    /// Its sub-commands; none if it is not a container.
    pub fn subcommands(self) -> impl ExactSizeIterator<Item = Self> + Clone {
        let first = self.index() + 1;
        Self::ALL[first..first + usize::from(SUBCOMMANDS[self.index()])].iter().copied()
    }
}

/// All commands without the sub-commands.
pub fn commands() -> impl Iterator<Item = CommandId> + Clone {
    all().filter(|command| !command.is_sub())
}

/// All commands and sub-commands.
pub fn all() -> impl ExactSizeIterator<Item = CommandId> + Clone {
    CommandId::ALL.iter().copied()
}
