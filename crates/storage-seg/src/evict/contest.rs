// SPDX-License-Identifier: Apache-2.0
//! [`Contest`]: which of several ways had the most hits lately, and whether that can be chance.

/// How many ways there are.
pub(super) const ALL: usize = 5;

/// The one that is used before anything was learned.
pub(super) const FIRST: usize = 0;

/// How much more hits, relatively, another way needs to replace the first one; smaller differences
/// count as equal.
const AHEAD: f64 = 0.02;
const EQUAL: f64 = 0.003;

/// The same in standard deviations of the difference by chance.
const DEVIATIONS: f64 = 4.0;

/// The worth of the recent hits of each way.
#[derive(Debug, Default)]
pub(super) struct Contest {
    hits: [f64; ALL],
    /// The worth of the requests that hit in any way.
    worth: f64,
    /// For each pair, the sum of the squares of what only one of the two hit: the variance of the difference between them.
    /// Most requests hit in both or in none, and say nothing about which is better.
    apart: [[f64; ALL]; ALL],
}

impl Contest {
    /// Counts a request that hit in these ways.
    pub(super) fn count(&mut self, hit: [bool; ALL], worth: f64) {
        if !hit.contains(&true) {
            return;
        }
        self.worth += worth;
        for one in (0..ALL).filter(|&one| hit[one]) {
            self.hits[one] += worth;
            for other in (0..ALL).filter(|&other| !hit[other]) {
                self.apart[one.min(other)][one.max(other)] += worth * worth;
            }
        }
    }

    /// Multiplies the weight of what was counted.
    pub(super) fn fade(&mut self, by: f64) {
        self.worth *= by;
        self.hits.iter_mut().for_each(|hits| *hits *= by);
        self.apart.iter_mut().flatten().for_each(|apart| *apart *= by * by);
    }

    /// The way that the hits favour among those that are possible: the one with the most if it is clearly ahead of the first and
    /// of the present one; else the present one while it stays ahead of the first; else the first.
    pub(super) fn judge(&self, present: usize, is_possible: impl Fn(usize) -> bool) -> usize {
        let best = self.best(is_possible);
        if self.lead(best, FIRST) > self.clear(best, FIRST)
            && self.lead(best, present) > self.clear(best, present) / 2.0
        {
            best
        } else if self.lead(present, FIRST) > self.clear(present, FIRST) / 2.0 {
            present
        } else {
            FIRST
        }
    }

    /// Of those with the most hits, the first.
    fn best(&self, is_possible: impl Fn(usize) -> bool) -> usize {
        let possible = || (0..ALL).filter(|&at| is_possible(at));
        let most = possible().map(|at| self.hits[at]).fold(0.0, f64::max);
        possible().find(|&at| self.hits[at] >= most - EQUAL * self.worth).unwrap_or(FIRST)
    }

    fn lead(&self, one: usize, other: usize) -> f64 {
        self.hits[one] - self.hits[other]
    }

    /// The lead of one over another that is clear.
    fn clear(&self, one: usize, other: usize) -> f64 {
        let variance = self.apart[one.min(other)][one.max(other)];
        (AHEAD * self.worth).max(DEVIATIONS * variance.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any(_: usize) -> bool {
        true
    }

    /// Counts as many requests that only these hit.
    fn count(contest: &mut Contest, requests: u32, ways: &[usize]) {
        for _ in 0..requests {
            contest.count(std::array::from_fn(|at| ways.contains(&at)), 1.0);
        }
    }

    #[test]
    fn what_is_clearly_ahead_replaces_the_first_and_stays_while_half_as_far_ahead() {
        let mut contest = Contest::default();
        count(&mut contest, 900, &[FIRST, 1, 2]);
        count(&mut contest, 15, &[2]);
        assert_eq!(contest.judge(FIRST, any), FIRST, "four deviations are 15.5, and 2 % 18");
        count(&mut contest, 5, &[2]);
        assert_eq!(contest.judge(FIRST, any), 2);
        count(&mut contest, 5, &[FIRST]);
        assert_eq!(contest.judge(FIRST, any), FIRST);
        assert_eq!(contest.judge(2, any), 2);
        count(&mut contest, 6, &[FIRST]);
        assert_eq!(contest.judge(2, any), FIRST);
    }

    #[test]
    fn what_hits_in_both_says_nothing_about_chance() {
        let mut contest = Contest::default();
        count(&mut contest, 1_000, &[FIRST, 1]);
        count(&mut contest, 10, &[FIRST]);
        count(&mut contest, 40, &[1]);
        assert_eq!(contest.judge(FIRST, any), 1, "30 of 50");
        let mut contest = Contest::default();
        count(&mut contest, 600, &[FIRST]);
        count(&mut contest, 640, &[1]);
        assert_eq!(contest.judge(FIRST, any), FIRST, "40 of 1,240");
    }

    #[test]
    fn of_equal_ones_the_first_is_chosen_and_none_that_is_impossible() {
        let mut contest = Contest::default();
        count(&mut contest, 1_000, &[3, 4]);
        assert_eq!(contest.judge(FIRST, any), 3);
        count(&mut contest, 2, &[4]);
        assert_eq!(contest.judge(FIRST, any), 3);
        assert_eq!(contest.judge(FIRST, |at| at != 3), 4);
        assert_eq!(contest.judge(FIRST, |at| at < 3), FIRST);
    }

    #[test]
    fn what_was_long_ago_is_outweighed() {
        let mut contest = Contest::default();
        count(&mut contest, 10_000, &[FIRST]);
        (0..50).for_each(|_| contest.fade(0.9));
        count(&mut contest, 200, &[4]);
        assert_eq!(contest.judge(FIRST, any), 4);
    }
}
