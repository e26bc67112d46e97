// SPDX-License-Identifier: Apache-2.0
//! [`Request`]: which members a client asks for, of ZRANGE and its relatives.

use super::super::ranges::clamp;
use super::bounds;
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use std::ops::Range;
use values::{LexBound, ScoreBound, ZsetIter, ZsetRef};

/// A range, by what members are ordered by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum By<'a> {
    /// From a rank to another, which are counted from the end if they are negative.
    Rank(i64, i64),
    Score(ScoreBound, ScoreBound),
    Name(LexBound<'a>, LexBound<'a>),
}

impl<'a> By<'a> {
    pub(super) fn ranks(start: &[u8], stop: &[u8]) -> Result<Self, Fault> {
        let rank = |text| values::parse_i64(text).ok_or(Fault::NOT_INTEGER);
        Ok(By::Rank(rank(start)?, rank(stop)?))
    }

    pub(super) fn scores(min: &[u8], max: &[u8]) -> Result<Self, Fault> {
        let ends = bounds::score(min).zip(bounds::score(max));
        let (min, max) = ends.ok_or(Fault::new("ERR min or max is not a float"))?;
        Ok(By::Score(min, max))
    }

    pub(super) fn names(min: &'a [u8], max: &'a [u8]) -> Result<Self, Fault> {
        let ends = bounds::name(min).zip(bounds::name(max));
        let (min, max) = ends.ok_or(Fault::new("ERR min or max not valid string range item"))?;
        Ok(By::Name(min, max))
    }

    /// The ranks of the members in the range.
    pub(super) fn ranks_in(self, set: ZsetRef<'_>) -> Range<usize> {
        match self {
            By::Rank(start, stop) => clamp(start, stop, set.len()),
            By::Score(min, max) => set.ranks_by_score(min, max),
            By::Name(min, max) => set.ranks_by_lex(min, max),
        }
    }
}

/// What ranges are of, where a command's name says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Ranks,
    Scores,
    Names,
}

/// What a command's name says about its range; the rest is said by options.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Named {
    pub(super) axis: Option<Axis>,
    /// Whether members come in the reverse order.
    pub(super) reverse: Option<bool>,
    /// Whether the members are stored, and scores always go with them.
    pub(super) stores: bool,
}

/// Members that a client asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Request<'a> {
    by: By<'a>,
    reverse: bool,
    /// How many members of the range are left out; if negative, all are.
    offset: i64,
    /// How many there are at most; if negative, all.
    limit: i64,
    pub(super) with_scores: bool,
}

impl<'a> Request<'a> {
    /// Reads the two ends of a range, and the options behind them.
    pub(super) fn parse(args: Args<'a>, named: Named) -> Result<Self, Fault> {
        let Named { mut axis, mut reverse, stores } = named;
        let (mut offset, mut limit, mut with_scores) = (0, -1, false);
        let mut words = args.tail(2);
        while let Some(word) = words.get(0) {
            let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
            words = words.tail(1);
            if !stores && is(b"withscores") {
                with_scores = true;
            } else if is(b"limit") && words.len() >= 2 {
                offset = values::parse_i64(words.arg(0)).ok_or(Fault::NOT_INTEGER)?;
                limit = values::parse_i64(words.arg(1)).ok_or(Fault::NOT_INTEGER)?;
                words = words.tail(2);
            } else if reverse.is_none() && is(b"rev") {
                reverse = Some(true);
            } else if axis.is_none() && is(b"bylex") {
                axis = Some(Axis::Names);
            } else if axis.is_none() && is(b"byscore") {
                axis = Some(Axis::Scores);
            } else {
                return Err(Fault::SYNTAX);
            }
        }
        let (axis, reverse) = (axis.unwrap_or(Axis::Ranks), reverse.unwrap_or(false));
        if limit != -1 && axis == Axis::Ranks {
            return Err(Fault::new(
                "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or \
                 BYLEX",
            ));
        }
        if with_scores && axis == Axis::Names {
            return Err(Fault::new(
                "ERR syntax error, WITHSCORES not supported in combination with BYLEX",
            ));
        }
        let (first, second) = (args.arg(0), args.arg(1));
        // A reverse range is written from its upper end. Ranks are counted from there.
        let (min, max) = if reverse { (second, first) } else { (first, second) };
        let by = match axis {
            Axis::Ranks => {
                (offset, limit) = (0, -1);
                By::ranks(first, second)?
            }
            Axis::Scores => By::scores(min, max)?,
            Axis::Names => By::names(min, max)?,
        };
        Ok(Request { by, reverse, offset, limit, with_scores })
    }

    /// The members asked for.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the range is one of the members, and what is left of it no longer"
    )]
    pub(super) fn members_of<'s>(&self, set: ZsetRef<'s>) -> Members<'s> {
        let range = self.by.ranks_in(set);
        let range = match (self.by, self.reverse) {
            (By::Rank(..), true) => set.len() - range.end..set.len() - range.start,
            (By::Rank(..), false) | (By::Score(..) | By::Name(..), _) => range,
        };
        let members = set.range(self.limited(range));
        if self.reverse { Members::Reverse(members) } else { Members::Forward(members) }
    }

    /// What the limit leaves of a range.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the range is one of the members, and what is left of it no longer"
    )]
    fn limited(&self, range: Range<usize>) -> Range<usize> {
        let number = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
        let left = range.len().saturating_sub(number(self.offset));
        let count = left.min(number(self.limit));
        match self.reverse {
            false => range.end - left..range.end - left + count,
            true => range.start + left - count..range.start + left,
        }
    }
}

/// Members that a client asked for, in the order asked for.
#[derive(Debug)]
pub(super) enum Members<'a> {
    Forward(ZsetIter<'a>),
    Reverse(ZsetIter<'a>),
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a [u8], f64);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Members::Forward(iter) => iter.next(),
            Members::Reverse(iter) => iter.next_back(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Members::Forward(iter) | Members::Reverse(iter) => iter.size_hint(),
        }
    }
}

impl ExactSizeIterator for Members<'_> {}
