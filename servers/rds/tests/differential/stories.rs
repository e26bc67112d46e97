// SPDX-License-Identifier: Apache-2.0
//! [`Script`]: a scene of several connections, read from stories.txt, which explains how they are written.

use crate::generate::Command;
use crate::pattern::Pattern;
use crate::reference::Reference;
use crate::reply::shown;
use crate::rules::Rule;
use std::fmt;
use test_support::random::Random;

/// A story as it is written.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) name: &'static str,
    pub(crate) group: &'static str,
    pub(crate) weight: usize,
    lines: Vec<Line>,
}

/// How the replies to what a connection sends are awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Await {
    /// Not at all.
    Nothing,
    /// There is one.
    One,
    /// All that come.
    All,
    /// All that come until the server closes the connection.
    Close,
}

/// One thing that happens in a story.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// A connection sends a command. An argument `@N` stands for the id of connection N.
    Send { connection: usize, arguments: Vec<Vec<u8>>, awaits: Await, rule: Rule },
    /// A connection sends bytes as they are.
    Raw { connection: usize, bytes: Vec<u8>, awaits: Await },
    /// What has come for a connection is read.
    Drain { connection: usize, rule: Rule },
    /// The command that a connection sent last is blocked, or is answered.
    Blocked { connection: usize },
    /// Time passes.
    Sleep { ms: u64 },
}

#[derive(Debug)]
struct Line {
    /// Left out half of the time.
    maybe: bool,
    act: Template,
}

/// An act before anything is chosen.
#[derive(Debug)]
enum Template {
    Send {
        connection: usize,
        pattern: Pattern,
        awaits: Await,
        rule: Rule,
    },
    Raw {
        connection: usize,
        choices: Vec<Vec<u8>>,
        awaits: Await,
    },
    /// Some commands of the table.
    Any {
        connection: usize,
        most: usize,
        how: How,
    },
    Plain(Act),
}

/// Which commands of the table are sent, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// Whatever can be compared without the answers to other commands.
    All,
    /// Only what is compared exactly.
    Same,
    /// ACL DRYRUN of them, for a user.
    DryRun,
}

/// The stories of these groups.
pub(crate) fn scripts(text: &'static str, groups: &[&str]) -> Vec<Script> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    let mut scripts = Vec::new();
    let mut wanted = false;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        if line.starts_with('$') {
            let (name, stands_for) = line.split_once(" = ").expect("$name = text");
            names.push((name, stands_for));
        } else if let Some(heading) = line.strip_prefix('[') {
            let (group, name) = heading.split_once("] ").expect("[group weight] name");
            let (group, weight) = group.split_once(' ').expect("[group weight] name");
            let (weight, flag) = weight.split_once(',').unwrap_or((weight, ""));
            wanted = groups.contains(&group) && Reference::this().wants(flag);
            if wanted {
                let weight = weight.parse().expect("a weight");
                scripts.push(Script { name, group, weight, lines: Vec::new() });
            }
        } else if wanted {
            let mut line = line.to_owned();
            for (name, stands_for) in &names {
                line = line.replace(name, stands_for);
            }
            let script = scripts.last_mut().expect("a story begins with its name");
            script.lines.push(parse(&line));
        }
    }
    scripts
}

fn parse(text: &str) -> Line {
    let (maybe, rest) = match text.strip_prefix("~ ") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (word, rest) = rest.split_once([' ']).unwrap_or((rest, ""));
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("no number: {text}"));
    let act = match word {
        "blocked" => Template::Plain(Act::Blocked { connection: number(rest) }),
        "sleep" => Template::Plain(Act::Sleep { ms: number(rest) as u64 }),
        _ => of_connection(word, rest),
    };
    Line { maybe, act }
}

/// `1:rule` and what follows.
fn of_connection(word: &str, rest: &str) -> Template {
    let connection = word[..1].parse().unwrap_or_else(|_| panic!("no connection: {word}"));
    let rule = |name: &str| match name {
        "" => Rule::Same,
        _ => Rule::named(name).unwrap_or_else(|| panic!("no rule: {name}")),
    };
    let awaits = match &word[1..2] {
        "@" => {
            let how = match &word[2..] {
                "" => How::All,
                "same" => How::Same,
                "dryrun" => How::DryRun,
                _ => panic!("no way to send commands: {word}"),
            };
            let most = rest.parse().unwrap_or_else(|_| panic!("no number: {rest}"));
            return Template::Any { connection, most, how };
        }
        "?" => return Template::Plain(Act::Drain { connection, rule: rule(rest) }),
        "=" | "#" => {
            let awaits = if &word[1..2] == "#" { Await::Close } else { Await::All };
            let inner = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
            let choices = inner.unwrap_or(rest).split(" | ").map(unescaped);
            let wants = |bytes: &Vec<u8>| Reference::this().wants_word("raw", bytes);
            let choices = choices.filter(wants).collect();
            return Template::Raw { connection, choices, awaits };
        }
        ":" => Await::One,
        "!" => Await::Nothing,
        "&" => Await::All,
        _ => panic!("no act: {word}"),
    };
    Template::Send { connection, pattern: Pattern::parse(rest), awaits, rule: rule(&word[2..]) }
}

