// SPDX-License-Identifier: Apache-2.0
//! [`sweep`]: the highest rate of an open loop that keeps p999 under a bound.
//!
//! The rate doubles from its first value for as long as it holds, or is halved until it holds; then the
//! range between the last that held and the first that did not is halved, until both are close to
//! each other. It never falls so low that a step has too few requests for a p999, see [`rate_min`].

use crate::{Error, Outcome, Percentile};
use serde::Serialize;
use std::time::Duration;

/// A rate holds if this share of it is answered at the least.
const ANSWERED_MIN: f64 = 0.98;

/// A step offers this factor more requests than a p999 needs, so that there are enough even if some are not
/// answered and if requests arrive at random.
const MARGIN: f64 = 1.05;

/// Steps after which a search ends in any case.
const STEPS_MAX: usize = 40;

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub struct SweepSettings {
    /// p999 must not be longer, in nanoseconds.
    pub p999_max: u64,
    /// The first rate, in requests per second.
    pub start: f64,
    /// No lower rate is tried: in the time of a step it has too few requests, see [`rate_min`].
    pub rate_min: f64,
    /// The search ends when the last rate that held and the first that did not are this close: 0.05
    /// is 5 %.
    pub precision: f64,
    /// How often a rate that does not hold is tried again: a disturbance of the machine is no limit
    /// of the server.
    pub retries: u32,
}

/// Whether a rate held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It did.
    Held,
    /// p999 was above the bound.
    TooSlow,
    /// Less was answered than was offered.
    TooMuch,
    /// There were errors.
    Errors,
}

/// One rate that was tried.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// Requests per second that were offered.
    pub rate: f64,
    /// Whether it held.
    pub verdict: Verdict,
    /// What was measured.
    pub outcome: Outcome,
}

/// What a search has found.
#[derive(Clone, Debug, Serialize)]
pub struct Sweep {
    /// The bound, in nanoseconds.
    pub p999_max: u64,
    /// The lowest rate that could be tried.
    pub rate_min: f64,
    /// The highest rate that held, if one did.
    pub best: Option<f64>,
    /// If none held: a server that does nothing, at the lowest rate.
    pub machine: Option<Outcome>,
    /// All that was tried, in order.
    pub steps: Vec<Step>,
}

impl Sweep {
    /// What was measured at the highest rate that held.
    pub fn best_step(&self) -> Option<&Step> {
        let held = |step: &&Step| step.verdict == Verdict::Held && Some(step.rate) == self.best;
        self.steps.iter().rev().find(held)
    }
}

/// The lowest rate at which a step of this length has enough requests for a p999.
pub fn rate_min(step: Duration) -> f64 {
    (MARGIN * Percentile::P999.requests_min() as f64 / step.as_secs_f64()).ceil()
}

fn judge(settings: &SweepSettings, rate: f64, outcome: &Outcome) -> Verdict {
    if outcome.errors > 0 {
        Verdict::Errors
    } else if outcome.rate < rate * ANSWERED_MIN {
        Verdict::TooMuch
    } else if outcome.latency.p999 > settings.p999_max {
        Verdict::TooSlow
    } else {
        Verdict::Held
    }
}

/// The range that the limit is in.
#[derive(Clone, Copy, Debug, Default)]
struct Range {
    held: Option<f64>,
    failed: Option<f64>,
}

impl Range {
    /// The next rate to try; `None` when the range is small enough, or nothing holds at all.
    fn next(&self, settings: &SweepSettings) -> Option<f64> {
        match (self.held, self.failed) {
            (None, None) => Some(settings.start.max(settings.rate_min)),
            (Some(held), None) => Some(held * 2.0),
            (None, Some(failed)) => {
                (failed > settings.rate_min).then(|| (failed / 2.0).max(settings.rate_min))
            }
            (Some(held), Some(failed)) => {
                (failed / held > 1.0 + settings.precision).then(|| (held * failed).sqrt())
            }
        }
    }

    fn narrow(&mut self, rate: f64, verdict: Verdict) {
        if verdict == Verdict::Held { self.held = Some(rate) } else { self.failed = Some(rate) }
    }
}

