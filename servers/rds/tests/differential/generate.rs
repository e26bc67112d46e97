// SPDX-License-Identifier: Apache-2.0
//! Makes steps out of the table: valid commands, and commands that are wrong in every way, alone, in
//! pipelines and in transactions, on several connections.

use crate::lua;
use crate::pattern::{Argument, Pattern};
use crate::reference::Reference;
use crate::reply::shown;
use crate::rules::Rule;
use crate::stories::{Act, Script};
use std::collections::HashSet;
use std::fmt;
use std::rc::Rc;
use test_support::random::Random;

/// How many connections take turns.
pub(crate) const SESSIONS: usize = 3;

/// How many commands there are to a story.
const COMMANDS_PER_STORY: usize = 400;

/// One of so many commands that a script can run is run by one.
const COMMANDS_PER_SCRIPT: usize = 12;

/// How many arguments of a command are shown.
const SHOWN_MAX: usize = 30;

/// A line of the table.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) text: &'static str,
    group: &'static str,
    weight: usize,
    rule: Rule,
    /// Sent by itself, and not in MULTI: what is asked next depends on the reply.
    alone: bool,
    /// Never spoilt: what became of it might not be comparable.
    intact: bool,
    /// Never gets more arguments: later versions than the oracle's take some.
    full: bool,
    /// Nothing but errors comes of it.
    fails: bool,
    pattern: Pattern,
}

/// A command and how its replies are compared.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub(crate) arguments: Vec<Vec<u8>>,
    pub(crate) rule: Rule,
    pub(crate) alone: bool,
    /// The line of the table it was made from; `None` of what was spoilt or added.
    pub(crate) line: Option<Rc<Line>>,
    /// The group of that line, also of what was spoilt.
    pub(crate) group: &'static str,
    pub(crate) spoilt: bool,
}

impl Command {
    /// A command that the harness itself sends.
    pub(crate) fn new(arguments: &[&[u8]], rule: Rule) -> Self {
        let arguments = arguments.iter().map(|argument| argument.to_vec()).collect();
        let group = "transactions";
        Command { arguments, rule, alone: false, line: None, group, spoilt: false }
    }

    /// Whether it is the command `name`, in any case of letters.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.arguments[0].eq_ignore_ascii_case(name.as_bytes())
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, argument) in self.arguments.iter().enumerate() {
            if index == SHOWN_MAX {
                return write!(f, " <{} more>", self.arguments.len() - index);
            }
            let space = if index == 0 { "" } else { " " };
            let plain = argument.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'"');
            let quote = if plain && !argument.is_empty() { "" } else { "\"" };
            write!(f, "{space}{quote}{}{quote}", shown(argument))?;
        }
        Ok(())
    }
}

/// What is done before anything else is.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Commands sent at once on one of the connections that take turns.
    Commands { session: usize, commands: Vec<Command> },
    /// A story on connections of its own.
    Story { name: &'static str, group: &'static str, acts: Vec<Act> },
}

impl Step {
    /// How many commands it is.
    pub(crate) fn len(&self) -> usize {
        match self {
            Step::Commands { commands, .. } => commands.len(),
            Step::Story { acts, .. } => acts.len(),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Commands { session, commands } => {
                for (index, command) in commands.iter().enumerate() {
                    let pipelined = if index == 0 { ">" } else { "+" };
                    writeln!(f, "  {session}{pipelined} {command}")?;
                }
                Ok(())
            }
            Step::Story { name, acts, .. } => {
                writeln!(f, "  story: {name}")?;
                acts.iter().try_for_each(|act| writeln!(f, "    {act}"))
            }
        }
    }
}

/// The lines of the table whose group is in `groups`.
pub(crate) fn table(text: &'static str, groups: &[&str]) -> Vec<Rc<Line>> {
    let mut group = "";
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[') {
            group = name.strip_suffix(']').expect("a group is in brackets");
        } else if groups.contains(&group) {
            lines.extend(parse(line, group).map(Rc::new));
        }
    }
    lines
}

