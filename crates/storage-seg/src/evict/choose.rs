// SPDX-License-Identifier: Apache-2.0
//! Which segment is emptied next.
//!
//! Called under the pool's lock, once per segment: a walk over all segments is affordable.

use super::{Eviction, Lesson};
use crate::order::{KEPT, NEW, Order};
use crate::segment::Segment;
use std::cmp::Reverse;

/// The rest of a group of segments that `merge` empties one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Group {
    class: u8,
    left: usize,
}

/// The segment to empty next; `None` if there is none. All memory is `total` grains; with
/// `scored`, new items have the share `new_share` of it.
pub(crate) fn next(
    policy: &Eviction,
    order: &Order,
    segments: &[Segment],
    (total, new_share): (usize, f64),
    group: &mut Group,
    lesson: &Lesson,
) -> Option<u32> {
    let at = |number: u32| &segments[number as usize];
    // A pinned segment would not become free.
    let is_free = |number: &u32| at(*number).pins() == 0;
    let all = || every(order).filter(is_free);
    match *policy {
        Eviction::None => None,
        Eviction::Random => drawn(order, segments, lesson),
        Eviction::RandomFifo => {
            let segment = at(drawn(order, segments, lesson)?);
            let (tier, class) = (segment.tier(), segment.class());
            let heads =
                [order.of(tier, class).find(is_free), order.lone_of(tier, class).find(is_free)];
            heads.into_iter().flatten().min_by_key(|&number| at(number).birth())
        }
        Eviction::Fifo => oldest(order, segments, &[NEW, KEPT]),
        Eviction::Cte => all().min_by_key(|&number| (at(number).due_ms(), at(number).birth())),
        Eviction::Util => all().min_by_key(|&number| {
            let segment = at(number);
            // Live bytes per grain.
            (segment.live_bytes() / segment.span().max(1), segment.birth())
        }),
        Eviction::Merge { max, .. } => {
            if group.left > 0
                && let Some(number) = order.of(NEW, group.class).find(is_free)
            {
                group.left -= 1;
                return Some(number);
            }
            let number = oldest(order, segments, &[NEW])?;
            *group = Group { class: at(number).class(), left: max - 1 };
            Some(number)
        }
        Eviction::S3Fifo { admission_ratio } => by_tier(admission_ratio, order, segments, total),
        Eviction::Scored { .. } => by_tier(new_share, order, segments, total),
    }
}

/// The oldest segment of new items if they have more than their share, else of those that were kept.
fn by_tier(new_share: f64, order: &Order, segments: &[Segment], total: usize) -> Option<u32> {
    let is_new = order.weight(NEW) as f64 > new_share * total as f64;
    let tiers = if is_new { [NEW, KEPT] } else { [KEPT, NEW] };
    oldest(order, segments, &tiers[..1]).or_else(|| oldest(order, segments, &tiers[1..]))
}

/// Of the segments at the head of these tiers' lists, the one that was opened first.
fn oldest(order: &Order, segments: &[Segment], tiers: &[u8]) -> Option<u32> {
    let heads = tiers.iter().flat_map(|&tier| order.oldest(tier));
    let at = |number: u32| &segments[number as usize];
    let head = heads.min_by_key(|&number| at(number).birth())?;
    if at(head).pins() == 0 {
        return Some(head);
    }
    let all = tiers.iter().flat_map(|&tier| order.tier(tier).chain(order.lone(tier)));
    all.filter(|&number| at(number).pins() == 0).min_by_key(|&number| at(number).birth())
}

/// All segments in the order, of many lone ones the oldest.
fn every(order: &Order) -> impl Iterator<Item = u32> + '_ {
    [NEW, KEPT].into_iter().flat_map(|tier| order.tier(tier).chain(order.lone(tier)))
}

/// A segment chosen at random, all being equally likely.
fn drawn(order: &Order, segments: &[Segment], lesson: &Lesson) -> Option<u32> {
    let all = every(order);
    // The highest lot wins.
    let lots =
        all.map(|number| (Reverse(segments[number as usize].pins() > 0), lesson.lot(), number));
    lots.max().map(|(_, _, number)| number).filter(|&number| segments[number as usize].pins() == 0)
}
