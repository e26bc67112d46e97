// SPDX-License-Identifier: Apache-2.0
//! The command table, which the parser, the service, the command log, the documentation and the
//! fuzz dictionary read.
//!
//! A row names the function that turns a line into an operation. The service executes the
//! operation, and the dialect writes the reply. `docs/dev/add-a-memcache-command.md` walks through
//! all steps.

use crate::metrics as counts;
use crate::op::{Act, Direction, Manage, Mode, Op};
use crate::parse::text::crawler;
use crate::parse::text::simple::{self, Line};
use crate::parse::text::tuning;
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
    /// The fewest words that may follow the name. A line with fewer is answered `CLIENT_ERROR bad command line
    /// format`; words beyond those that the command takes are ignored.
    pub words_min: usize,
    /// Whether spaces may precede the name.
    pub may_be_indented: bool,
    /// The arguments, as shown to people.
    pub usage: &'static str,
    /// One sentence on what it does.
    pub about: &'static str,
    /// Counts its requests; a list of keys is one.
    pub requests: &'static Counter,
    /// Whether `noreply` as the last word asks for no reply.
    pub(crate) noreply: bool,
    /// How its line is parsed.
    pub(crate) parser: Parser,
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
    /// The configuration of a cluster.
    Config,
    /// The binary protocol's alone: no line begins with this name.
    Binary,
    /// A meta command on one key: its flags say what it wants to be told.
    Meta(Act),
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

/// Makes [`CommandId`], with a name for each row, and the table.
macro_rules! table {
    ($($id:ident $name:literal, $row:expr;)*) => {
        /// A command: its row of the [table](commands).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum CommandId {
            $(#[doc = concat!("`", $name, "`")] $id,)*
        }

        /// All commands.
        static TABLE: [Command; [$(CommandId::$id),*].len()] = [$({
            let Row { words_min, may_be_indented, usage, about, requests, noreply, parser } = $row;
            let (id, name) = (CommandId::$id, $name);
            Command { id, name, words_min, may_be_indented, usage, about, requests, noreply, parser }
        },)*];

        /// The row of a name. A `match` looks at few bytes of the name, whatever the number of rows.
        fn row(name: &[u8]) -> Option<CommandId> {
            #[expect(non_upper_case_globals, reason = "named as the rows are")]
            mod names {
                $(pub(super) const $id: &[u8] = $name.as_bytes();)*
            }
            match name {
                $(names::$id => Some(CommandId::$id),)*
                _ => None,
            }
        }
    };
}

/// The columns of [`Command`] except its name.
struct Row {
    words_min: usize,
    may_be_indented: bool,
    usage: &'static str,
    about: &'static str,
    requests: &'static Counter,
    noreply: bool,
    parser: Parser,
}

