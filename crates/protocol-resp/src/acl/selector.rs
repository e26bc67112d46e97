// SPDX-License-Identifier: Apache-2.0
//! [`Selector`]: one set of rights, for commands, keys, channels and databases. A user has one, and may have more.

use super::commands::Commands;
use super::databases::{self, Selection};
use super::rule::Error;
use crate::table::{Channels, CommandId, Flags, KeyFlags, keys, keys::Words};
use crate::wire::glob;

/// Rights that belong together: a command that one of a user's selectors allows may be run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selector {
    pub(super) commands: Commands,
    keys: Keys,
    channels: Names,
    /// The databases, in order; `None` for all.
    databases: Option<Vec<usize>>,
}

/// Which keys may be read, and which written.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Keys {
    All,
    Like(Vec<KeyPattern>),
}

impl Default for Keys {
    fn default() -> Self {
        Keys::Like(Vec::new())
    }
}

/// What may be done to keys like this.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KeyPattern {
    access: Access,
    pattern: Box<[u8]>,
}

/// What is done to a key, or may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Access {
    read: bool,
    write: bool,
}

impl Access {
    const ALL: Access = Access { read: true, write: true };

    /// What a command with these flags of a key needs.
    fn needed(flags: KeyFlags) -> Self {
        let writes = KeyFlags::INSERT.with(KeyFlags::DELETE).with(KeyFlags::UPDATE);
        Access { read: flags.has(KeyFlags::ACCESS), write: flags.meets(writes) }
    }

    fn covers(self, needed: Access) -> bool {
        (self.read || !needed.read) && (self.write || !needed.write)
    }
}

/// Names that are allowed, as patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Names {
    All,
    Like(Vec<NamePattern>),
}

/// A pattern of names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NamePattern(Box<[u8]>);

impl NamePattern {
    /// Whether it allows a name, or another pattern, which only the same does.
    fn allows(&self, name: &[u8], is_pattern: bool) -> bool {
        if is_pattern { *self.0 == *name } else { glob::matches(&self.0, name) }
    }
}

impl Default for Names {
    fn default() -> Self {
        Names::Like(Vec::new())
    }
}

/// What a command may not do, and at which argument that shows. In the order in which one is told instead of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Denied {
    /// Use the database that it is in, or that this argument names.
    Database(usize),
    /// Run at all.
    Command,
    /// Read or write this key.
    Key(usize),
    /// Use this channel.
    Channel(usize),
}

impl Selector {
    /// A set with all rights.
    pub(super) fn all() -> Self {
        let commands = Commands::all(true);
        Selector { commands, keys: Keys::All, channels: Names::All, databases: None }
    }

    /// Whether it has all rights.
    pub(super) fn is_all(&self) -> bool {
        self.keys == Keys::All
            && self.channels == Names::All
            && self.databases.is_none()
            && self.commands.is_all()
    }

    /// The same without channels, or with all.
    pub(super) fn with_channels(self, all: bool) -> Self {
        Selector { channels: if all { Names::All } else { Names::default() }, ..self }
    }

    /// The set that `rules` make of none.
    pub(super) fn read(rules: &[u8]) -> Result<Self, Error> {
        let mut selector = Selector::default();
        for rule in rules.split(|byte| *byte == b' ').filter(|rule| !rule.is_empty()) {
            selector.apply(rule)?;
        }
        Ok(selector)
    }

    /// Applies one rule.
    pub(super) fn apply(&mut self, rule: &[u8]) -> Result<(), Error> {
        match rule.to_ascii_lowercase().as_slice() {
            b"allkeys" | b"~*" => self.keys = Keys::All,
            b"resetkeys" => self.keys = Keys::default(),
            b"allchannels" | b"&*" => self.channels = Names::All,
            b"resetchannels" => self.channels = Names::default(),
            b"allcommands" | b"+@all" => self.commands = Commands::all(true),
            b"nocommands" | b"-@all" => self.commands = Commands::all(false),
            b"alldbs" => self.databases = None,
            b"resetdbs" => self.databases = Some(Vec::new()),
            lower if lower.starts_with(b"db=") => {
                self.databases = Some(numbers(&rule[3..])?);
            }
            _ => return self.apply_sign(rule),
        }
        Ok(())
    }

