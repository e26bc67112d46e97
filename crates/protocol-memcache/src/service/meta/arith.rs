// SPDX-License-Identifier: Apache-2.0
//! `ma`.

use super::super::MemcacheService;
use super::super::arith::{padded, sum};
use super::super::outcome::Outcome;
use super::{failed, given_version};
use crate::metrics;
use crate::op::Direction;
use crate::parse::meta::{Flags, Letters};
use crate::reply::meta::{Shown, exptime};
use buffer::SendBuf;
use storage::{Change, Content, Expiry, Item, Receive, StoreError, Version, Write};

const MAKING: Letters = Letters::of(b"N");

/// What an atomic step decided.
enum Decided {
    Counted(Counted),
    /// With padding the number is longer than a [`Digits`], and must be written as a value.
    Long {
        counted: Counted,
        len: usize,
        version: Version,
    },
    NotFound,
    Changed,
    NotANumber,
}

/// A number as it is now.
#[derive(Clone, Copy)]
struct Counted {
    number: u64,
    /// The expiry of before.
    expiry: Expiry,
    /// There was no number before.
    is_made: bool,
}

impl<S: Receive> MemcacheService<S> {
    /// Adds to a number, or subtracts from it, or makes it.
    #[inline(never)]
    pub(super) fn meta_arith(&mut self, shown: &Shown<'_>, out: &mut SendBuf) -> Outcome {
        let metrics = metrics::of_arith(direction(&shown.flags));
        let mut buffer = itoa::Buffer::new();
        let initial = buffer.format(initial(&shown.flags)).as_bytes();
        let decided = loop {
            let decided = self.store.update_versioned(shown.key, shown.now.ticks, |item| {
                decide(shown, initial, item.as_ref())
            });
            match decided {
                Ok((Decided::Long { counted, len, version }, _)) => {
                    match self.count_long(shown, counted, len, version) {
                        Ok(Some(version)) => break Ok((Decided::Counted(counted), Some(version))),
                        // Another worker changed it in between.
                        Ok(None) => {}
                        Err(error) => break Err(error),
                    }
                }
                decided => break decided,
            }
        };
        match decided {
            Ok((Decided::Counted(counted), version)) => {
                let Counted { number, expiry, is_made } = counted;
                if !is_made {
                    metrics.stored.increment();
                }
                out.put_with(|bytes| shown.counted(bytes, number, version, expiry, is_made));
                version.map_or(Outcome::Ok, |version| Outcome::Number(number, version))
            }
            Ok((Decided::Changed, _)) => {
                metrics.failed.increment();
                out.put_with(|bytes| shown.not_done(bytes, b"EX"));
                Outcome::Exists
            }
            Ok((Decided::NotFound, _)) | Err(StoreError::NotFound) => {
                metrics.not_found.increment();
                out.put_with(|bytes| shown.not_done(bytes, b"NF"));
                Outcome::NotFound
            }
            Ok((Decided::NotANumber | Decided::Long { .. }, _)) => {
                metrics.failed.increment();
                Outcome::NotANumber.tell(crate::reply::Text::Whole, out)
            }
            Err(error @ (StoreError::Exists | StoreError::TooLarge | StoreError::OutOfMemory)) => {
                metrics.failed.increment();
                failed(error, out)
            }
        }
    }

    /// Writes a number with much padding, if the item has still this version.
    #[cold]
    fn count_long(
        &mut self,
        shown: &Shown<'_>,
        counted: Counted,
        len: usize,
        version: Version,
    ) -> Result<Option<Version>, StoreError> {
        let mut value = counted.number.to_string().into_bytes();
        value.resize(len, b' ');
        let written = self.store.update_versioned(shown.key, shown.now.ticks, |item| {
            match item.filter(|item| item.version() == version) {
                Some(item) => {
                    let content = Content::Whole(&value);
                    let write = Write { marks: Some(item.marks()), ..write(shown, content) };
                    (Change::Write(write), true)
                }
                None => (Change::Keep, false),
            }
        });
        written.map(|(is_written, version)| version.filter(|_| is_written))
    }
}

fn direction(flags: &Flags<'_>) -> Direction {
    match flags.argument(b'M') {
        Some([b'-' | b'D', ..]) => Direction::Down,
        _ => Direction::Up,
    }
}

/// The value of a number that is made.
fn initial(flags: &Flags<'_>) -> u64 {
    flags.number(b'J').unwrap_or(0)
}

/// A write of a number that is there.
fn write<'v>(shown: &Shown<'_>, content: Content<'v>) -> Write<'v> {
    let expiry = shown.flags.argument(b'T').map(|argument| exptime(argument).expiry(shown.now));
    Write { expiry, version: given_version(&shown.flags), ..Write::new(content) }
}

/// Decides on an item; where there is none, `initial` is written.
fn decide<'v>(
    shown: &Shown<'_>,
    initial: &'v [u8],
    item: Option<&impl Item>,
) -> (Change<'v>, Decided) {
    let flags = &shown.flags;
    let keep = |decided| (Change::Keep, decided);
    let Some(item) = item else {
        return if flags.has(MAKING) { make(shown, initial) } else { keep(Decided::NotFound) };
    };
    let value = item.value();
    let wanted = flags.number(b'C').filter(|&wanted| wanted != 0);
    if wanted.is_some_and(|wanted| wanted != item.version().get()) && !value.is_empty() {
        return keep(Decided::Changed);
    }
    let delta = flags.number(b'D').unwrap_or(1);
    let Some(number) = sum(value, delta, direction(flags)) else {
        return keep(Decided::NotANumber);
    };
    let counted = Counted { number, expiry: item.expiry(), is_made: false };
    let len = value.len();
    match padded(number, len) {
        Some(digits) => {
            let write = write(shown, Content::Number(digits));
            (Change::Write(write), Decided::Counted(counted))
        }
        None => keep(Decided::Long { counted, len, version: item.version() }),
    }
}

/// Makes a number with its initial value. Its expiry is that of the last flag that sets one.
fn make<'v>(shown: &Shown<'_>, digits: &'v [u8]) -> (Change<'v>, Decided) {
    let number = initial(&shown.flags);
    let times = shown.flags.iter().filter(|&(letter, _)| matches!(letter, b'N' | b'T'));
    let last = times.last().map(|(_, argument)| exptime(argument));
    let expiry = last.map_or(Expiry::NEVER, |exptime| exptime.expiry(shown.now));
    let counted = Counted { number, expiry: Expiry::NEVER, is_made: true };
    let write = Write {
        expiry: Some(expiry),
        version: given_version(&shown.flags),
        ..Write::new(Content::Whole(digits))
    };
    (Change::Write(write), Decided::Counted(counted))
}
