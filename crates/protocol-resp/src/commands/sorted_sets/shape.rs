// SPDX-License-Identifier: Apache-2.0
//! [`Shape`]: how members are shown in a reply.

use crate::wire::reply::{Output, Version, Writer};

/// How members are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Members alone.
    Alone,
    /// Each member with its score behind it.
    Flat,
    /// An array for each member, of the member and its score.
    Pairs,
}

impl Shape {
    /// Members alone, or with scores as this version of the protocol has them.
    pub(super) fn new(with_scores: bool, version: Version) -> Self {
        match (with_scores, version) {
            (false, _) => Shape::Alone,
            (true, Version::Resp2) => Shape::Flat,
            (true, Version::Resp3) => Shape::Pairs,
        }
    }

    /// Begins an array of so many members.
    pub(super) fn begin<O: Output>(self, out: &mut Writer<'_, O>, members: usize) {
        out.array(if self == Shape::Flat { members.saturating_mul(2) } else { members });
    }

    /// Writes a member.
    #[inline]
    pub(super) fn write<O: Output>(self, out: &mut Writer<'_, O>, member: &[u8], score: f64) {
        self.write_with(out, score, |out| out.bulk(member));
    }

    /// Writes a member as `write` does.
    #[inline]
    pub(super) fn write_with<O: Output>(
        self,
        out: &mut Writer<'_, O>,
        score: f64,
        write: impl FnOnce(&mut Writer<'_, O>),
    ) {
        if self == Shape::Pairs {
            out.array(2);
        }
        write(out);
        if self != Shape::Alone {
            out.double(score);
        }
    }

    /// Writes an array of members.
    pub(super) fn write_all<'m, O: Output>(
        self,
        out: &mut Writer<'_, O>,
        members: impl ExactSizeIterator<Item = (&'m [u8], f64)>,
    ) {
        self.begin(out, members.len());
        for (member, score) in members {
            self.write(out, member, score);
        }
    }
}
