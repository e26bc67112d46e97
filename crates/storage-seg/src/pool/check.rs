// SPDX-License-Identifier: Apache-2.0
//! The check that the pool's lists and counts agree with its segments.

use super::Inner;
use crate::segment::{Segment, State};

impl Inner {
    /// Panics unless states and lists agree, and the memory in service adds up to that of the
    /// segments.
    pub(crate) fn check(&self, segments: &[Segment], in_service: usize) {
        let mut seen = vec![None; segments.len()];
        let mut enter = |number: u32, state: State| {
            let segment = &segments[number as usize];
            assert_eq!(segment.state(), state, "INV-OWNER: segment {number}");
            assert_eq!(seen[number as usize], None, "INV-OWNER: segment {number} is in two places");
            seen[number as usize] = Some(state);
        };
        self.free.iter().for_each(|&number| enter(number, State::Free));
        self.backed.iter().for_each(|&number| enter(number, State::Free));
        self.bare.iter().for_each(|&number| enter(number, State::Withdrawn));
        self.withdrawn.iter().for_each(|&number| enter(number, State::Withdrawn));
        let limbo = self.limbo.iter().map(|&(_, number)| number);
        limbo.chain(self.pinned.iter().copied()).for_each(|number| enter(number, State::Limbo));
        for (number, segment) in segments.iter().enumerate() {
            let listed = self.order.contains(number as u32);
            let state = segment.state();
            assert_eq!(listed, state == State::Sealed, "INV-ORDER: segment {number} is {state:?}");
            let elsewhere = matches!(state, State::Free | State::Withdrawn | State::Limbo);
            assert_eq!(seen[number].is_some(), elsewhere, "INV-OWNER: segment {number} is lost");
        }
        let span = |numbers: &[u32]| -> u32 {
            numbers.iter().map(|&number| segments[number as usize].span()).sum()
        };
        assert_eq!(span(&self.backed), self.backed_span, "INV-SERVICE: free wide segments");
        assert_eq!(span(&self.bare), 0, "INV-SERVICE: wide segments without memory");
        let used = segments
            .iter()
            .filter(|segment| !matches!(segment.state(), State::Withdrawn | State::Tail));
        let used: usize = used.map(|segment| segment.span() as usize).sum();
        assert_eq!(used, in_service, "INV-SERVICE: memory of all segments");
    }
}