table! {
    Get "get", keys(&counts::GET, GET, "Reads values.");
    Gets "gets", keys(&counts::GETS, GETS, "Reads values with their CAS numbers.");
    Set "set", body(&counts::SET, Mode::Set, "Stores a value.");
    Mg "mg", meta(&counts::MG, Act::Get, "Reads a value, or facts about it.");
    Ms "ms", Row { usage: "<key> <bytes> <flags>*",
        ..meta(&counts::MS, Act::Set, "Stores a value.") };
    Md "md", meta(&counts::MD, Act::Delete, "Removes a value, or marks it as stale.");
    Ma "ma", meta(&counts::MA, Act::Arith, "Adds to a decimal number, or subtracts from it.");
    Mn "mn", Row {
        words_min: 0,
        may_be_indented: false,
        usage: "",
        about: "Answers once everything before it has been answered.",
        requests: &counts::MN,
        noreply: false,
        parser: Parser::Meta(Act::Noop),
    };
    Me "me", meta(&counts::ME, Act::Describe, "Tells what the server knows of an item.");
    Delete "delete", Row {
        words_min: 1,
        may_be_indented: false,
        usage: "<key> [noreply]",
        about: "Removes a value.",
        requests: &counts::DELETE,
        noreply: true,
        parser: Parser::Line(simple::delete),
    };
    Incr "incr", Row {
        words_min: 2,
        may_be_indented: false,
        usage: "<key> <u64> [noreply]",
        about: "Adds to a decimal number; wraps at 2^64.",
        requests: &counts::INCR,
        noreply: true,
        parser: Parser::Line(|words, _| simple::arith(words, Direction::Up)),
    };
    Decr "decr", Row {
        words_min: 2,
        may_be_indented: false,
        usage: "<key> <u64> [noreply]",
        about: "Subtracts from a decimal number; stops at 0.",
        requests: &counts::DECR,
        noreply: true,
        parser: Parser::Line(|words, _| simple::arith(words, Direction::Down)),
    };
    Add "add", body(&counts::ADD, Mode::Add, "Stores a value if there is none.");
    Replace "replace", body(&counts::REPLACE, Mode::Replace, "Stores a value if there is one.");
    Append "append", body(&counts::APPEND, Mode::Append, "Puts bytes behind a value.");
    Prepend "prepend", body(&counts::PREPEND, Mode::Prepend, "Puts bytes before a value.");
    Cas "cas", Row {
        words_min: 5,
        may_be_indented: false,
        usage: "<key> <flags> <exptime> <bytes> <cas> [noreply]",
        about: "Stores a value if nobody has changed it since it was read with this CAS number.",
        requests: &counts::CAS,
        noreply: true,
        parser: Parser::Body(Mode::Cas),
    };
    Touch "touch", Row {
        words_min: 2,
        may_be_indented: false,
        usage: "<key> <exptime> [noreply]",
        about: "Changes when a value expires.",
        requests: &counts::TOUCH,
        noreply: true,
        parser: Parser::Line(simple::touch),
    };
    Gat "gat", keys(&counts::GAT, GAT, "Reads values and changes when they expire.");
    Gats "gats", keys(&counts::GAT, GATS,
        "Reads values with their CAS numbers and changes when they expire.");
    FlushAll "flush_all", Row {
        words_min: 0,
        may_be_indented: true,
        usage: "[<delay>] [noreply]",
        about: "Makes all values unreadable, at once or after a delay.",
        requests: &counts::FLUSH_ALL,
        noreply: true,
        parser: Parser::Line(simple::flush_all),
    };
    Stats "stats", Row {
        words_min: 0,
        may_be_indented: false,
        usage: "[items|slabs|sizes|settings|conns|reset|detail on|off|dump|cachedump <class> <limit>]",
        about: "Tells about the server.",
        requests: &counts::STATS,
        noreply: false,
        parser: Parser::Line(simple::stats),
    };
    LruCrawler "lru_crawler", Row {
        words_min: 0,
        may_be_indented: true,
        usage: "metadump|mgdump all|hash|<class>,... [<prefix>]",
        about: "Lists all items; its settings are accepted and ignored.",
        requests: &counts::LRU_CRAWLER,
        noreply: true,
        parser: Parser::Line(crawler::lru_crawler),
    };
    Slabs "slabs", tuning(&counts::SLABS, tuning::slabs,
        "reassign <from> <to>|automove 0|1|2|ratio <ratio>|freeratio <ratio>|window <size>",
        "For tools of memcached's slab pages, of which there are none here: checked and ignored.");
    Lru "lru", tuning(&counts::LRU, tuning::lru,
        "mode flat|segmented|tune <hot> <warm> <factor> <factor>|temp_ttl <seconds>",
        "For tools that tune memcached's LRU: checked and ignored.");
    Extstore "extstore", tuning(&counts::EXTSTORE, tuning::extstore, "<setting> <value>",
        "For tools of memcached's storage on disks: checked and ignored.");
    Version "version", Row {
        words_min: 0,
        may_be_indented: false,
        usage: "",
        about: "Tells the server's version.",
        requests: &counts::VERSION,
        noreply: false,
        parser: Parser::Line(|_, _| Ok(Op::Version)),
    };
    Verbosity "verbosity", Row {
        words_min: 1,
        may_be_indented: true,
        usage: "<level> [noreply]",
        about: "Sets how much is logged: 0, 1 or 2.",
        requests: &counts::VERBOSITY,
        noreply: true,
        parser: Parser::Line(simple::verbosity),
    };
    CacheMemlimit "cache_memlimit", Row {
        words_min: 0,
        may_be_indented: true,
        usage: "<megabytes> [noreply]",
        about: "Sets the memory limit.",
        requests: &counts::CACHE_MEMLIMIT,
        noreply: true,
        parser: Parser::Line(simple::cache_memlimit),
    };
    Shutdown "shutdown", Row {
        words_min: 0,
        may_be_indented: false,
        usage: "[graceful] [noreply]",
        about: "Stops the server, if it allows that.",
        requests: &counts::SHUTDOWN,
        noreply: true,
        parser: Parser::Line(simple::shutdown),
    };
    RefreshCerts "refresh_certs", Row {
        words_min: 0,
        may_be_indented: true,
        usage: "",
        about: "Reads certificates again, and the users who may log in.",
        requests: &counts::REFRESH_CERTS,
        noreply: false,
        parser: Parser::Line(|_, _| Ok(Op::Manage(Manage::Reread))),
    };
    Config "config", Row {
        words_min: 2,
        may_be_indented: false,
        usage: "get cluster",
        about: "Tells the servers of a cluster, where a file names them.",
        requests: &counts::CONFIG,
        noreply: false,
        parser: Parser::Config,
    };
    Watch "watch", Row {
        words_min: 0,
        may_be_indented: false,
        usage: "[fetchers|mutations|evictions|connevents|deletions]*",
        about: "Shows what happens in the server, a line for each event, until the connection ends.",
        requests: &counts::WATCH,
        noreply: false,
        parser: Parser::Line(simple::watch),
    };
    Noop "noop", Row {
        words_min: 0,
        may_be_indented: false,
        usage: "",
        about: "Answers once everything before it has been answered.",
        requests: &counts::NOOP,
        noreply: false,
        parser: Parser::Binary,
    };
    Auth "auth", Row {
        words_min: 0,
        may_be_indented: false,
        usage: "",
        about: "Logs in. In text it is a storage line with user and password as its value.",
        requests: &counts::AUTH,
        noreply: false,
        parser: Parser::Binary,
    };
    Quit "quit", Row {
        words_min: 0,
        may_be_indented: false,
        usage: "",
        about: "Closes the connection.",
        requests: &counts::QUIT,
        noreply: false,
        parser: Parser::Line(|_, _| Ok(Op::Quit)),
    };
}

