// SPDX-License-Identifier: Apache-2.0
//! [`Commands`]: which commands may be run.

use super::rule::Error;
use crate::table::{self, COUNT, Categories, CommandId, keys::Words};

const WORDS: usize = COUNT.div_ceil(64);

/// A set of commands, and the rules that have led to it, as they are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Commands {
    /// A bit for each command and sub-command.
    bits: [u64; WORDS],
    /// Commands that are not in the set, but are allowed with this first argument.
    first_arguments: Vec<(CommandId, Box<[u8]>)>,
    /// Whether the rules begin with all commands.
    begins_with_all: bool,
    /// The rules behind that, each a sign and a name.
    rules: Vec<String>,
}

impl Commands {
    /// All of them, or none.
    pub(super) fn all(allowed: bool) -> Self {
        let word = if allowed { u64::MAX } else { 0 };
        Commands { bits: [word; WORDS], begins_with_all: allowed, ..Commands::default() }
    }

    /// Whether it is all of them.
    pub(super) fn is_all(&self) -> bool {
        table::all().all(|id| self.has(id))
    }

    fn has(&self, id: CommandId) -> bool {
        self.bits[id.index() / 64] & (1 << (id.index() % 64)) != 0
    }

    /// Whether this command may be run.
    pub(super) fn allow<W: Words + ?Sized>(&self, id: CommandId, args: &W) -> bool {
        let by_argument = |(known, argument): &(CommandId, Box<[u8]>)| {
            *known == id && args.word(1).is_some_and(|word| word.eq_ignore_ascii_case(argument))
        };
        self.has(id) || self.first_arguments.iter().any(by_argument)
    }

    /// Applies the rule `text`, which allows commands or denies them: the name of a command, of a sub-command, of a
    /// category, or a command with its first argument.
    pub(super) fn apply(&mut self, allowed: bool, text: &[u8]) -> Result<(), Error> {
        if let Some(name) = text.strip_prefix(b"@") {
            return self.apply_category(allowed, name);
        }
        if let Some(id) = table::find_full(text) {
            self.set(id, allowed);
            id.subcommands().for_each(|sub| self.set(sub, allowed));
            self.note(allowed, id.spec().name);
            return Ok(());
        }
        let bar = text.iter().rposition(|byte| *byte == b'|').filter(|_| allowed);
        let (name, argument) = text.split_at(bar.ok_or(Error::Unknown)?);
        let argument = &argument[1..];
        let id = table::find_full(name).filter(|id| !id.is_container()).ok_or(Error::Unknown)?;
        if name.contains(&b'|') {
            return Err(Error::FirstArgument);
        }
        if argument.is_empty() {
            return Err(Error::Syntax);
        }
        self.first_arguments.push((id, argument.to_ascii_lowercase().into()));
        self.note(true, &String::from_utf8_lossy(text).to_ascii_lowercase());
        Ok(())
    }

    fn apply_category(&mut self, allowed: bool, name: &[u8]) -> Result<(), Error> {
        if name.eq_ignore_ascii_case(b"all") {
            *self = Commands::all(allowed);
            return Ok(());
        }
        let category = Categories::named(name).ok_or(Error::Unknown)?;
        let members = table::all().filter(|id| id.spec().categories().has(category));
        members.for_each(|id| self.set(id, allowed));
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        self.note(allowed, &format!("@{name}"));
        Ok(())
    }

    fn set(&mut self, id: CommandId, allowed: bool) {
        let bit = 1 << (id.index() % 64);
        let word = &mut self.bits[id.index() / 64];
        *word = if allowed { *word | bit } else { *word & !bit };
        self.first_arguments.retain(|(known, _)| *known != id);
    }

    /// Records a rule; earlier ones about the same, or about parts of it, have no effect any more.
    fn note(&mut self, allowed: bool, name: &str) {
        let is_part = |rule: &str| {
            rule.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('|'))
        };
        self.rules.retain(|rule| !is_part(&rule[1..]));
        self.rules.push(format!("{}{name}", if allowed { '+' } else { '-' }));
    }

    /// The rules that make this set.
    pub(super) fn describe(&self) -> String {
        let all = if self.begins_with_all { "+@all" } else { "-@all" };
        let rules = self.rules.iter().map(String::as_str);
        std::iter::once(all).chain(rules).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rules: &str) -> Commands {
        let mut commands = Commands::default();
        for rule in rules.split(' ') {
            commands.apply(rule.starts_with('+'), &rule.as_bytes()[1..]).expect(rule);
        }
        commands
    }

    fn allows(commands: &Commands, line: &str) -> bool {
        let words: Vec<&str> = line.split(' ').collect();
        let id = table::resolve(words[0].as_bytes(), words.get(1).map(|word| word.as_bytes()));
        commands.allow(id.expect(line), &words[..])
    }

    #[test]
    fn later_rules_win() {
        let commands = of("+@read -mget +config|get +select|1");
        assert!(allows(&commands, "get k") && allows(&commands, "config get x"));
        assert!(!allows(&commands, "mget k") && !allows(&commands, "config set x y"));
        assert!(allows(&commands, "select 1") && !allows(&commands, "select 2"));
        assert!(!allows(&of("+select|1 -select"), "select 1"));
        assert!(allows(&of("-get +@string"), "get k"));
        assert!(allows(&of("-config +config|get"), "config get x"));
        assert!(Commands::all(true).is_all() && of("+@all").is_all() && !of("+@all -get").is_all());
    }

    #[test]
    fn rules_without_an_effect_are_not_shown() {
        let shown = |rules| of(rules).describe();
        assert_eq!(shown("+@all -@all +get +get -get +@string -set"), "-@all -get +@string -set");
        assert_eq!(
            shown("+config|get -config|set -config +config|get"),
            "-@all -config +config|get"
        );
        assert_eq!(shown("+@all"), "+@all");
        assert_eq!(shown("+GET +@Read"), "-@all +get +@read");
    }

    #[test]
    fn what_is_no_command_is_refused() {
        let apply = |allowed, text: &str| Commands::default().apply(allowed, text.as_bytes());
        for unknown in ["foo", "config|nope", "@nope", "", "get|k|x", "config|get|x"] {
            let wrong = apply(true, unknown).expect_err(unknown);
            let is_argument = unknown == "config|get|x";
            assert_eq!(wrong, if is_argument { Error::FirstArgument } else { Error::Unknown });
        }
        assert_eq!(apply(false, "select|1"), Err(Error::Unknown));
        assert_eq!(apply(true, "select|"), Err(Error::Syntax));
    }
}
