// SPDX-License-Identifier: Apache-2.0
//! The command table, which the parser, the service, the command log, the documentation and the
//! fuzz dictionary read.
//!
//! A row names the function that turns a line into an operation. The service executes the
//! operation, and the dialect writes the reply. `docs/dev/add-a-memcache-command.md` walks through
//! all steps.

use crate::metrics as counts;
use crate::op::{Direction, Mode, Op};
use crate::parse::text::simple::{self, Line};
use crate::parse::text::words::Words;
use ::metrics::Counter;

/// One command of the protocol.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Command {
    /// Its row.
    pub id: CommandId,
    /// What the line starts with, lower case.
    pub name: &'static str,
    /// The command of which this name is an alias. Requests by this name count as requests of that
    /// command.
    pub alias_of: Option<CommandId>,
    /// The fewest and the most words that may follow the name. A line with fewer or more words is
    /// answered `ERROR`, as an unknown name is. Extra words of a storage command are ignored.
    pub words: (usize, usize),
    /// The arguments, as shown to people.
    pub usage: &'static str,
    /// One sentence on what it does.
    pub about: &'static str,
    /// Counts its requests; a list of keys is one.
    pub requests: &'static Counter,
    /// Where its line may say `noreply`.
    pub(crate) noreply: Noreply,
    /// How its line is parsed.
    pub(crate) parser: Parser,
}

/// Which words of a line ask for no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noreply {
    /// None.
    Never,
    /// The last one.
    Last,
    /// The last one, unless it is the only word, which is the key.
    BehindKey,
}

/// How the words of a command become an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parser {
    /// A list of keys, each of which becomes an operation.
    Keys(Keys),
    /// A line followed by a body, the value to store.
    Body(Mode),
    /// A line with one key or none.
    Line(LineParser),
    /// The binary protocol's alone: no line begins with this name.
    Binary,
}

/// Makes an operation from the words after a command's name. The flag tells whether they ask for no
/// reply.
pub(crate) type LineParser = for<'a> fn(&Words<'a>, bool) -> Line<'a>;

/// The kind of a list of keys: what precedes it, and what its replies show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keys {
    /// An expiry time precedes the keys.
    pub(crate) exptime: bool,
    /// CAS numbers are shown.
    pub(crate) cas: bool,
}

/// No limit to the number of words.
const ANY: usize = usize::MAX;

/// Makes [`CommandId`], with a name for each row, and the table.
macro_rules! table {
    ($($id:ident $name:literal $(= $other:ident)?, $row:expr;)*) => {
        /// A command: its row of the [table](commands).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum CommandId {
            $(#[doc = concat!("`", $name, "`")] $id,)*
        }

        /// All commands, the frequent ones first, because the parser searches in this order.
        static TABLE: [Command; [$(CommandId::$id),*].len()] = [$({
            let Row { words, usage, about, requests, noreply, parser } = $row;
            let alias_of = alias!($($other)?);
            let (id, name) = (CommandId::$id, $name);
            Command { id, name, alias_of, words, usage, about, requests, noreply, parser }
        },)*];
    };
}

macro_rules! alias {
    () => {
        None
    };
    ($id:ident) => {
        Some(CommandId::$id)
    };
}

/// The columns of [`Command`] except its names.
struct Row {
    words: (usize, usize),
    usage: &'static str,
    about: &'static str,
    requests: &'static Counter,
    noreply: Noreply,
    parser: Parser,
}

