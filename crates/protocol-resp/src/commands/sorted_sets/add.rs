// SPDX-License-Identifier: Apache-2.0
//! What adds members and changes scores: ZADD, ZINCRBY.

use super::super::double;
use super::super::named::visit_named;
use super::event;
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use values::{Named, TOGETHER, ZsetMut};

/// The options of ZADD.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// Scores of members that are there stay.
    pub(crate) nx: bool,
    /// No members are added.
    pub(crate) xx: bool,
    /// A score only becomes greater.
    gt: bool,
    /// A score only becomes less.
    lt: bool,
    /// The reply counts the members whose score has changed, too.
    pub(crate) ch: bool,
    /// The score is added to the one that is there, and the reply is the sum.
    incr: bool,
}

/// What has become of members.
#[derive(Clone, Copy, Debug, Default)]
struct Changes {
    added: usize,
    updated: usize,
}

/// Adds members and changes scores.
#[inline]
pub(crate) fn zadd<V: View>(call: &mut Call<'_, V>) -> Done {
    add(call, Options::default())
}

/// Adds to a score.
pub(crate) fn zincrby<V: View>(call: &mut Call<'_, V>) -> Done {
    add(call, Options { incr: true, ..Options::default() })
}

#[inline]
fn add<V: View>(call: &mut Call<'_, V>, defaults: Options) -> Done {
    let (options, pairs) = options(call.args.tail(2), defaults)?;
    // All scores must be good before any is stored. Most often there is one.
    let (first, others) = (score(pairs.arg(0))?, pairs.tail(2));
    others.iter().step_by(2).try_for_each(|text| score(text).map(drop))?;
    if options.incr {
        return increase(call, pairs.arg(1), first, options);
    }
    change(call, options, |set| {
        let mut changes = Changes::default();
        if others.is_empty() {
            store(set, pairs.arg(1), first, options, &mut changes);
            return changes;
        }
        visit_named(set, pairs, 1, |set, [text, member]| {
            if let Ok(score) = score(text) {
                store(set, member, score, options, &mut changes);
            }
        });
        changes
    })
}

/// Adds members with scores to the sorted set that is named first, and changes scores. There must be a member.
pub(crate) fn add_scored<V: View>(
    call: &mut Call<'_, V>,
    options: Options,
    scored: &[(f64, &[u8])],
) -> Done {
    change(call, options, |set| {
        let mut changes = Changes::default();
        for group in scored.chunks(TOGETHER) {
            if group.len() > 1 {
                set.prefetch(group.iter().map(|(_, member)| *member));
            }
            for (score, member) in group {
                store(set, member, *score, options, &mut changes);
            }
        }
        changes
    })
}

/// Changes the sorted set that is named first, reports that, and writes the reply.
#[inline]
fn change<V: View>(
    call: &mut Call<'_, V>,
    options: Options,
    store: impl FnOnce(&mut ZsetMut<'_>) -> Changes,
) -> Done {
    let key = call.arg(1);
    let changes = if options.xx {
        call.keys.edit_zset_if_any(key, store)?.unwrap_or_default()
    } else {
        call.keys.edit_zset(key, |set| Ok(store(set)))?
    };
    let changed = changes.added.saturating_add(changes.updated);
    if changed > 0 {
        call.modified(key, event("zadd"));
    }
    call.out.count(if options.ch { changed } else { changes.added });
    Ok(())
}

/// Reads a score. -0 becomes 0, so that it is not shown as anything else.
#[inline]
fn score(text: &[u8]) -> Result<f64, Fault> {
    Ok(double::parse(text).ok_or(Fault::NOT_FLOAT)? + 0.0)
}

/// Reads the options in front of the pairs of scores and members.
#[inline]
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
fn options(words: Args<'_>, defaults: Options) -> Result<(Options, Args<'_>), Fault> {
    let (mut options, mut at) = (defaults, 0);
    while let Some(word) = words.get(at)
        && option(word, &mut options)
    {
        at += 1;
    }
    let pairs = words.tail(at);
    if pairs.is_empty() || !pairs.len().is_multiple_of(2) {
        return Err(Fault::SYNTAX);
    }
    let Options { nx, xx, gt, lt, incr, .. } = options;
    if nx && xx {
        return Err(Fault::new("ERR XX and NX options at the same time are not compatible"));
    }
    if [gt, lt, nx].into_iter().filter(|is_given| *is_given).count() > 1 {
        let text = "ERR GT, LT, and/or NX options at the same time are not compatible";
        return Err(Fault::new(text));
    }
    if incr && pairs.len() > 2 {
        let text = "ERR INCR option supports a single increment-element pair";
        return Err(Fault::new(text));
    }
    Ok((options, pairs))
}

/// Notes an option; false if the word is none.
#[inline]
fn option(word: &[u8], options: &mut Options) -> bool {
    let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
    // The first word almost always is a score.
    if word.first().is_none_or(|first| !first.is_ascii_alphabetic()) {
        return false;
    }
    let option = match () {
        () if is(b"nx") => &mut options.nx,
        () if is(b"xx") => &mut options.xx,
        () if is(b"gt") => &mut options.gt,
        () if is(b"lt") => &mut options.lt,
        () if is(b"ch") => &mut options.ch,
        () if is(b"incr") => &mut options.incr,
        () => return false,
    };
    *option = true;
    true
}

impl Options {
    /// Whether a score may take the place of another, or a member be added.
    fn allow(self, old: Option<f64>, new: f64) -> bool {
        match old {
            Some(old) => !(self.nx || (self.lt && new >= old) || (self.gt && new <= old)),
            None => !self.xx,
        }
    }

    /// Whether all changes are allowed.
    fn allow_all(self) -> bool {
        !(self.nx || self.xx || self.gt || self.lt)
    }
}

/// Stores the score of a member, if the options allow it.
#[inline]
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
fn store(
    set: &mut ZsetMut<'_>,
    member: &[u8],
    score: f64,
    options: Options,
    changes: &mut Changes,
) {
    if !options.allow_all() && !options.allow(set.read().score(member), score) {
        return;
    }
    match set.insert(member, score) {
        None => changes.added += 1,
        Some(old) => changes.updated += usize::from(old != score),
    }
}

/// Adds to the score of a member, from 0 if there is none. The reply is the sum, or null if the
/// options do not allow it.
fn increase<V: View>(call: &mut Call<'_, V>, member: &[u8], by: f64, options: Options) -> Done {
    let key = call.arg(1);
    // The new score if it is allowed, and whether it is another than the old one.
    let increase = |set: &mut ZsetMut<'_>| {
        let old = set.read().score(member);
        // A member that must stay as it is may have a score that has no sum with `by`.
        if options.nx && old.is_some() {
            return Ok(None);
        }
        let new = old.map_or(by, |old| old + by);
        if new.is_nan() {
            return Err(Fault::new("ERR resulting score is not a number (NaN)"));
        }
        if !options.allow(old, new) {
            return Ok(None);
        }
        set.insert(member, new);
        Ok(Some((new, old != Some(new))))
    };
    let increased = if options.xx {
        call.keys.edit_zset_if_any(key, increase)?.transpose()?.flatten()
    } else {
        call.keys.edit_zset(key, increase)?
    };
    match increased {
        Some((score, is_changed)) => {
            call.out.double(score);
            if is_changed {
                call.modified(key, event("zincr"));
            }
        }
        None => call.out.null(),
    }
    Ok(())
}
