// SPDX-License-Identifier: Apache-2.0
//! [`command`]: commands made from the rows of the table, mostly with plausible arguments.

use super::reader::Reader;
use super::words;
use protocol_resp::table::syntax::{Argument, Kind};
use protocol_resp::table::{self, CommandId, Group, Spec};
use std::sync::LazyLock;

/// A command as it is sent: its name and its other arguments.
pub(crate) type Words = Vec<Vec<u8>>;

/// Commands that end the process, or write files.
const LEFT_OUT: [&str; 2] = ["shutdown", "config|rewrite"];

/// Elements that are sent at once now and then, so that small collections become large.
const MANY: usize = 150;

/// A row that commands are made from.
#[derive(Debug)]
struct Row {
    spec: &'static Spec,
    arguments: Vec<Argument>,
}

impl Row {
    fn of(id: CommandId) -> Self {
        Row { spec: id.spec(), arguments: id.spec().arguments() }
    }

    /// How often it is drawn: those that work on values more often.
    fn weight(&self) -> usize {
        match self.spec.group {
            Group::String
            | Group::Hash
            | Group::List
            | Group::Set
            | Group::SortedSet
            | Group::Stream => 6,
            Group::Generic | Group::Transactions => 4,
            Group::Pubsub => 2,
            _ => 1,
        }
    }
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let rows = table::all().filter(|id| !LEFT_OUT.contains(&id.spec().name));
    rows.map(Row::of).collect()
});

/// The numbers of the rows, those that are drawn more often several times.
static DRAWN: LazyLock<Vec<usize>> = LazyLock::new(|| {
    let numbers = ROWS.iter().enumerate();
    numbers.flat_map(|(number, row)| std::iter::repeat_n(number, row.weight())).collect()
});

/// The next command of an input.
pub(crate) fn command(reader: &mut Reader<'_>, now_ms: u64) -> Words {
    let row = &ROWS[*reader.choose(&DRAWN)];
    let mut words: Words = row.spec.name.split('|').map(|part| part.as_bytes().to_vec()).collect();
    let mut maker = Maker { group: row.spec.group, now_ms, reader };
    maker.sequence(&row.arguments, &mut words);
    if maker.reader.one_in(12) {
        spoil(&mut words, maker.reader);
    }
    words
}

/// Makes a command invalid, or turns it into another one.
fn spoil(words: &mut Words, reader: &mut Reader<'_>) {
    let at = reader.below(words.len());
    match reader.below(6) {
        0 => {
            words.pop();
        }
        1 => words.push(words::garbage(reader)),
        2 => words.insert(at.max(1), words::garbage(reader)),
        3 => words[at] = words::garbage(reader),
        4 => words.insert(at, words[at].clone()),
        _ => words[at].make_ascii_uppercase(),
    }
    if words.is_empty() {
        words.push(b"PING".to_vec());
    }
}

/// Makes the arguments of one command.
struct Maker<'r, 'i> {
    group: Group,
    now_ms: u64,
    reader: &'r mut Reader<'i>,
}

impl Maker<'_, '_> {
    /// Arguments that follow each other.
    fn sequence(&mut self, arguments: &[Argument], words: &mut Words) {
        let mut number_at = None;
        for argument in arguments {
            if matches!(argument.name.as_str(), "numkeys" | "numfields") {
                number_at = Some(words.len());
                words.push(Vec::new());
                continue;
            }
            if argument.optional && !self.reader.one_in(3) {
                continue;
            }
            let times = self.argument(argument, words);
            if let Some(at) = number_at.take() {
                // Seldom another number.
                let off = if self.reader.one_in(32) { self.reader.below(4) } else { 0 };
                words[at] = (times + off).to_string().into_bytes();
            }
        }
    }

    /// An argument, as often as it is repeated; how often that is.
    fn argument(&mut self, argument: &Argument, words: &mut Words) -> usize {
        if !argument.multiple {
            self.once(argument, true, words);
            return 1;
        }
        if self.reader.one_in(64) {
            return self.many(argument, words);
        }
        let times = 1 + self.reader.below(4);
        for time in 0..times {
            self.once(argument, time == 0 || argument.multiple_token, words);
        }
        times
    }

    /// Many times the same, but for a number in each.
    fn many(&mut self, argument: &Argument, words: &mut Words) -> usize {
        let mut pattern = Words::new();
        self.once(argument, true, &mut pattern);
        for number in 0..MANY {
            for word in &pattern {
                let mut word = word.clone();
                if !matches!(argument.kind, Kind::Key) && word.len() < 100 {
                    word.extend_from_slice(number.to_string().as_bytes());
                }
                words.push(word);
            }
        }
        MANY
    }

    fn once(&mut self, argument: &Argument, with_token: bool, words: &mut Words) {
        if let Some(token) = argument.token.filter(|_| with_token) {
            words.push(token.as_bytes().to_vec());
        }
        match argument.kind {
            Kind::PureToken => {}
            Kind::OneOf => {
                let choice = self.reader.choose(&argument.arguments);
                self.argument(choice, words);
            }
            Kind::Block => self.sequence(&argument.arguments, words),
            _ => words.push(words::word(argument, self.group, self.now_ms, self.reader)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_commands_have_as_many_arguments_as_they_should() {
        let (mut right, mut seen) = (0, std::collections::BTreeSet::new());
        let runs = 20_000_u32;
        for seed in 0..runs {
            let mut noise = crate::chunks::Noise::new(&seed.to_le_bytes());
            let input: Vec<u8> = (0..64).map(|_| noise.below(256) as u8).collect();
            let words = command(&mut Reader::new(&input), 1_700_000_000_000);
            let second = words.get(1).map(Vec::as_slice);
            let Some(id) = table::resolve(&words[0], second) else { continue };
            right += u32::from(id.spec().accepts(words.len()));
            seen.insert(id);
        }
        assert!(right > runs / 10 * 9, "{right} of {runs}");
        assert!(seen.len() > table::COUNT * 9 / 10, "{} of {}", seen.len(), table::COUNT);
    }
}
