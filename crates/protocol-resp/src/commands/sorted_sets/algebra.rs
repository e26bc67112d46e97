// SPDX-License-Identifier: Apache-2.0
//! Union, intersection and difference of sorted sets, with the scores of the result.

use std::ops::ControlFlow;
use values::{Entry, Limits, Named, NewSet, Scores, SetRef, TOGETHER, Text, ZsetRef};

/// How many members of a set can be looked up in the time that one takes to be copied to another.
const LOOKUPS_PER_COPY: usize = 4;

/// A sorted set, or a set, whose members all have the score 1.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'a> {
    Sorted(ZsetRef<'a>),
    Plain(SetRef<'a>),
}

/// One of the sets that are combined, if it is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a> {
    pub(super) source: Option<Source<'a>>,
    /// What scores are multiplied by.
    pub(super) weight: f64,
}

/// What becomes of the scores that a member has in several sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aggregate {
    Sum,
    Min,
    Max,
    /// They are not looked at: each set that has the member counts by its weight.
    Count,
}

impl<'a> Source<'a> {
    /// The set that an entry is, if it is one.
    pub(super) fn of(entry: &'a Entry) -> Option<Self> {
        entry.zset().map(Source::Sorted).or_else(|| entry.set().map(Source::Plain))
    }

    fn len(self) -> usize {
        match self {
            Source::Sorted(set) => set.len(),
            Source::Plain(set) => set.len(),
        }
    }

    fn score(self, member: &[u8]) -> Option<f64> {
        match self {
            Source::Sorted(set) => set.score(member),
            Source::Plain(set) => set.contains(member).then_some(1.0),
        }
    }

    /// Prefetches members that are looked up next.
    fn prefetch(self, group: &[Scored<'_>]) {
        let names = group.iter().map(|(member, _)| &**member);
        match self {
            Source::Sorted(set) => set.prefetch(names),
            Source::Plain(set) => set.prefetch(names),
        }
    }

    /// Shows all members with their scores in groups, in no order, until `visit` breaks. It may change a group.
    fn visit(self, visit: impl FnMut(&mut Vec<Scored<'a>>) -> ControlFlow<()>) -> ControlFlow<()> {
        match self {
            Source::Sorted(set) => {
                in_groups(set.members().map(|(member, score)| (member.into(), score)), visit)
            }
            Source::Plain(set) => in_groups(set.iter().map(|member| (member, 1.0)), visit),
        }
    }

    /// The same for one who never breaks.
    fn visit_all(self, mut visit: impl FnMut(&mut Vec<Scored<'a>>)) {
        let _ = self.visit(|group| {
            visit(group);
            ControlFlow::Continue(())
        });
    }
}

/// A member with its score.
type Scored<'a> = (Text<'a>, f64);

/// Shows members in groups that are looked up together, until `visit` breaks.
fn in_groups<'a>(
    mut members: impl Iterator<Item = Scored<'a>>,
    mut visit: impl FnMut(&mut Vec<Scored<'a>>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut group = Vec::with_capacity(TOGETHER);
    loop {
        group.extend(members.by_ref().take(TOGETHER));
        if group.is_empty() {
            return ControlFlow::Continue(());
        }
        visit(&mut group)?;
        group.clear();
    }
}

impl Input<'_> {
    fn len(&self) -> usize {
        self.source.map_or(0, Source::len)
    }

    /// What a score counts for with the weight. Infinity without any weight is nothing.
    fn weigh(&self, score: f64, aggregate: Aggregate) -> f64 {
        number_or_zero(self.weight * aggregate.counted(score))
    }

    /// What the score of a member counts for with the weight, which may be no number.
    fn score(&self, member: &[u8], aggregate: Aggregate) -> Option<f64> {
        Some(aggregate.counted(self.source?.score(member)?) * self.weight)
    }

    /// Keeps of a group the members that this set has, too, and combines their scores with those it has.
    fn sift(&self, group: &mut Vec<Scored<'_>>, aggregate: Aggregate) {
        if let Some(source) = self.source {
            source.prefetch(group);
        }
        group.retain_mut(|(member, total)| {
            let score = self.score(member, aggregate);
            *total = score.map_or(*total, |score| aggregate.combine(*total, score));
            score.is_some()
        });
    }
}

/// A score that is shown as one: what is no number is 0, and so is -0.
fn number_or_zero(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score + 0.0 }
}

