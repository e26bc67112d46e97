// SPDX-License-Identifier: Apache-2.0
//! The commands as data: one table that the parser, the documentation and the fuzz dictionary read.

use crate::request::{Direction, Read, Verb};

/// One command of the protocol.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Command {
    /// What the line starts with, lower case.
    pub name: &'static str,
    /// The fewest and the most words that may follow the name. A line with fewer or more is
    /// answered `ERROR`, as is an unknown name; words behind those that a storage command needs do
    /// not count.
    pub words: (usize, usize),
    /// What follows the name, for people.
    pub usage: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// How it is parsed.
    pub(crate) kind: Kind,
}

/// How the words of a command become a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Read(Shape),
    Write(Verb),
    Simple(Simple),
}

/// The commands of one line with one key or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Simple {
    Delete,
    Arith(Direction),
    Touch,
    FlushAll,
    Stats,
    Version,
    Verbosity,
    Quit,
}

/// What comes before the keys of a reading command and what its replies hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) read: Read,
    /// An expiry time precedes the keys.
    pub(crate) exptime: bool,
}

/// No limit to the number of words.
const ANY: usize = usize::MAX;

/// Every command, the frequent ones first: the parser goes through it in this order.
static COMMANDS: [Command; 20] = [
    read("get", Read::Get, "<key>+", "Reads values."),
    read("gets", Read::Gets, "<key>+", "Reads values with their CAS numbers."),
    write("set", Verb::Set, "Stores a value."),
    Command {
        name: "delete",
        words: (1, 3),
        usage: "<key> [0] [noreply]",
        about: "Removes a value.",
        kind: Kind::Simple(Simple::Delete),
    },
    arith("incr", Direction::Up, "Adds to a decimal number; wraps at 2^64."),
    arith("decr", Direction::Down, "Subtracts from a decimal number; stops at 0."),
    write("add", Verb::Add, "Stores a value if there is none."),
    write("replace", Verb::Replace, "Stores a value if there is one."),
    write("append", Verb::Append, "Puts bytes behind a value."),
    write("prepend", Verb::Prepend, "Puts bytes before a value."),
    Command {
        name: "cas",
        words: (5, ANY),
        usage: "<key> <flags> <exptime> <bytes> <cas> [noreply]",
        about: "Stores a value if nobody has changed it since it was read with this CAS number.",
        kind: Kind::Write(Verb::Cas),
    },
    Command {
        name: "touch",
        words: (2, 3),
        usage: "<key> <exptime> [noreply]",
        about: "Changes when a value expires.",
        kind: Kind::Simple(Simple::Touch),
    },
    gat("gat", Read::Gat, "Reads values and changes when they expire."),
    gat("gats", Read::Gats, "Reads values with their CAS numbers and changes when they expire."),
    read("bget", Read::Get, "<key>+", "Another name of get."),
    Command {
        name: "flush_all",
        words: (0, 2),
        usage: "[<delay>] [noreply]",
        about: "Makes all values unreadable, at once or after a delay.",
        kind: Kind::Simple(Simple::FlushAll),
    },
    Command {
        name: "stats",
        words: (0, ANY),
        usage: "[items|slabs|sizes|settings|conns|reset]",
        about: "Tells about the server.",
        kind: Kind::Simple(Simple::Stats),
    },
    Command {
        name: "version",
        words: (0, ANY),
        usage: "",
        about: "Tells the server's version.",
        kind: Kind::Simple(Simple::Version),
    },
    Command {
        name: "verbosity",
        words: (1, 2),
        usage: "<level> [noreply]",
        about: "Accepted and ignored: the log level is set elsewhere.",
        kind: Kind::Simple(Simple::Verbosity),
    },
    Command {
        name: "quit",
        words: (0, ANY),
        usage: "",
        about: "Closes the connection.",
        kind: Kind::Simple(Simple::Quit),
    },
];

const fn read(name: &'static str, read: Read, usage: &'static str, about: &'static str) -> Command {
    Command {
        name,
        words: (1, ANY),
        usage,
        about,
        kind: Kind::Read(Shape { read, exptime: false }),
    }
}

const fn gat(name: &'static str, read: Read, about: &'static str) -> Command {
    Command {
        name,
        words: (1, ANY),
        usage: "<exptime> <key>*",
        about,
        kind: Kind::Read(Shape { read, exptime: true }),
    }
}

const fn write(name: &'static str, verb: Verb, about: &'static str) -> Command {
    Command {
        name,
        words: (4, ANY),
        usage: "<key> <flags> <exptime> <bytes> [noreply]",
        about,
        kind: Kind::Write(verb),
    }
}

const fn arith(name: &'static str, direction: Direction, about: &'static str) -> Command {
    Command {
        name,
        words: (2, 3),
        usage: "<key> <u64> [noreply]",
        about,
        kind: Kind::Simple(Simple::Arith(direction)),
    }
}

/// All commands: for documentation, completion and fuzz dictionaries.
///
/// ```
/// let names: Vec<&str> = protocol_memcache::commands().map(|command| command.name).collect();
/// assert!(names.contains(&"gets"));
/// ```
pub fn commands() -> impl Iterator<Item = &'static Command> {
    COMMANDS.iter()
}

/// The command with this name.
pub(crate) fn find(name: &[u8]) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name.as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_own_command() {
        for command in commands() {
            let found = find(command.name.as_bytes()).expect("it is in the table");
            assert!(std::ptr::eq(found, command), "{} is there twice", command.name);
            assert!(command.words.0 <= command.words.1);
        }
        assert!(find(b"GET").is_none());
        assert!(find(b"").is_none());
    }
}