/// A line, unless it is for another server than this run's.
fn parse(text: &'static str, group: &'static str) -> Option<Line> {
    let malformed = || panic!("not a line of the table: {text}");
    let (weight, rest) = text.split_once(' ').unwrap_or_else(malformed);
    let (rule, pattern) = rest.trim_start().split_once(' ').unwrap_or_else(malformed);
    let mut words = rule.split(',');
    let rule = words.next().and_then(Rule::named).unwrap_or_else(|| panic!("no rule: {text}"));
    let flags: Vec<_> = words.collect();
    let known = ["alone", "intact", "full", "fails"];
    let is_known = |flag: &&str| known.contains(flag) || Reference::is_flag(flag);
    assert!(flags.iter().all(is_known), "no flag: {text}");
    let is_wanted = flags.iter().all(|flag| Reference::this().wants(flag));
    is_wanted.then(|| Line {
        text: pattern.trim(),
        group,
        weight: weight.parse().unwrap_or_else(|_| panic!("no weight: {text}")),
        rule,
        alone: flags.contains(&"alone"),
        intact: flags.contains(&"intact"),
        full: flags.contains(&"full"),
        fails: flags.contains(&"fails"),
        pattern: Pattern::parse(pattern),
    })
}

/// The generator.
#[derive(Debug)]
pub(crate) struct Generator {
    random: Random,
    lines: Vec<Rc<Line>>,
    /// Those of stories, if there are no others.
    lent: Vec<Rc<Line>>,
    scripts: Vec<Script>,
    transactions: bool,
    /// Some commands are run by scripts.
    in_scripts: bool,
    /// How many commands are left to each session's transaction.
    open: [Option<usize>; SESSIONS],
    until_story: usize,
}

impl Generator {
    pub(crate) fn new(seed: u64, lines: Vec<Rc<Line>>, scripts: Vec<Script>) -> Self {
        let has = |group| lines.iter().any(|line| line.group == group);
        let (transactions, in_scripts) = (has("transactions"), has("scripts"));
        Generator {
            random: Random::new(seed),
            lines,
            lent: Vec::new(),
            scripts,
            transactions,
            in_scripts,
            open: [None; SESSIONS],
            until_story: COMMANDS_PER_STORY,
        }
    }

    /// Whether all that it makes are stories.
    pub(crate) fn has_no_lines(&self) -> bool {
        self.lines.is_empty()
    }

    /// Lines of which stories alone make commands.
    pub(crate) fn lend(&mut self, lines: Vec<Rc<Line>>) {
        self.lent = lines;
    }

