// SPDX-License-Identifier: Apache-2.0
//! The check that the pool's lists and counts agree with its segments.

use super::{Inner, Pool};
use crate::segment::State;
use std::collections::HashMap;

impl Inner {
    /// Panics unless states and lists agree, and the memory in service adds up to that of the
    /// segments.
    pub(crate) fn check(&self, pool: &Pool) {
        let mut seen = HashMap::new();
        let mut enter = |number: u32, state: State| {
            assert_eq!(pool.segment(number).state(), state, "INV-OWNER: segment {number}");
            let before = seen.insert(number, state);
            assert_eq!(before, None, "INV-OWNER: segment {number} is in two places");
        };
        self.free.iter().for_each(|&number| enter(number, State::Free));
        self.backed.iter().for_each(|&number| enter(number, State::Free));
        self.backed_lone.iter().for_each(|&number| enter(number, State::Free));
        self.bare.iter().for_each(|&number| enter(number, State::Withdrawn));
        let bare_lone: Vec<u32> = self.bare_lone.concat();
        bare_lone.iter().for_each(|&number| enter(number, State::Withdrawn));
        self.withdrawn.iter().for_each(|&number| enter(number, State::Withdrawn));
        self.limbo.numbers().for_each(|number| enter(number, State::Limbo));
        let limbo: u32 = self.limbo.numbers().map(|number| pool.segment(number).span()).sum();
        assert_eq!(limbo, self.limbo.span(), "INV-SERVICE: segments in limbo");
        let mut used = 0;
        for number in pool.numbers() {
            let listed = self.order.contains(number);
            let state = pool.segment(number).state();
            assert_eq!(listed, state == State::Sealed, "INV-ORDER: segment {number} is {state:?}");
            let elsewhere = matches!(state, State::Free | State::Withdrawn | State::Limbo);
            let is_seen = seen.contains_key(&number);
            assert_eq!(is_seen, elsewhere, "INV-OWNER: segment {number} is lost");
            if !matches!(state, State::Withdrawn | State::Tail) {
                used += pool.segment(number).span() as usize;
            }
        }
        let span = |numbers: &[u32]| -> u32 {
            numbers.iter().map(|&number| pool.segment(number).span()).sum()
        };
        assert_eq!(span(&self.backed), self.backed_span, "INV-SERVICE: free wide segments");
        assert_eq!(span(&self.backed_lone), self.lone_span, "INV-SERVICE: free lone segments");
        let bare = span(&self.bare) + span(&bare_lone);
        assert_eq!(bare, 0, "INV-SERVICE: segments without memory");
        let in_service = pool.in_service();
        assert_eq!(used, in_service, "INV-SERVICE: memory of all segments");
    }
}