table! {
    Get "get", keys(&counts::GET, GET, "Reads values.");
    Gets "gets", keys(&counts::GETS, GETS, "Reads values with their CAS numbers.");
    Set "set", body(&counts::SET, Mode::Set, "Stores a value.");
    Delete "delete", Row {
        words: (1, 3),
        usage: "<key> [0] [noreply]",
        about: "Removes a value.",
        requests: &counts::DELETE,
        noreply: Noreply::BehindKey,
        parser: Parser::Line(simple::delete),
    };
    Incr "incr", Row {
        words: (2, 3),
        usage: "<key> <u64> [noreply]",
        about: "Adds to a decimal number; wraps at 2^64.",
        requests: &counts::INCR,
        noreply: Noreply::Last,
        parser: Parser::Line(|words, _| simple::arith(words, Direction::Up)),
    };
    Decr "decr", Row {
        words: (2, 3),
        usage: "<key> <u64> [noreply]",
        about: "Subtracts from a decimal number; stops at 0.",
        requests: &counts::DECR,
        noreply: Noreply::Last,
        parser: Parser::Line(|words, _| simple::arith(words, Direction::Down)),
    };
    Add "add", body(&counts::ADD, Mode::Add, "Stores a value if there is none.");
    Replace "replace", body(&counts::REPLACE, Mode::Replace, "Stores a value if there is one.");
    Append "append", body(&counts::APPEND, Mode::Append, "Puts bytes behind a value.");
    Prepend "prepend", body(&counts::PREPEND, Mode::Prepend, "Puts bytes before a value.");
    Cas "cas", Row {
        words: (5, ANY),
        usage: "<key> <flags> <exptime> <bytes> <cas> [noreply]",
        about: "Stores a value if nobody has changed it since it was read with this CAS number.",
        requests: &counts::CAS,
        noreply: Noreply::Last,
        parser: Parser::Body(Mode::Cas),
    };
    Touch "touch", Row {
        words: (2, 3),
        usage: "<key> <exptime> [noreply]",
        about: "Changes when a value expires.",
        requests: &counts::TOUCH,
        noreply: Noreply::Last,
        parser: Parser::Line(simple::touch),
    };
    Gat "gat", keys(&counts::GAT, GAT, "Reads values and changes when they expire.");
    Gats "gats", keys(&counts::GAT, GATS,
        "Reads values with their CAS numbers and changes when they expire.");
    Bget "bget" = Get, keys(&counts::GET, GET, "Another name of get.");
    FlushAll "flush_all", Row {
        words: (0, 2),
        usage: "[<delay>] [noreply]",
        about: "Makes all values unreadable, at once or after a delay.",
        requests: &counts::FLUSH_ALL,
        noreply: Noreply::Last,
        parser: Parser::Line(simple::flush_all),
    };
    Stats "stats", Row {
        words: (0, ANY),
        usage: "[items|slabs|sizes|settings|conns|reset]",
        about: "Tells about the server.",
        requests: &counts::STATS,
        noreply: Noreply::Never,
        parser: Parser::Line(|words, _| Ok(Op::Stats { topic: words.get(0) })),
    };
    Version "version", Row {
        words: (0, ANY),
        usage: "",
        about: "Tells the server's version.",
        requests: &counts::VERSION,
        noreply: Noreply::Never,
        parser: Parser::Line(|_, _| Ok(Op::Version)),
    };
    Verbosity "verbosity", Row {
        words: (1, 2),
        usage: "<level> [noreply]",
        about: "Accepted and ignored: the log level is set elsewhere.",
        requests: &counts::VERBOSITY,
        noreply: Noreply::Last,
        parser: Parser::Line(simple::verbosity),
    };
    Noop "noop", Row {
        words: (0, 0),
        usage: "",
        about: "Answers once everything before it has been answered.",
        requests: &counts::NOOP,
        noreply: Noreply::Never,
        parser: Parser::Binary,
    };
    Quit "quit", Row {
        words: (0, ANY),
        usage: "",
        about: "Closes the connection.",
        requests: &counts::QUIT,
        noreply: Noreply::Never,
        parser: Parser::Line(|_, _| Ok(Op::Quit)),
    };
}

const GET: Keys = Keys { exptime: false, cas: false };
const GETS: Keys = Keys { exptime: false, cas: true };
const GAT: Keys = Keys { exptime: true, cas: false };
const GATS: Keys = Keys { exptime: true, cas: true };

const fn keys(requests: &'static Counter, keys: Keys, about: &'static str) -> Row {
    Row {
        words: (1, ANY),
        usage: if keys.exptime { "<exptime> <key>*" } else { "<key>+" },
        about,
        requests,
        noreply: Noreply::Never,
        parser: Parser::Keys(keys),
    }
}

const fn body(requests: &'static Counter, mode: Mode, about: &'static str) -> Row {
    Row {
        words: (4, ANY),
        usage: "<key> <flags> <exptime> <bytes> [noreply]",
        about,
        requests,
        noreply: Noreply::Last,
        parser: Parser::Body(mode),
    }
}

impl Command {
    /// Whether the text protocol has it. The others are the binary protocol's alone.
    #[must_use]
    pub fn is_text(&self) -> bool {
        !matches!(self.parser, Parser::Binary)
    }
}

impl CommandId {
    /// The command.
    #[inline]
    #[must_use]
    pub fn command(self) -> &'static Command {
        &TABLE[self as usize]
    }
}

/// All commands: for documentation, completion and fuzz dictionaries.
///
/// ```
/// let names: Vec<&str> = protocol_memcache::commands().map(|command| command.name).collect();
/// assert!(names.contains(&"gets"));
/// ```
pub fn commands() -> impl Iterator<Item = &'static Command> {
    TABLE.iter()
}

/// The command with this name or alias.
pub(crate) fn find(name: &[u8]) -> Option<&'static Command> {
    let command = TABLE.iter().find(|row| row.name.as_bytes() == name && row.is_text())?;
    Some(command.alias_of.map_or(command, CommandId::command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_own_command() {
        for command in commands().filter(|command| command.is_text()) {
            let found = find(command.name.as_bytes()).expect("it is in the table");
            assert_eq!(found.id, command.alias_of.unwrap_or(command.id), "{}", command.name);
            assert_eq!(found.alias_of, None, "an alias of an alias");
            assert!(std::ptr::eq(command.id.command(), command), "{}", command.name);
            assert!(command.words.0 <= command.words.1);
        }
        assert!(find(b"GET").is_none());
        assert!(find(b"noop").is_none(), "it is binary");
        assert!(find(b"").is_none());
    }
}
