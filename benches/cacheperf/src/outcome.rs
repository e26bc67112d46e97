// SPDX-License-Identifier: Apache-2.0
//! [`Outcome`]: the results of a run, as they are printed and written to files.

use crate::tally::{Latencies, Tally};
use crate::{FanOut, GeneratorAbsences, Percentile};
use serde::{Serialize, Serializer};

/// The results of a run. All latencies are in nanoseconds, exact to 1 %.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The server.
    pub target: String,
    /// The settings that define the load.
    pub load: String,
    /// Seconds of the measured time.
    pub seconds: f64,
    /// Requests per second that were due to be sent; `None` in a closed loop.
    pub offered_rate: Option<f64>,
    /// Requests per second that were answered.
    pub rate: f64,
    /// Requests that were answered in the measured time.
    pub answered: u64,
    /// Connections that broke; of the whole run.
    pub lost_connections: u64,
    /// Connections that were opened in place of others in the measured time.
    pub reconnected: u64,
    /// Keys that were asked for.
    pub gets: u64,
    /// Keys that were found.
    pub hits: u64,
    /// Share of the keys that were found; `None` if none was asked for.
    pub hit_ratio: Option<f64>,
    /// Share of the bytes of keys and values that were found, of those that were asked for.
    pub byte_hit_ratio: Option<f64>,
    /// Items that were written.
    pub sets: u64,
    /// Items that the server refused to write.
    pub set_errors: u64,
    /// Deletes that were answered.
    pub deletes: u64,
    /// Refusals, broken connections, replies that make no sense, wrong values; of the whole run.
    pub errors: u64,
    /// Values that are not what was written; of the whole run.
    pub wrong_values: u64,
    /// Requests that were to be sent in the measured time and were not answered.
    pub unanswered: u64,
    /// The first errors in words.
    pub first_errors: Vec<String>,
    /// How long requests took.
    pub latency: Latency,
    /// CPU time of this process for a request, in nanoseconds.
    pub client_cpu_ns: f64,
    /// Share of the CPU time that its threads had which they used. An open loop uses all of it.
    pub client_busy: f64,
    /// The latencies of users' requests, if each was several requests at once.
    pub fan_out: Option<FanOut>,
    /// When the generator itself did not run.
    pub generator_absences: GeneratorAbsences,
    /// Latencies over time.
    pub timeline: Vec<Moment>,
    /// Pairs of a latency and the share of requests that took no longer.
    pub cdf: Vec<(u64, f64)>,
}

/// How long requests took, in nanoseconds. A file has `few_samples` besides: the percentiles that rest on
/// too few requests, see [`Percentile::is_known`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Latency {
    /// How many requests were measured.
    pub count: u64,
    /// The mean.
    pub mean: f64,
    /// Half of all took no longer.
    pub p50: u64,
    /// 90 % took no longer.
    pub p90: u64,
    /// 99 % took no longer.
    pub p99: u64,
    /// 99.9 % took no longer.
    pub p999: u64,
    /// 99.99 % took no longer.
    pub p9999: u64,
    /// The longest.
    pub max: u64,
}

/// A slice of the measured time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Moment {
    /// When it began, in seconds since the start, warm-up included.
    pub at_s: f64,
    /// Requests per second that were answered.
    pub rate: f64,
    /// Share of the keys that were found.
    pub hit_ratio: Option<f64>,
    /// Errors.
    pub errors: u64,
    /// Connections that broke.
    pub lost_connections: u64,
    /// Connections that were opened in place of others.
    pub reconnected: u64,
    /// How long the requests took that were answered in it.
    pub latency: Latency,
}

impl Serialize for Latency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let Latency { count, mean, p50, p90, p99, p999, p9999, max } = self;
        let few = Percentile::ALL.into_iter().filter(|one| !one.is_known(self));
        let few: Vec<&str> = few.map(Percentile::name).collect();
        let mut out = serializer.serialize_struct("Latency", 9)?;
        out.serialize_field("count", count)?;
        out.serialize_field("mean", mean)?;
        out.serialize_field("p50", p50)?;
        out.serialize_field("p90", p90)?;
        out.serialize_field("p99", p99)?;
        out.serialize_field("p999", p999)?;
        out.serialize_field("p9999", p9999)?;
        out.serialize_field("max", max)?;
        out.serialize_field("few_samples", &few)?;
        out.end()
    }
}

impl Latency {
    pub(crate) fn of(latencies: &Latencies) -> Self {
        let [p50, p90, p99, p999, p9999] = latencies.quantiles([0.5, 0.9, 0.99, 0.999, 0.9999]);
        Latency {
            count: latencies.count(),
            mean: latencies.mean(),
            p50,
            p90,
            p99,
            p999,
            p9999,
            max: latencies.max(),
        }
    }
}

impl Moment {
    pub(crate) fn of(tally: &Tally, at_s: f64, seconds: f64) -> Self {
        Moment {
            at_s,
            rate: tally.answered as f64 / seconds,
            hit_ratio: tally.finds.hit_ratio(),
            errors: tally.errors,
            lost_connections: tally.lost,
            reconnected: tally.reconnected,
            latency: Latency::of(&tally.latencies),
        }
    }
}

/// The distribution as a curve: where each latency that occurred stands.
pub(crate) fn cdf(latencies: &Latencies) -> Vec<(u64, f64)> {
    let total = latencies.count().max(1) as f64;
    let mut seen = 0;
    let points = latencies.buckets().map(|(range, count)| {
        seen += count;
        ((*range.end()).min(latencies.max()), seen as f64 / total)
    });
    points.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_percentiles_of_too_few_requests() {
        let json = |count| {
            let latency = Latency { count, p999: 7, ..Latency::default() };
            serde_json::to_value(latency).unwrap()
        };
        assert_eq!(json(2_000)["few_samples"], serde_json::json!(["p999", "p9999"]));
        assert_eq!((&json(2_000)["p999"], &json(2_000)["count"]), (&7.into(), &2_000.into()));
        assert_eq!(json(100_000)["few_samples"], serde_json::json!([]));
    }

    #[test]
    fn a_cdf_rises_to_one() {
        let mut tally = Tally::new();
        [5, 1, 3, 3, 1_000_000].iter().for_each(|ns| tally.latencies.add(*ns));
        let cdf = cdf(&tally.latencies);
        assert_eq!(cdf, [(1, 0.2), (3, 0.6), (5, 0.8), (1_000_000, 1.0)]);
        assert_eq!(super::cdf(&Latencies::new()), []);
    }
}
