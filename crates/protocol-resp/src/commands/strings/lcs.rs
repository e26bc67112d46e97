// SPDX-License-Identifier: Apache-2.0
//! The longest common subsequence of two strings: LCS.
//!
//! The textbook algorithm keeps a table with the length of the longest common subsequence for each
//! pair of prefixes of the two strings. To walk back through it, one bit per cell is enough: from
//! which neighbour the cell has its length. So only one row of lengths is kept, along the shorter string, and a bit
//! for each cell.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "positions in two strings, of which the product of the lengths is at most CELLS_MAX"
)]

use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use values::{Digits, Entry, Type};

/// The most cells of the table: Redis refuses more, at four bytes each, by the default of its
/// `proto-max-bulk-len`. The work is in proportion to them.
const CELLS_MAX: u64 = (512 << 20) / 4;

/// What is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    /// Only how long it is.
    len: bool,
    /// Where its parts are.
    places: bool,
    /// How long each part is, too.
    part_lens: bool,
    /// The shortest part that is shown.
    part_min: usize,
}

impl Options {
    fn parse(args: Args<'_>) -> Result<Self, Fault> {
        let mut options = Options::default();
        let mut words = args.iter();
        while let Some(word) = words.next() {
            match word.to_ascii_lowercase().as_slice() {
                b"len" => options.len = true,
                b"idx" => options.places = true,
                b"withmatchlen" => options.part_lens = true,
                b"minmatchlen" => {
                    let number = values::parse_i64(words.next().ok_or(Fault::SYNTAX)?);
                    let number = number.ok_or(Fault::NOT_INTEGER)?;
                    options.part_min = usize::try_from(number).unwrap_or(0);
                }
                _ => return Err(Fault::SYNTAX),
            }
        }
        if options.len && options.places {
            let text = "ERR If you want both the length and indexes, please just use IDX.";
            return Err(Fault::new(text));
        }
        Ok(options)
    }
}

/// Finds the longest common subsequence of two strings.
pub(crate) fn lcs<V: View>(call: &mut Call<'_, V>) -> Done {
    let keys = [call.arg(1), call.arg(2)];
    for key in keys {
        match call.keys.any(key) {
            Some(entry) if entry.data_type() != Type::String => {
                return Err(Fault::new("ERR The specified keys must contain string values"));
            }
            Some(_) => {}
            None => call.missed(key),
        }
    }
    let options = Options::parse(call.args.tail(3))?;
    let mut digits = [Digits::new(), Digits::new()];
    let [of_a, of_b] = &mut digits;
    let a = call.keys.peek(keys[0]).map_or(&[][..], |entry: &Entry| entry.text(of_a));
    let b = call.keys.peek(keys[1]).map_or(&[][..], |entry: &Entry| entry.text(of_b));
    if (a.len() as u64 + 1) * (b.len() as u64 + 1) > CELLS_MAX {
        let text = "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len";
        return Err(Fault::new(text));
    }
    let table = Table::new(a, b, !options.len);
    let out = &mut call.out;
    if options.len {
        out.count(table.len);
        return Ok(());
    }
    let parts = table.parts(a, b);
    if !options.places {
        let text: Vec<u8> =
            parts.iter().rev().flat_map(|part| &a[part.a..part.a + part.len]).copied().collect();
        out.bulk(&text);
        return Ok(());
    }
    let is_shown = |part: &&Part| part.len >= options.part_min;
    out.map(2);
    out.bulk(b"matches");
    out.array(parts.iter().filter(is_shown).count());
    for part in parts.iter().filter(is_shown) {
        out.array(if options.part_lens { 3 } else { 2 });
        for start in [part.a, part.b] {
            out.array(2);
            out.count(start);
            out.count(start + part.len - 1);
        }
        if options.part_lens {
            out.count(part.len);
        }
    }
    out.bulk(b"len");
    out.count(table.len);
    Ok(())
}

/// What is known of the longest common subsequences of all starts of two strings.
struct Table {
    /// How long that of the whole strings is.
    len: usize,
    /// For each byte of one string, a bit for each of the other: without the byte of `a` more is left than
    /// without that of `b`. Empty if nobody wants the way back.
    shorten_a: Vec<u64>,
    /// How many bits a byte of `a` and one of `b` are apart from the next.
    steps: [usize; 2],
}

/// A run of bytes that the strings have in common: where it starts in each.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    a: usize,
    b: usize,
    len: usize,
}