const GET: Keys = Keys { exptime: false, cas: false };
const GETS: Keys = Keys { exptime: false, cas: true };
const GAT: Keys = Keys { exptime: true, cas: false };
const GATS: Keys = Keys { exptime: true, cas: true };

/// A command on what memcached has and this server has not.
const fn tuning(
    requests: &'static Counter,
    parse: LineParser,
    usage: &'static str,
    about: &'static str,
) -> Row {
    Row {
        words_min: 0,
        may_be_indented: true,
        usage,
        about,
        requests,
        noreply: true,
        parser: Parser::Line(parse),
    }
}

const fn keys(requests: &'static Counter, keys: Keys, about: &'static str) -> Row {
    Row {
        words_min: if keys.exptime { 2 } else { 1 },
        may_be_indented: false,
        usage: if keys.exptime { "<exptime> <key>+" } else { "<key>+" },
        about,
        requests,
        noreply: false,
        parser: Parser::Keys(keys),
    }
}

const fn meta(requests: &'static Counter, act: Act, about: &'static str) -> Row {
    Row {
        words_min: 1,
        may_be_indented: false,
        usage: "<key> <flags>*",
        about,
        requests,
        noreply: false,
        parser: Parser::Meta(act),
    }
}

const fn body(requests: &'static Counter, mode: Mode, about: &'static str) -> Row {
    Row {
        words_min: 4,
        may_be_indented: false,
        usage: "<key> <flags> <exptime> <bytes> [noreply]",
        about,
        requests,
        noreply: true,
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

/// The command with this name.
pub(crate) fn find(name: &[u8]) -> Option<&'static Command> {
    row(name).map(CommandId::command).filter(|command| command.is_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_own_command() {
        for command in commands().filter(|command| command.is_text()) {
            let found = find(command.name.as_bytes()).expect("it is in the table");
            assert_eq!(found.id, command.id, "{}", command.name);
            assert!(std::ptr::eq(command.id.command(), command), "{}", command.name);
        }
        assert!(find(b"GET").is_none());
        assert!(find(b"noop").is_none(), "it is binary");
        assert!(find(b"").is_none());
    }
}