    /// The lines of the table that are answered with something other than errors, sooner or later.
    pub(crate) fn expected(&self) -> HashSet<&'static str> {
        self.lines.iter().filter(|line| !line.fails).map(|line| line.text).collect()
    }

    /// The next step.
    pub(crate) fn step(&mut self) -> Step {
        let tells = self.until_story == 0 || self.lines.is_empty();
        let step = if tells && !self.scripts.is_empty() {
            self.until_story = COMMANDS_PER_STORY;
            let weights = self.scripts.iter().map(|script| script.weight);
            let chosen = weighted(&mut self.random, weights);
            let script = &self.scripts[chosen];
            let lines = if self.lines.is_empty() { &self.lent } else { &self.lines };
            let acts = script.play(&mut self.random, &mut |random| pick_line(random, lines));
            Step::Story { name: script.name, group: script.group, acts }
        } else {
            let session = self.random.below(SESSIONS);
            Step::Commands { session, commands: self.commands(session) }
        };
        self.until_story = self.until_story.saturating_sub(step.len());
        step
    }

    /// One command or a pipeline.
    fn commands(&mut self, session: usize) -> Vec<Command> {
        let most = match self.random.below(60) {
            0 => 200,
            1..20 => 12,
            _ => 1,
        };
        let len = 1 + self.random.below(most);
        let mut commands: Vec<Command> = Vec::new();
        while commands.len() < len {
            let command = self.next(session);
            if command.alone && len > 1 {
                continue;
            }
            commands.push(command);
            if commands.last().is_some_and(|command| command.is("QUIT")) {
                break;
            }
        }
        commands
    }

    /// The next command of a session: of the table, or what begins or ends a transaction.
    fn next(&mut self, session: usize) -> Command {
        let open = &mut self.open[session];
        match open {
            Some(0) => {
                *open = None;
                let end: &[u8] = if self.random.one_in(6) { b"DISCARD" } else { b"EXEC" };
                return Command::new(&[end], Rule::Same);
            }
            Some(left) => *left -= 1,
            None if self.transactions && self.random.one_in(40) => {
                *open = Some(self.random.below(10));
                return Command::new(&[b"MULTI"], Rule::Same);
            }
            None => {}
        }
        let mut command = pick_line(&mut self.random, &self.lines);
        if self.in_scripts && lua::can_run(&command) && self.random.one_in(COMMANDS_PER_SCRIPT) {
            command =
                lua::around(&mut self.random, command, |random| pick_line(random, &self.lines));
        }
        if command.is("MULTI") {
            self.open[session].get_or_insert(3);
        } else if ["EXEC", "DISCARD", "RESET"].iter().any(|name| command.is(name)) {
            self.open[session] = None;
        }
        command
    }
}

/// A command of one of the lines.
fn pick_line(random: &mut Random, lines: &[Rc<Line>]) -> Command {
    let chosen = weighted(random, lines.iter().map(|line| line.weight));
    let line = Rc::clone(&lines[chosen]);
    let mut made = line.pattern.make(random);
    let spoilt = !line.intact && random.one_in(12) && spoil(random, &mut made, !line.full);
    let mut arguments: Vec<_> = made.into_iter().map(|argument| argument.bytes).collect();
    if random.one_in(10) {
        arguments[0].make_ascii_lowercase();
    }
    let (rule, alone, group) = (line.rule, line.alone, line.group);
    Command { arguments, rule, alone, line: (!spoilt).then_some(line), group, spoilt }
}

/// The index of one of `weights`, as likely as it is heavy.
fn weighted(random: &mut Random, weights: impl Iterator<Item = usize> + Clone) -> usize {
    let mut left = random.below(weights.clone().sum());
    for (index, weight) in weights.enumerate() {
        if left < weight {
            return index;
        }
        left -= weight;
    }
    unreachable!("the sum of the weights was the limit")
}

/// Makes something wrong, or just unusual, `more` arguments if that is allowed; false when there is
/// nothing to do it to.
fn spoil(random: &mut Random, made: &mut Vec<Argument>, more: bool) -> bool {
    let word = |bytes: &[u8]| Argument { bytes: bytes.to_vec(), kind: None };
    let at = random.below(made.len());
    match random.below(10) {
        0..2 if at > 0 => drop(made.remove(at)),
        2 if more => made.push(word(b"extra")),
        3 if more && at > 0 => made.insert(at, made[at].clone()),
        4 if at > 0 => made[at].bytes.make_ascii_lowercase(),
        5 if at > 0 && made[at].kind.is_none() => made[at] = word(b"ODD"),
        _ => {
            let known = made.iter_mut().filter_map(|argument| Some((argument.kind?, argument)));
            let mut odd: Vec<_> = known.filter(|(kind, _)| !kind.odd.is_empty()).collect();
            if odd.is_empty() {
                return false;
            }
            let at = random.below(odd.len());
            let (kind, argument) = &mut odd[at];
            let word = random.pick(kind.odd);
            if !Reference::this().wants_word(kind.name, word) {
                return false;
            }
            argument.bytes = word.to_vec();
        }
    }
    true
}
