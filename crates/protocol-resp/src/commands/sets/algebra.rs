// SPDX-License-Identifier: Apache-2.0
//! Intersection, union and difference of sets.
//!
//! Members are passed on as they are found, without a copy. Only if each member would have to be
//! looked up in many sets, these are first merged into one.

use values::{Limits, NewSet, SetRef};

/// How many members of a set can be looked up in the time that one takes to be copied to another.
const LOOKUPS_PER_COPY: usize = 4;

/// Members that are looked up together.
const SIFTED: usize = 16;

/// Visits the intersection of the sets, at least one, until `visit` returns false.
pub(super) fn intersect(sets: &[SetRef<'_>], mut visit: impl FnMut(&[u8]) -> bool) {
    let mut sets = sets.to_vec();
    sets.sort_by_key(|set| set.len());
    if let Some((smallest, others)) = sets.split_first() {
        let are_in = true;
        visit_sifted(*smallest, others, are_in, &mut visit);
    }
}

/// Visits the members that are in all of the others, or in none of them, until `visit` returns false. Returns whether it
/// never did.
fn visit_sifted(
    set: SetRef<'_>,
    others: &[SetRef<'_>],
    are_in: bool,
    visit: &mut impl FnMut(&[u8]) -> bool,
) -> bool {
    let (mut members, mut some) = (set.iter(), Vec::with_capacity(SIFTED));
    loop {
        some.extend(members.by_ref().take(SIFTED));
        if some.is_empty() {
            return true;
        }
        others.iter().for_each(|other| other.sift(&mut some, are_in));
        if !some.drain(..).all(|member| visit(&member)) {
            return false;
        }
    }
}

/// Visits what is in any of the sets, each member once, until `visit` returns false.
pub(super) fn unite(sets: &[SetRef<'_>], mut visit: impl FnMut(&[u8]) -> bool) {
    // A client may name a large set a million times.
    let lookups = sets.iter().enumerate().map(|(at, set)| at.saturating_mul(set.len()));
    let lookups = lookups.fold(0, usize::saturating_add);
    let copies = sets.iter().map(|set| set.len()).fold(0, usize::saturating_add);
    if lookups <= copies.saturating_mul(LOOKUPS_PER_COPY) {
        for (at, set) in sets.iter().enumerate() {
            let are_in = false;
            if !visit_sifted(*set, &sets[..at], are_in, &mut visit) {
                return;
            }
        }
        return;
    }
    let limits = Limits::default();
    let mut all = NewSet::new(b"");
    let mut seen = all.edit(&limits);
    for set in sets {
        for member in set.iter() {
            if seen.add(&member) && !visit(&member) {
                return;
            }
        }
    }
}

/// Visits what is in `first` and in none of the others, until `visit` returns false.
pub(super) fn subtract(
    first: SetRef<'_>,
    others: &[SetRef<'_>],
    mut visit: impl FnMut(&[u8]) -> bool,
) {
    let lookups = first.len().saturating_mul(others.len());
    let copies = others.iter().map(|set| set.len()).fold(0, usize::saturating_add);
    let mut all = NewSet::new(b"");
    let merged;
    let others = if lookups <= copies.saturating_mul(LOOKUPS_PER_COPY).saturating_add(first.len()) {
        others
    } else {
        merge(&mut all, others);
        merged = [all.read()];
        &merged
    };
    let are_in = false;
    visit_sifted(first, others, are_in, &mut visit);
}

/// Adds all members of the sets to a set.
pub(super) fn merge(into: &mut NewSet, sets: &[SetRef<'_>]) {
    let limits = Limits::default();
    let mut into = into.edit(&limits);
    for set in sets {
        set.iter().for_each(|member| {
            into.add(&member);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use values::Entry;

    fn entry(members: &BTreeSet<u16>) -> Entry {
        let limits = Limits { set_intset: 20, set_entries: 30, ..Limits::default() };
        let mut entry = Entry::new_set(b"key");
        for member in members {
            // Some sets are of integers only, some of others too.
            let text = if member % 64 == 63 { format!("x{member}") } else { member.to_string() };
            entry.set_mut(&limits).unwrap().add(text.as_bytes());
        }
        entry
    }

    fn number(member: &[u8]) -> u16 {
        std::str::from_utf8(member).unwrap().trim_start_matches('x').parse().unwrap()
    }

    proptest! {
        #[test]
        fn results_are_those_of_the_standard_library(
            sets in proptest::collection::vec(
                proptest::collection::btree_set(0_u16..130, 0..100),
                1..14,
            ),
        ) {
            let entries: Vec<Entry> = sets.iter().map(entry).collect();
            let refs: Vec<_> = entries.iter().map(|entry| entry.set().unwrap()).collect();
            let mut found = Vec::new();
            intersect(&refs, |member| {
                found.push(number(member));
                true
            });
            found.sort_unstable();
            let all = sets.iter().skip(1).fold(sets[0].clone(), |all, set| &all & set);
            prop_assert_eq!(&found, &all.into_iter().collect::<Vec<_>>());

            found.clear();
            unite(&refs, |member| {
                found.push(number(member));
                true
            });
            found.sort_unstable();
            let all = sets.iter().fold(BTreeSet::new(), |all, set| &all | set);
            prop_assert_eq!(&found, &all.into_iter().collect::<Vec<_>>());

            found.clear();
            subtract(refs[0], &refs[1..], |member| {
                found.push(number(member));
                true
            });
            found.sort_unstable();
            let all = sets.iter().skip(1).fold(sets[0].clone(), |all, set| &all - set);
            prop_assert_eq!(&found, &all.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_visitor_may_have_seen_enough() {
        let (entry, other) = (entry(&(0..50).collect()), entry(&(100..150).collect()));
        let (set, other) = (entry.set().unwrap(), other.set().unwrap());
        let seen = std::cell::Cell::new(0);
        let visit = |_: &[u8]| {
            seen.set(seen.get() + 1);
            seen.get() < 7
        };
        let runs: [&dyn Fn(); 4] = [
            &|| intersect(&[set], visit),
            &|| unite(&[set, other], visit),
            // Merged, because there are so many.
            &|| unite(&[set; 50], visit),
            &|| subtract(set, &[other], visit),
        ];
        for run in runs {
            seen.set(0);
            run();
            assert_eq!(seen.get(), 7);
        }
    }
}