    /// Applies a rule whose first letter says what it is about.
    fn apply_sign(&mut self, rule: &[u8]) -> Result<(), Error> {
        match rule.split_first() {
            Some((b'+', name)) => self.commands.apply(true, name),
            Some((b'-', name)) => self.commands.apply(false, name),
            Some((b'~', pattern)) => self.allow_keys(Access::ALL, pattern),
            Some((b'%', rest)) => {
                if self.keys == Keys::All {
                    return Err(Error::AllKeys);
                }
                // Without a pattern it is about the empty key.
                let tilde = rest.iter().position(|byte| *byte == b'~').unwrap_or(rest.len());
                let mut access = Access::default();
                for letter in &rest[..tilde] {
                    match letter.to_ascii_uppercase() {
                        b'R' if !access.read => access.read = true,
                        b'W' if !access.write => access.write = true,
                        _ => return Err(Error::Syntax),
                    }
                }
                if access == Access::default() {
                    return Err(Error::Syntax);
                }
                self.allow_keys(access, rest.get(tilde + 1..).unwrap_or_default())
            }
            Some((b'&', pattern)) => {
                let Names::Like(patterns) = &mut self.channels else {
                    return Err(Error::AllChannels);
                };
                has_no_spaces(pattern)?;
                if !patterns.iter().any(|known| *known.0 == *pattern) {
                    patterns.push(NamePattern(pattern.into()));
                }
                Ok(())
            }
            _ => Err(Error::Syntax),
        }
    }

    fn allow_keys(&mut self, access: Access, pattern: &[u8]) -> Result<(), Error> {
        let Keys::Like(patterns) = &mut self.keys else { return Err(Error::AllKeys) };
        has_no_spaces(pattern)?;
        match patterns.iter_mut().find(|known| *known.pattern == *pattern) {
            Some(known) => {
                known.access.read |= access.read;
                known.access.write |= access.write;
            }
            None => patterns.push(KeyPattern { access, pattern: pattern.into() }),
        }
        Ok(())
    }

    /// Whether a command may be run.
    pub(crate) fn check<W: Words + ?Sized>(
        &self,
        id: CommandId,
        args: &W,
        selection: Selection,
    ) -> Result<(), Denied> {
        let spec = id.spec();
        if let Some(allowed) = &self.databases {
            databases::check(spec.databases(), allowed, args, selection)?;
        }
        if !spec.flags.has(Flags::NO_AUTH) && !self.commands.allow(id, args) {
            return Err(Denied::Command);
        }
        self.check_keys(id, args)?;
        self.check_channels(id, args)
    }

    fn check_keys<W: Words + ?Sized>(&self, id: CommandId, args: &W) -> Result<(), Denied> {
        let (Keys::Like(patterns), spec) = (&self.keys, id.spec()) else { return Ok(()) };
        // Arguments in which the keys cannot be found are refused by the command itself.
        let Ok(found) = keys::keys(spec, args) else { return Ok(()) };
        for run in found.runs() {
            let needed = Access::needed(keys::flags(*run, args));
            for at in run.positions() {
                let key = args.word(at).unwrap_or_default();
                if !patterns.iter().any(|known| known.allows(key, needed)) {
                    return Err(Denied::Key(at));
                }
            }
        }
        Ok(())
    }

    fn check_channels<W: Words + ?Sized>(&self, id: CommandId, args: &W) -> Result<(), Denied> {
        let Names::Like(patterns) = &self.channels else { return Ok(()) };
        let end = args.count();
        let (places, is_pattern) = match id.spec().channels {
            Channels::None | Channels::Unsubscribe => return Ok(()),
            Channels::Publish => (1..2, false),
            Channels::Subscribe => (1..end, false),
            Channels::SubscribePattern => (1..end, true),
        };
        let is_allowed = |name: &[u8]| patterns.iter().any(|known| known.allows(name, is_pattern));
        let denied = places.into_iter().find(|at| !is_allowed(args.word(*at).unwrap_or_default()));
        denied.map_or(Ok(()), |at| Err(Denied::Channel(at)))
    }

