// SPDX-License-Identifier: Apache-2.0
//! The notation of arguments to their tree, by recursive descent.

use super::{Argument, Kind};

/// Reads the notation. `key_specs` is how many there are: keys are given to them in order, and what
/// is left to the last.
///
/// # Errors
///
/// A notation that is none, with the part that could not be read.
pub(in crate::table) fn parse(
    syntax: &'static str,
    key_specs: usize,
) -> Result<Vec<Argument>, &'static str> {
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

    /// A word in capitals, or a sign.
    fn token(&mut self) -> Option<&'static str> {
        let is_first = |first: char| first.is_ascii_uppercase() || "=~*$\"".contains(first);
        self.rest.starts_with(is_first).then(|| self.word())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    #[test]
    fn names_decide_types_and_keys_are_given_to_rules_in_order() {
        let arguments = parse("destination numkeys key... score:string ip:port", 2).unwrap();
        let kinds: Vec<_> =
            arguments.iter().map(|argument| (argument.kind, argument.key_spec)).collect();
        assert_eq!(
            kinds,
            [
                (Kind::Key, Some(0)),
                (Kind::Integer, None),
                (Kind::Key, Some(1)),
                (Kind::String, None),
                (Kind::String, None),
            ]
        );
        let keys = parse("key1 key2", 1).unwrap();
        assert!(keys.iter().all(|key| key.key_spec == Some(0)), "the last rule finds what is left");
    }

    #[test]
    fn groups_have_the_names_of_their_parts_unless_they_have_one() {
        let names = |syntax| parse(syntax, 0).unwrap().remove(0).name;
        assert_eq!(names("(offset count)"), "offset_count");
        assert_eq!(names("[ON | OFF]"), "on_off");
        assert_eq!(names("[mode: ON | OFF]"), "mode");
        assert_eq!(names("(pattern: pattern)"), "pattern");
        assert_eq!(names("[sorting: ALPHA]"), "sorting");
        assert_eq!(names("[ALPHA]"), "alpha");
    }

    #[test]
    fn what_is_no_notation_is_refused_where_it_goes_wrong() {
        for (syntax, rest) in [
            ("key ]", "]"),
            ("(key", ""),
            ("[a | ]", ""),
            ("()", ""),
            ("a | b", "| b"),
            ("key#x", "x"),
            ("a :double", ""),
            ("...", "..."),
        ] {
            assert_eq!(parse(syntax, 0), Err(rest), "{syntax}");
        }
    }

    #[test]
    fn every_row_can_be_read() {
        for command in table::all() {
            let spec = command.spec();
            let arguments = parse(spec.syntax, spec.keys.len());
            assert!(arguments.is_ok(), "{}: {arguments:?}", spec.name);
        }
    }
}