/// Bytes of a text with `\r`, `\n`, `\s`, `\0`, `\\`, `\xff` and `{text*times}`.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        if first == '{' {
            let (inner, after) = rest.split_once('}').expect("a brace is closed");
            let (repeated, times) = inner.rsplit_once('*').expect("{text*times}");
            bytes.extend(unescaped(repeated).repeat(times.parse().expect("a number")));
            rest = after;
        } else if first == '\\' {
            let (escape, after) = rest.split_at(1);
            rest = after;
            bytes.push(match escape {
                "r" => b'\r',
                "n" => b'\n',
                "s" => b' ',
                "0" => 0,
                "x" => {
                    let (digits, after) = rest.split_at(2);
                    rest = after;
                    u8::from_str_radix(digits, 16).expect("two digits")
                }
                _ => escape.as_bytes()[0],
            });
        } else {
            bytes.extend_from_slice(first.to_string().as_bytes());
        }
    }
    bytes
}

impl How {
    /// Whether the reply to a command can be compared. Nothing that ends a connection, begins a transaction, or
    /// changes who may do what.
    fn takes(self, command: &Command) -> bool {
        let apart = ["QUIT", "RESET", "HELLO", "AUTH", "ACL", "MULTI", "EXEC", "DISCARD", "CLIENT"];
        if command.alone || apart.iter().any(|name| command.is(name)) {
            return false;
        }
        match self {
            How::All => {
                !matches!(command.rule, Rule::Random | Rule::Popped | Rule::Scan | Rule::Size)
            }
            How::Same => command.rule == Rule::Same && !command.is("WATCH"),
            How::DryRun => true,
        }
    }

    fn send(self, connection: usize, command: Command, random: &mut Random) -> Act {
        let Command { mut arguments, mut rule, .. } = command;
        if self == How::DryRun {
            let user = format!("u{}", random.below(3));
            arguments.splice(0..0, [b"ACL".to_vec(), b"DRYRUN".to_vec(), user.into_bytes()]);
            rule = Rule::Same;
        }
        Act::Send { connection, arguments, awaits: Await::One, rule }
    }
}

impl Script {
    /// The story as it is told this time.
    /// `pick` takes a command of the table.
    pub(crate) fn play(
        &self,
        random: &mut Random,
        pick: &mut dyn FnMut(&mut Random) -> Command,
    ) -> Vec<Act> {
        let mut acts = Vec::new();
        for line in &self.lines {
            if line.maybe && random.one_in(2) {
                continue;
            }
            acts.push(match &line.act {
                Template::Any { connection, most, how } => {
                    let commands = (0..1 + random.below(*most)).map(|_| pick(random));
                    let commands: Vec<_> = commands.filter(|command| how.takes(command)).collect();
                    acts.extend(
                        commands.into_iter().map(|command| how.send(*connection, command, random)),
                    );
                    continue;
                }
                Template::Send { connection, pattern, awaits, rule } => {
                    let made = pattern.make(random);
                    let arguments = made.into_iter().map(|argument| argument.bytes).collect();
                    Act::Send { connection: *connection, arguments, awaits: *awaits, rule: *rule }
                }
                Template::Raw { connection, choices, awaits } => {
                    let bytes = choices[random.below(choices.len())].clone();
                    Act::Raw { connection: *connection, bytes, awaits: *awaits }
                }
                Template::Plain(act) => act.clone(),
            });
        }
        acts
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Act::Send { connection, arguments, awaits, .. } => {
                let words: Vec<_> = arguments.iter().map(|word| shown(word)).collect();
                let sign = if *awaits == Await::Nothing { "!" } else { ">" };
                write!(f, "{connection}{sign} {}", words.join(" "))
            }
            Act::Raw { connection, bytes, .. } => write!(f, "{connection}= {}", shown(bytes)),
            Act::Drain { connection, .. } => write!(f, "{connection}?"),
            Act::Blocked { connection } => write!(f, "until {connection} is blocked"),
            Act::Sleep { ms } => write!(f, "sleep {ms} ms"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_unescaped() {
        assert_eq!(unescaped(r"a\sb\r\n\\\0\xff{xy*2}é"), b"a b\r\n\\\0\xffxyxy\xc3\xa9");
    }

    #[test]
    fn lines_are_acts() {
        let text = "# nothing\n$x = PING\n[a 3] one\n1: $x\n~ 2& GET key\n1? unordered\nsleep 5\n\
                    [b 1] two\n1: GET key\n";
        let scripts = scripts(text, &["a"]);
        assert_eq!((scripts.len(), scripts[0].name, scripts[0].weight), (1, "one", 3));
        let played: Vec<_> = (0..20)
            .map(|seed| scripts[0].play(&mut Random::new(seed), &mut |_| unreachable!()))
            .collect();
        assert!(played.iter().any(|acts| acts.len() == 3));
        let full = played.iter().find(|acts| acts.len() == 4).expect("half have the second act");
        assert_eq!(full[0].to_string(), "1> PING");
        assert!(matches!(full[2], Act::Drain { connection: 1, rule: Rule::Unordered }));
        assert!(matches!(full[3], Act::Sleep { ms: 5 }));
    }
}