    /// Whether a subscription to this name, or to this pattern, is allowed.
    pub(crate) fn allows_subscription(&self, name: &[u8], is_pattern: bool) -> bool {
        match &self.channels {
            Names::All => true,
            Names::Like(patterns) => patterns.iter().any(|known| known.allows(name, is_pattern)),
        }
    }

    /// Whether all keys may be read.
    pub(crate) fn reads_all_keys(&self) -> bool {
        match &self.keys {
            Keys::All => true,
            Keys::Like(patterns) => {
                patterns.iter().any(|known| *known.pattern == *b"*" && known.access.read)
            }
        }
    }

    /// The patterns of keys, with what is allowed.
    pub(crate) fn keys(&self) -> Vec<u8> {
        let Keys::Like(patterns) = &self.keys else { return b"~*".to_vec() };
        let shown = patterns.iter().map(|known| {
            let sign: &[u8] = match known.access {
                Access { read: true, write: false } => b"%R~",
                Access { read: false, write: true } => b"%W~",
                Access { .. } => b"~",
            };
            [sign, &known.pattern].concat()
        });
        shown.collect::<Vec<_>>().join(&b' ')
    }

    /// The patterns of channels.
    pub(crate) fn channels(&self) -> Vec<u8> {
        let Names::Like(patterns) = &self.channels else { return b"&*".to_vec() };
        patterns.iter().map(|pattern| [b"&", &*pattern.0].concat()).collect::<Vec<_>>().join(&b' ')
    }

    /// The rules about databases; `None` if all are allowed.
    pub(crate) fn databases(&self) -> Option<String> {
        let databases = self.databases.as_ref()?;
        let numbers = databases.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        Some(if numbers.is_empty() { numbers } else { format!("db={numbers}") })
    }

    /// The rules about commands.
    pub(crate) fn commands(&self) -> String {
        self.commands.describe()
    }

    /// All rules that make this set, as in a file of users.
    pub(super) fn describe(&self) -> Vec<u8> {
        let channels = match &self.channels {
            Names::All => self.channels(),
            Names::Like(_) => [&b"resetchannels "[..], &self.channels()].concat(),
        };
        let databases = match self.databases() {
            Some(none) if none.is_empty() => "resetdbs".to_owned(),
            Some(some) => some,
            None => String::new(),
        };
        let parts = [self.keys(), channels, databases.into_bytes(), self.commands().into_bytes()];
        let parts = parts.iter().map(|part| part.trim_ascii()).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(&b' ')
    }
}

impl KeyPattern {
    fn allows(&self, key: &[u8], needed: Access) -> bool {
        self.access.covers(needed) && glob::matches(&self.pattern, key)
    }
}

/// Numbers of databases, in order and each once.
fn numbers(text: &[u8]) -> Result<Vec<usize>, Error> {
    let number = |word: &[u8]| {
        let number = values::parse_i64(word).ok_or(Error::Syntax)?;
        u32::try_from(number).map(|number| number as usize).map_err(|_| Error::Database)
    };
    let mut numbers =
        text.split(|byte| *byte == b',').map(number).collect::<Result<Vec<_>, _>>()?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// Whether a file of users would read it as one word: it has no spaces, as C has them, and no NUL.
pub(super) fn is_one_word(text: &[u8]) -> bool {
    !text.iter().any(|byte| byte.is_ascii_whitespace() || matches!(byte, 0 | 0x0b))
}

fn has_no_spaces(pattern: &[u8]) -> Result<(), Error> {
    if is_one_word(pattern) { Ok(()) } else { Err(Error::Syntax) }
}
