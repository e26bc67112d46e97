// SPDX-License-Identifier: Apache-2.0
//! [`Crowd`]: who is interested in one name, in no order. Whoever leaves a large crowd is found without a look at the
//! others, so that N who leave one after the other take N steps.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Deref;

/// A crowd of more than this finds its members by an index.
const INDEXED_FROM: usize = 32;

/// A capacity up to this is kept.
const SMALL: usize = 64;

/// One of a crowd.
pub(crate) trait Identified {
    /// What it is known by: no other of the crowd has the same.
    type Id: Copy + Eq + Hash;

    fn id(&self) -> Self::Id;
}

/// Members, each of them once.
#[derive(Debug)]
pub(crate) struct Crowd<M: Identified> {
    members: Vec<M>,
    /// The places of the members of a large crowd.
    places: Option<Box<Places<M::Id>>>,
}

/// Places by the ids of those who have them.
#[derive(Debug)]
struct Places<I>(HashMap<I, usize>);

impl<M: Identified> Default for Crowd<M> {
    fn default() -> Self {
        Crowd { members: Vec::new(), places: None }
    }
}

impl<M: Identified> Deref for Crowd<M> {
    type Target = [M];

    fn deref(&self) -> &[M] {
        &self.members
    }
}

impl<M: Identified> Crowd<M> {
    /// Adds a member that is not there.
    pub(crate) fn add(&mut self, member: M) {
        if self.members.is_empty() {
            // Most crowds have one member.
            self.members.reserve_exact(1);
        }
        let (id, at) = (member.id(), self.members.len());
        self.members.push(member);
        match &mut self.places {
            Some(places) => _ = places.0.insert(id, at),
            None if at >= INDEXED_FROM => {
                let places = self.members.iter().enumerate().map(|(at, member)| (member.id(), at));
                self.places = Some(Box::new(Places(places.collect())));
            }
            None => {}
        }
    }

    /// Removes a member, if it is there.
    pub(crate) fn remove(&mut self, id: M::Id) -> Option<M> {
        let at = match &mut self.places {
            Some(places) => places.0.remove(&id)?,
            None => self.members.iter().position(|member| member.id() == id)?,
        };
        let gone = self.members.swap_remove(at);
        if self.members.len() < INDEXED_FROM / 2 {
            self.places = None;
        }
        if let (Some(places), Some(moved)) = (&mut self.places, self.members.get(at)) {
            places.0.insert(moved.id(), at);
        }
        if self.members.capacity() > SMALL && self.members.len() < self.members.capacity() / 8 {
            self.members.shrink_to(self.members.len() * 2);
            if let Some(places) = &mut self.places {
                places.0.shrink_to(self.members.len() * 2);
            }
        }
        Some(gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Identified for u32 {
        type Id = u32;

        fn id(&self) -> u32 {
            *self
        }
    }

    fn sorted(crowd: &Crowd<u32>) -> Vec<u32> {
        let mut all = crowd.to_vec();
        all.sort_unstable();
        all
    }

    #[test]
    fn who_has_left_is_gone_and_the_others_are_there() {
        for size in [1, 2, 31, 32, 33, 34, 200] {
            for step in [1, 7, 13] {
                let mut crowd = Crowd::default();
                let mut left: Vec<u32> = (0..size).collect();
                left.iter().for_each(|member| crowd.add(*member));
                let mut at = 0;
                while !left.is_empty() {
                    at = (at + step) % left.len();
                    let gone = left.remove(at);
                    assert_eq!(crowd.remove(gone), Some(gone), "of {size}");
                    assert_eq!(crowd.remove(gone), None, "of {size}");
                    assert_eq!(sorted(&crowd), left, "of {size}");
                    let places = crowd.places.iter().flat_map(|places| places.0.iter());
                    assert!(places.clone().all(|(id, at)| crowd[*at] == *id), "of {size}");
                    assert!(crowd.places.is_none() || places.count() == left.len());
                }
                crowd.add(1);
                assert_eq!(*crowd, [1], "it may come again");
            }
        }
    }
}
