// SPDX-License-Identifier: Apache-2.0
//! [`Pattern`]: the shape of a command, written as documentation writes it.
//!
//! * `WORD`, `0`, `k0`, `'word'`: itself.
//! * `word`: something of that [`Kind`].
//! * `[a | b]`: one of them or nothing; `(a | b)`: one of them.
//! * `a...`: one to four; `a*200`: up to 200.
//! * `#a`: a count, and as many; `=a`: as many as were counted last.

use crate::words::{self, Kind};
use test_support::random::Random;

/// A part of a command that is made.
#[derive(Debug, Clone)]
pub(crate) struct Argument {
    pub(crate) bytes: Vec<u8>,
    /// What it was made as; `None` for a word of the pattern.
    pub(crate) kind: Option<&'static Kind>,
}

/// A parsed pattern.
#[derive(Debug)]
pub(crate) struct Pattern(Vec<Item>);

#[derive(Debug)]
enum Item {
    Word(Vec<u8>),
    Kind(&'static Kind),
    Choice { of: Vec<Vec<Item>>, optional: bool },
    Repeated { item: Box<Item>, most: usize },
    Counted(Box<Item>),
    AsMany(Box<Item>),
}

impl Pattern {
    /// Parses a line of the table; what is wrong with it fails the test.
    pub(crate) fn parse(text: &str) -> Self {
        // Brackets are words of their own.
        let mut spaced = String::new();
        for character in text.chars() {
            match character {
                '[' | ']' | '(' | ')' | '|' => {
                    let before_counted = spaced.ends_with(['#', '=']);
                    spaced.push_str(if before_counted { "" } else { " " });
                    spaced.push(character);
                    spaced.push(' ');
                }
                _ => spaced.push(character),
            }
        }
        let mut words = spaced.split_whitespace().peekable();
        let items = sequence(&mut words, text);
        assert!(words.next().is_none(), "a bracket too many in {text}");
        Pattern(items)
    }

    /// Makes a command.
    pub(crate) fn make(&self, random: &mut Random) -> Vec<Argument> {
        let mut made = Vec::new();
        make(&self.0, random, &mut made, &mut 0);
        made
    }
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

/// What stands up to the next `|` or closing bracket.
fn sequence(words: &mut Words<'_>, text: &str) -> Vec<Item> {
    let mut items = Vec::new();
    while let Some(word) = words.next_if(|word| !matches!(*word, "|" | "]" | ")")) {
        items.push(item(word, words, text));
    }
    items
}

fn item(word: &str, words: &mut Words<'_>, text: &str) -> Item {
    if let Some(rest) = word.strip_prefix('#') {
        return Item::Counted(Box::new(item(rest, words, text)));
    }
    if let Some(rest) = word.strip_prefix('=') {
        return Item::AsMany(Box::new(item(rest, words, text)));
    }
    let item = match word {
        "[" | "(" => {
            let mut of = vec![sequence(words, text)];
            while words.next_if_eq(&"|").is_some() {
                of.push(sequence(words, text));
            }
            let closing = if word == "[" { "]" } else { ")" };
            assert_eq!(words.next(), Some(closing), "a bracket is not closed in {text}");
            Item::Choice { of, optional: word == "[" }
        }
        _ => return single(word, text),
    };
    // A repetition of a group comes as a word of its own.
    match words.next_if(|next| repetition(next).is_some()).and_then(repetition) {
        Some(most) => Item::Repeated { item: Box::new(item), most },
        None => item,
    }
}

/// A word or a kind, perhaps repeated.
fn single(word: &str, text: &str) -> Item {
    let split = word.find("...").or(word.find('*').filter(|&at| at > 0 && at + 1 < word.len()));
    if let Some((name, most)) = split.map(|at| word.split_at(at))
        && let Some(most) = repetition(most)
    {
        return Item::Repeated { item: Box::new(single(name, text)), most };
    }
    if let Some(quoted) = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')) {
        return Item::Word(quoted.into());
    }
    let has_digit = word.contains(|letter: char| letter.is_ascii_digit());
    if word.starts_with(|first: char| first.is_ascii_lowercase()) && !has_digit {
        let kind = words::kind(word);
        return Item::Kind(kind.unwrap_or_else(|| panic!("no kind {word}, in {text}")));
    }
    Item::Word(word.into())
}

/// How many times at most.
fn repetition(word: &str) -> Option<usize> {
    if word == "..." { Some(4) } else { word.strip_prefix('*')?.parse().ok() }
}

fn make(items: &[Item], random: &mut Random, made: &mut Vec<Argument>, count: &mut usize) {
    for item in items {
        item.make(random, made, count);
    }
}

impl Item {
    fn make(&self, random: &mut Random, made: &mut Vec<Argument>, count: &mut usize) {
        match self {
            Item::Word(word) => made.push(Argument { bytes: word.clone(), kind: None }),
            Item::Kind(kind) => {
                made.push(Argument { bytes: (kind.make)(random), kind: Some(kind) });
            }
            Item::Choice { of, optional } => {
                if !optional || random.below(5) < 2 {
                    make(&of[random.below(of.len())], random, made, count);
                }
            }
            Item::Repeated { item, most } => {
                for _ in 0..1 + random.below(*most) {
                    item.make(random, made, count);
                }
            }
            Item::Counted(item) => {
                *count = 1 + random.below(3);
                let bytes = count.to_string().into_bytes();
                made.push(Argument { bytes, kind: words::kind("numkeys") });
                Item::times(*count, item, random, made);
            }
            Item::AsMany(item) => Item::times(*count, item, random, made),
        }
    }

    fn times(count: usize, item: &Item, random: &mut Random, made: &mut Vec<Argument>) {
        for _ in 0..count {
            item.make(random, made, &mut 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(pattern: &str) -> Vec<String> {
        let pattern = Pattern::parse(pattern);
        let mut random = Random::new(1);
        let mut made: Vec<String> = (0..300)
            .map(|_| {
                let words = pattern.make(&mut random);
                let words: Vec<_> =
                    words.iter().map(|word| String::from_utf8_lossy(&word.bytes)).collect();
                words.join(" ")
            })
            .collect();
        made.sort();
        made.dedup();
        made
    }

    #[test]
    fn words_are_themselves_and_choices_take_one() {
        assert_eq!(made("GET 'a' -1 *"), ["GET a -1 *"]);
        assert_eq!(
            made("A [B | C D] (E|F)"),
            ["A B E", "A B F", "A C D E", "A C D F", "A E", "A F"]
        );
    }

    #[test]
    fn repetitions_come_at_least_once() {
        assert_eq!(
            made("A (B C)*2 D*3"),
            [
                "A B C B C D",
                "A B C B C D D",
                "A B C B C D D D",
                "A B C D",
                "A B C D D",
                "A B C D D D"
            ]
        );
        assert_eq!(made("A..."), ["A", "A A", "A A A", "A A A A"]);
    }

    #[test]
    fn counts_say_how_many_follow() {
        assert_eq!(
            made("#K [W =V]"),
            ["1 K", "1 K W V", "2 K K", "2 K K W V V", "3 K K K", "3 K K K W V V V"]
        );
        assert_eq!(made("#(A B)"), ["1 A B", "2 A B A B", "3 A B A B A B"]);
    }

    #[test]
    fn kinds_are_made() {
        let kinds = Pattern::parse("TTL key");
        let made = kinds.make(&mut Random::new(1));
        assert_eq!(made[1].kind.map(|kind| kind.name), Some("key"));
    }
}
