// SPDX-License-Identifier: Apache-2.0
//! When the requests of a trace are due to be sent.
//!
//! The clock of a trace has steps of a millisecond or of a second. Requests of
//! one step are spread evenly over it; otherwise they would come as a burst that the trace did not have.

use super::Record;

const MS: f64 = 1e6;

/// When each record is to be sent, in nanoseconds since the first, `speed` times as fast as it was
/// recorded. Times that go back count as the latest before them.
pub(super) fn times(records: &[Record], speed: f64) -> Vec<u64> {
    let mut clock = Vec::with_capacity(records.len());
    let mut latest = 0;
    for record in records {
        latest = latest.max(record.time_ms);
        clock.push(latest);
    }
    let first = clock.first().copied().unwrap_or(0);
    let step = f64::from(step(&clock));
    let mut times = Vec::with_capacity(records.len());
    for group in clock.chunk_by(|a, b| a == b) {
        let begin = f64::from(group[0] - first);
        let part = step / group.len() as f64;
        let each = (0..group.len()).map(|at| begin + part * at as f64);
        times.extend(each.map(|ms| (ms * MS / speed) as u64));
    }
    times
}

/// The step of the clock: the shortest time between two records of different times; none if all have
/// the same.
fn step(clock: &[u32]) -> u32 {
    let steps = clock.windows(2).map(|pair| pair[1] - pair[0]);
    steps.filter(|step| *step > 0).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RecordedOp;

    /// In microseconds.
    fn at(times_ms: &[u32], speed: f64) -> Vec<u64> {
        let record = |time_ms: &u32| Record {
            time_ms: *time_ms,
            key: 1,
            value_len: 1,
            ttl_ms: 0,
            key_len: 16,
            op: RecordedOp::Get,
        };
        let records: Vec<_> = times_ms.iter().map(record).collect();
        times(&records, speed).into_iter().map(|ns| ns / 1_000).collect()
    }

    #[test]
    fn requests_of_one_step_are_spread_over_it() {
        // Of a millisecond, at half the speed.
        assert_eq!(at(&[7, 7, 8, 10], 0.5), [0, 1_000, 2_000, 6_000]);
        // Of a second; what comes before a pause is not spread over the pause.
        let found = at(&[1_000, 1_000, 1_000, 1_000, 2_000, 2_000, 9_000], 1_000.0);
        assert_eq!(found, [0, 250, 500, 750, 1_000, 1_500, 8_000]);
    }

    #[test]
    fn times_that_go_back_are_held() {
        assert_eq!(at(&[5, 9, 5, 13], 1.0), [0, 4_000, 6_000, 8_000]);
        assert_eq!(at(&[5, 5, 5], 1.0), [0, 0, 0], "no step is known");
        assert!(at(&[], 1.0).is_empty());
    }
}
