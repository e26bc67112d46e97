// SPDX-License-Identifier: Apache-2.0
//! [`fan_out`]: the latency of the slowest of N requests at once.
//!
//! A page of a service asks many servers, or one many times, and is ready when the slowest reply is there. Of N
//! replies that do not depend on each other all are within the p99 of one in 0.99^N of all cases: in 90 % with
//! 10, in 37 % with 100. So the rare slow reply of one server is the usual one of its users.

use crate::{Error, Latency, Outcome, Plan, Watcher, run};
use serde::Serialize;

/// The latencies of users' requests, each of which is several requests at once.
#[derive(Clone, Debug, Serialize)]
pub struct FanOut {
    /// Requests of each.
    pub width: usize,
    /// Requests of users per second that were due.
    pub rate: f64,
    /// How long the slowest of each took.
    pub latency: Latency,
    /// Pairs of a latency and the share of users' requests that took no longer.
    pub cdf: Vec<(u64, f64)>,
}

/// What was measured at several widths.
#[derive(Clone, Debug, Serialize)]
pub struct FanOuts {
    /// The p99 of a user's request that is a single one, in nanoseconds.
    pub p99_of_one: u64,
    /// One run for each width, of which the first is 1.
    pub widths: Vec<Outcome>,
}

/// The share of users' requests of this width that are within the p99 of one, if replies do not depend on each
/// other.
pub(crate) fn expected_share(width: usize) -> f64 {
    0.99_f64.powi(i32::try_from(width).unwrap_or(i32::MAX))
}

impl FanOut {
    /// The share of users' requests that took no longer than this.
    pub fn share_within(&self, ns: u64) -> f64 {
        let within = self.cdf.iter().take_while(|(latency, _)| *latency <= ns).last();
        within.map_or(0.0, |(_, share)| *share)
    }
}

/// Measures at each of these widths, and at 1, with which the others are compared. All have the same rate of
/// requests to the servers, on the same number of connections.
///
/// # Errors
///
/// As [`run`].
pub fn fan_out(
    plan: &Plan,
    widths: &[usize],
    watch: &mut dyn FnMut(usize, crate::Event<'_>),
) -> Result<FanOuts, Error> {
    let mut all: Vec<usize> = std::iter::once(1).chain(widths.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let widest = all.last().map_or(1, |width| width * plan.threads);
    let plan = Plan { connections: plan.connections.max(widest), ..plan.clone() };
    let plan_of = |width: usize, preload: bool| Plan {
        fan_out: Some(width),
        preload: plan.preload && preload,
        ..plan.clone()
    };
    for width in &all {
        plan_of(*width, false).check()?;
    }
    let mut found = Vec::new();
    for (number, width) in all.into_iter().enumerate() {
        let watch: &mut Watcher<'_> = &mut |event| watch(width, event);
        found.push(run(&plan_of(width, number == 0), watch)?);
    }
    let p99_of_one = found.first().and_then(|one| one.fan_out.as_ref());
    Ok(FanOuts { p99_of_one: p99_of_one.map_or(0, |one| one.latency.p99), widths: found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arithmetic_is_that_of_independent_replies() {
        let percent = |width| (1_000.0 * expected_share(width)).round() / 10.0;
        assert_eq!([1, 10, 100].map(percent), [99.0, 90.4, 36.6]);
    }

    #[test]
    fn shares_are_read_from_the_distribution() {
        let cdf = vec![(100, 0.2), (200, 0.9), (400, 1.0)];
        let found = FanOut { width: 2, rate: 1.0, latency: Latency::default(), cdf };
        let shares = [99, 100, 250, 400, 500].map(|ns| found.share_within(ns));
        assert_eq!(shares, [0.0, 0.2, 0.9, 1.0, 1.0]);
    }
}