impl Table {
    fn new(a: &[u8], b: &[u8], with_way: bool) -> Self {
        let a_is_longer = a.len() > b.len();
        let (long, short) = if a_is_longer { (a, b) } else { (b, a) };
        let steps = if a_is_longer { [short.len(), 1] } else { [1, short.len()] };
        let cells = if with_way { long.len() * short.len() } else { 0 };
        let mut shorten_a = vec![0; cells.div_ceil(64)];
        // Of the start of the long one before this byte, and each start of the short one.
        let mut lens = vec![0_u32; short.len() + 1];
        for (i, byte) in long.iter().enumerate() {
            let (mut diagonal, mut left) = (0, 0);
            for (j, other) in short.iter().enumerate() {
                let above = lens[j + 1];
                let len = if byte == other {
                    diagonal + 1
                } else {
                    let (without_a, without_b) =
                        if a_is_longer { (above, left) } else { (left, above) };
                    if with_way && without_a > without_b {
                        let cell = i * short.len() + j;
                        shorten_a[cell / 64] |= 1 << (cell % 64);
                    }
                    above.max(left)
                };
                lens[j + 1] = len;
                (diagonal, left) = (above, len);
            }
        }
        Table { len: lens[short.len()] as usize, shorten_a, steps }
    }

    /// The parts of the longest common subsequence, the last one first.
    fn parts(&self, a: &[u8], b: &[u8]) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let (mut i, mut j) = (a.len(), b.len());
        // The last part goes on in front: nothing was left out since.
        let mut goes_on = false;
        while i > 0 && j > 0 {
            if a[i - 1] == b[j - 1] {
                (i, j) = (i - 1, j - 1);
                match parts.last_mut().filter(|_| goes_on) {
                    Some(part) => *part = Part { a: i, b: j, len: part.len + 1 },
                    None => parts.push(Part { a: i, b: j, len: 1 }),
                }
                goes_on = true;
                continue;
            }
            goes_on = false;
            let cell = (i - 1) * self.steps[0] + (j - 1) * self.steps[1];
            if self.shorten_a[cell / 64] >> (cell % 64) & 1 == 1 {
                i -= 1;
            } else {
                j -= 1;
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(a: &str, b: &str) -> (String, usize) {
        let table = Table::new(a.as_bytes(), b.as_bytes(), true);
        let parts = table.parts(a.as_bytes(), b.as_bytes());
        let text = parts.iter().rev().map(|part| {
            let (of_a, of_b) = (&a[part.a..][..part.len], &b[part.b..][..part.len]);
            assert_eq!(of_a, of_b);
            of_a
        });
        (text.collect(), table.len)
    }

    #[test]
    fn a_bit_for_each_cell_is_enough_whichever_is_long() {
        let long = [b'x'; 100_000];
        for (a, b) in [(&long[..], &b"y"[..]), (b"y", &long)] {
            let table = Table::new(a, b, true);
            assert_eq!((table.len, table.shorten_a.len()), (0, 100_000_usize.div_ceil(64)));
        }
    }

    #[test]
    fn of_several_ways_the_one_of_redis_is_taken() {
        // What LCS of Redis 7.0 answers.
        for (a, b, expected) in [
            ("ab", "ba", "b"),
            ("ba", "ab", "a"),
            ("abcb", "bca", "bc"),
            ("bca", "abcb", "bc"),
            ("axbycz", "xaybzc", "xyz"),
            ("xaybzc", "axbycz", "abc"),
        ] {
            assert_eq!(common(a, b).0, expected, "{a} {b}");
        }
    }

    #[test]
    fn what_two_strings_have_in_common_is_as_long_as_the_table_says() {
        for (a, b, expected) in [
            ("ohmytext", "mynewtext", "mytext"),
            ("", "abc", ""),
            ("abc", "", ""),
            ("abc", "abc", "abc"),
            ("abc", "xyz", ""),
            ("aaaa", "aa", "aa"),
        ] {
            assert_eq!(common(a, b), (expected.to_owned(), expected.len()), "{a} {b}");
        }
        let (a, b) = ("ab".repeat(100), "abc".repeat(90));
        let (text, len) = common(&a, &b);
        assert_eq!((text.len(), len), (180, 180));
        assert_eq!(Table::new(a.as_bytes(), b.as_bytes(), false).len, 180);
        assert_eq!(common(&b, &a), (text, 180));
    }
}