impl Aggregate {
    /// The one of this name.
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        let known: [(&[u8], _); 4] = [
            (b"sum", Aggregate::Sum),
            (b"min", Aggregate::Min),
            (b"max", Aggregate::Max),
            (b"count", Aggregate::Count),
        ];
        let found = known.into_iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
        found.map(|(_, aggregate)| aggregate)
    }

    /// The score that a member counts with in one of the sets.
    fn counted(self, score: f64) -> f64 {
        match self {
            Aggregate::Sum | Aggregate::Min | Aggregate::Max => score,
            Aggregate::Count => 1.0,
        }
    }

    /// One score of two, the second of which may be no number. Infinities that cancel each other
    /// out make 0.
    fn combine(self, total: f64, score: f64) -> f64 {
        let takes_score = match self {
            Aggregate::Sum | Aggregate::Count => return number_or_zero(total + score),
            Aggregate::Min => score < total,
            Aggregate::Max => score > total,
        };
        if takes_score { number_or_zero(score) } else { total }
    }
}

/// The sets from the smallest on: so their scores are added up as Redis adds them.
fn by_size<'a>(inputs: &[Input<'a>]) -> Vec<Input<'a>> {
    let mut inputs = inputs.to_vec();
    inputs.sort_by_key(Input::len);
    inputs
}

/// What is in any of the sets.
pub(super) fn unite(inputs: &[Input<'_>], aggregate: Aggregate) -> Scores {
    let mut united = Scores::new();
    let inputs = by_size(inputs);
    united.reserve(inputs.last().map_or(0, Input::len));
    for input in inputs {
        let Some(source) = input.source else { continue };
        let is_first = united.is_empty();
        source.visit_all(|group| {
            united.prefetch(group.iter().map(|(member, _)| &**member));
            for (member, score) in group {
                let score = input.weigh(*score, aggregate);
                if is_first {
                    united.add(member, score);
                } else {
                    united.merge(member, score, |total| aggregate.combine(total, score));
                }
            }
        });
    }
    united
}

/// Shows what is in all of the sets, until `visit` breaks.
pub(super) fn intersect(
    inputs: &[Input<'_>],
    aggregate: Aggregate,
    mut visit: impl FnMut(&[u8], f64) -> ControlFlow<()>,
) {
    let inputs = by_size(inputs);
    let Some((first, others)) = inputs.split_first() else { return };
    // The smallest set is the one that is not there.
    let Some(source) = first.source else { return };
    // It does not matter whether it broke: all that was asked for is shown.
    let _ = source.visit(|group| {
        group.iter_mut().for_each(|(_, score)| *score = first.weigh(*score, aggregate));
        others.iter().for_each(|other| other.sift(group, aggregate));
        group.iter().try_for_each(|(member, total)| visit(member, *total))
    });
}

/// Shows what is in the first of the sets alone.
pub(super) fn subtract(inputs: &[Input<'_>], mut visit: impl FnMut(&[u8], f64)) {
    let mut sources = inputs.iter().map(|input| input.source);
    let Some(Some(first)) = sources.next() else { return };
    let mut others: Vec<_> = sources.flatten().collect();
    let lookups = first.len().saturating_mul(others.len());
    let copies = others.iter().map(|other| other.len()).fold(0, usize::saturating_add);
    let mut merged = NewSet::new(b"");
    if lookups > copies.saturating_mul(LOOKUPS_PER_COPY).saturating_add(first.len()) {
        // To ask all of them for each member would take longer than to make them one.
        merge(&mut merged, &others);
        others = vec![Source::Plain(merged.read())];
    }
    first.visit_all(|group| {
        for other in &others {
            other.prefetch(group);
            group.retain(|(member, _)| other.score(member).is_none());
        }
        group.iter().for_each(|(member, score)| visit(member, *score));
    });
}

/// Adds all members to a set.
fn merge(into: &mut NewSet, sources: &[Source<'_>]) {
    let limits = Limits::default();
    let mut into = into.edit(&limits);
    for source in sources {
        source.visit_all(|group| {
            into.prefetch(group.iter().map(|(member, _)| &**member));
            group.iter().for_each(|(member, _)| {
                into.add(member);
            });
        });
    }
}

#[cfg(test)]
mod tests;
