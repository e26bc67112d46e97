// SPDX-License-Identifier: Apache-2.0
//! Where a range of a sorted set starts or ends: [`ScoreBound`], [`LexBound`].

/// An end of a range of scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScoreBound {
    /// This score belongs to the range.
    Inclusive(f64),
    /// This score does not belong to the range any more.
    Exclusive(f64),
}

/// An end of a range of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexBound<'a> {
    /// Before all members.
    Min,
    /// Behind all members.
    Max,
    /// This member belongs to the range.
    Inclusive(&'a [u8]),
    /// This member does not belong to the range any more.
    Exclusive(&'a [u8]),
}

impl ScoreBound {
    /// Whether a score is too low for a range that starts here.
    #[inline]
    pub(super) fn starts_after(self, score: f64) -> bool {
        match self {
            ScoreBound::Inclusive(bound) => score < bound,
            ScoreBound::Exclusive(bound) => score <= bound,
        }
    }

    /// Whether a score is not too high for a range that ends here.
    #[inline]
    pub(super) fn reaches(self, score: f64) -> bool {
        match self {
            ScoreBound::Inclusive(bound) => score <= bound,
            ScoreBound::Exclusive(bound) => score < bound,
        }
    }
}

impl LexBound<'_> {
    /// Whether a member is before a range that starts here.
    #[inline]
    pub(super) fn starts_after(self, member: &[u8]) -> bool {
        match self {
            LexBound::Min => false,
            LexBound::Max => true,
            LexBound::Inclusive(bound) => member < bound,
            LexBound::Exclusive(bound) => member <= bound,
        }
    }

    /// Whether a member is not behind a range that ends here.
    #[inline]
    pub(super) fn reaches(self, member: &[u8]) -> bool {
        match self {
            LexBound::Min => false,
            LexBound::Max => true,
            LexBound::Inclusive(bound) => member <= bound,
            LexBound::Exclusive(bound) => member < bound,
        }
    }
}