/// Searches. `run` measures at a rate, `tell` hears of each step.
///
/// # Errors
///
/// Those of `run`.
pub fn sweep(
    settings: &SweepSettings,
    mut run: impl FnMut(f64) -> Result<Outcome, Error>,
    mut tell: impl FnMut(&Step),
) -> Result<Sweep, Error> {
    let mut range = Range::default();
    let mut steps = Vec::new();
    while let Some(rate) = range.next(settings).map(f64::ceil) {
        if steps.len() >= STEPS_MAX {
            break;
        }
        let mut verdict = Verdict::TooSlow;
        for _ in 0..=settings.retries {
            let outcome = run(rate)?;
            verdict = judge(settings, rate, &outcome);
            let step = Step { rate, verdict, outcome };
            tell(&step);
            steps.push(step);
            if verdict == Verdict::Held {
                break;
            }
        }
        range.narrow(rate, verdict);
    }
    let SweepSettings { p999_max, rate_min, .. } = *settings;
    Ok(Sweep { p999_max, rate_min, best: range.held, machine: None, steps })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Latency;
    use crate::report::text::tests::example;

    /// A server whose latency grows as a queue's does: without end towards its capacity.
    fn server(rate: f64, capacity: f64) -> Outcome {
        let load = rate / capacity;
        let p999 = if load < 1.0 { 100_000.0 / (1.0 - load) } else { 1e9 };
        Outcome {
            errors: 0,
            offered_rate: Some(rate),
            rate: rate.min(capacity),
            latency: Latency { p999: p999 as u64, ..Latency::default() },
            ..example()
        }
    }

    const SETTINGS: SweepSettings = SweepSettings {
        p999_max: 1_000_000,
        start: 1_000.0,
        rate_min: 100.0,
        precision: 0.05,
        retries: 0,
    };

    fn search(settings: &SweepSettings, capacity: f64) -> Sweep {
        sweep(settings, |rate| Ok(server(rate, capacity)), |_| {}).unwrap()
    }

    #[test]
    fn the_limit_is_found_from_below_and_from_above() {
        // A tenth of a millisecond becomes a whole one at 90 % of the capacity.
        for (start, capacity) in [(1_000.0, 100_000.0), (1e6, 100_000.0), (90_000.0, 100_000.0)] {
            let found = search(&SweepSettings { start, ..SETTINGS }, capacity);
            let best = found.best.unwrap();
            assert!((90_000.0 / 1.05..=90_000.0).contains(&best), "{start}: {best}");
            assert_eq!(found.best_step().map(|step| step.rate), Some(best));
            assert!(found.steps.len() < 20, "{}", found.steps.len());
        }
    }

    #[test]
    fn what_never_holds_ends() {
        let found = search(&SETTINGS, 0.5);
        assert_eq!(found.best, None);
        assert!(found.best_step().is_none());
        let never = sweep(&SETTINGS, |rate| Ok(Outcome { errors: 1, ..server(rate, 1e9) }), |_| {});
        let never = never.unwrap();
        assert!(never.steps.iter().all(|step| step.verdict == Verdict::Errors));
        assert_eq!(never.best, None);
    }

    #[test]
    fn no_step_has_too_few_requests_for_a_p999() {
        let seconds = 3;
        let rate_min = rate_min(Duration::from_secs(seconds));
        assert_eq!(rate_min, 3_500.0);
        for start in [1.0, 10_000.0] {
            let found = search(&SweepSettings { start, rate_min, ..SETTINGS }, 0.5);
            let rates: Vec<f64> = found.steps.iter().map(|step| step.rate).collect();
            // The last is the lowest, and it is tried.
            assert_eq!(rates.last(), Some(&rate_min), "{rates:?}");
            let enough = |rate: &f64| {
                let count = (rate * ANSWERED_MIN) as u64 * seconds;
                Percentile::P999.is_known(&Latency { count, ..Latency::default() })
            };
            assert!(rates.iter().all(enough), "{rates:?}");
        }
    }

    #[test]
    fn what_always_holds_ends() {
        assert_eq!(search(&SETTINGS, f64::INFINITY).steps.len(), STEPS_MAX);
    }

    #[test]
    fn reasons_are_told_apart() {
        let judged = |outcome: &Outcome| judge(&SETTINGS, 50_000.0, outcome);
        assert_eq!(judged(&server(50_000.0, 100_000.0)), Verdict::Held);
        assert_eq!(judged(&server(50_000.0, 52_000.0)), Verdict::TooSlow);
        assert_eq!(judged(&server(50_000.0, 40_000.0)), Verdict::TooMuch);
    }

    #[test]
    fn a_disturbance_is_tried_again() {
        let mut runs = 0;
        let disturbed = |rate: f64| {
            runs += 1;
            // Every other run is disturbed.
            let capacity = if runs % 2 == 1 { rate / 2.0 } else { 100_000.0 };
            Ok(server(rate, capacity))
        };
        let found = sweep(&SweepSettings { retries: 1, ..SETTINGS }, disturbed, |_| {}).unwrap();
        let best = found.best.unwrap();
        assert!((90_000.0 / 1.05..=90_000.0).contains(&best), "{best}");
    }
}
