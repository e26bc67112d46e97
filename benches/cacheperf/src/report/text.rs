// SPDX-License-Identifier: Apache-2.0
//! Results as text.

use crate::units::{show_ns, show_rate};
use crate::{Latency, Outcome, Percentile};
use std::fmt::Write;

/// The share of its CPU time from which on a closed loop waits for the generator as well.
pub(super) const BUSY_MAX: f64 = 0.9;

/// The results of a run.
pub fn summary(outcome: &Outcome) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // A string takes everything.
        let _ = writeln!(text, "{name:<12} {value}");
    };
    line("server", outcome.target.clone());
    line("load", outcome.load.clone());
    line("requests", format!("{} in {:.2} s", outcome.answered, outcome.seconds));
    let offered = outcome.offered_rate.map_or(String::new(), |rate| {
        format!(" of {} requests/s that were offered", show_rate(rate))
    });
    line("throughput", format!("{} requests/s{offered}", show_rate(outcome.rate)));
    if outcome.reconnected + outcome.lost_connections > 0 {
        let rate = show_rate(outcome.reconnected as f64 / outcome.seconds);
        let lost = outcome.lost_connections;
        line(
            "connections",
            format!("{} new ones, {rate}/s; {lost} were lost", outcome.reconnected),
        );
    }
    line("latency", latencies(&outcome.latency));
    if let Some(doubt) = doubt(&Percentile::ALL, [&outcome.latency]) {
        line("", doubt);
    }
    if let Some(ratio) = outcome.hit_ratio {
        line("hits", format!("{:.2} % of {} keys", 100.0 * ratio, outcome.gets));
    }
    if outcome.sets + outcome.deletes > 0 {
        line("writes", format!("{} sets, {} deletes", outcome.sets, outcome.deletes));
    }
    line(
        "client CPU",
        format!(
            "{} per request, {:.0} % busy",
            show_ns(outcome.client_cpu_ns),
            100.0 * outcome.client_busy
        ),
    );
    if outcome.offered_rate.is_none() && outcome.client_busy > BUSY_MAX {
        line("", "the generator may be the bottleneck: give it more threads".to_owned());
    }
    line(
        "errors",
        format!(
            "{} ({} wrong values), {} requests unanswered",
            outcome.errors, outcome.wrong_values, outcome.unanswered
        ),
    );
    for words in &outcome.first_errors {
        line("", words.clone());
    }
    text
}

/// A percentile, with `?` behind it if there were too few requests to know it.
pub(crate) fn percentile(latency: &Latency, percentile: Percentile) -> String {
    let mark = if percentile.is_known(latency) { "" } else { DOUBT };
    format!("{}{mark}", show_ns(percentile.of(latency) as f64))
}

/// What stands behind a percentile that rests on too few requests.
pub(crate) const DOUBT: &str = "?";

/// What `?` means, where these percentiles of these runs are shown; `None` if it stands nowhere.
pub(crate) fn doubt<'a>(
    percentiles: &[Percentile],
    shown: impl IntoIterator<Item = &'a Latency>,
) -> Option<String> {
    let least = shown.into_iter().min_by_key(|latency| latency.count)?;
    let lacking = percentiles.iter().find(|one| !one.is_known(least))?;
    let (name, needed) = (lacking.name(), lacking.requests_min());
    Some(format!(
        "{DOUBT} is chance: fewer than 10 requests took longer. {name} takes {needed} requests, there were {}",
        least.count
    ))
}

/// Percentiles in a line.
pub(crate) fn latencies(latency: &Latency) -> String {
    let mut shown = String::new();
    for one in Percentile::ALL {
        // A string takes everything.
        let _ = write!(shown, "{} {}  ", one.name(), percentile(latency, one));
    }
    format!("{shown}max {}  mean {}", show_ns(latency.max as f64), show_ns(latency.mean))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Moment;

    /// Results that look like those of a run.
    pub(crate) fn example() -> Outcome {
        let latency = Latency {
            count: 1_000_000,
            mean: 61_000.0,
            p50: 52_000,
            p90: 90_000,
            p99: 130_000,
            p999: 1_500_000,
            p9999: 3_000_000,
            max: 3_700_000,
        };
        let moment = |second: u32| Moment {
            at_s: f64::from(second),
            rate: 100_000.0 + f64::from(second),
            hit_ratio: Some(0.9),
            errors: 0,
            lost_connections: 0,
            reconnected: 0,
            latency: Latency { p999: 1_500_000 + u64::from(second * 20_000), ..latency },
        };
        Outcome {
            target: "memcache at 127.0.0.1:11211".to_owned(),
            load: "closed loop".to_owned(),
            seconds: 10.0,
            offered_rate: None,
            rate: 100_000.0,
            answered: 1_000_000,
            lost_connections: 0,
            reconnected: 0,
            gets: 900_000,
            hits: 810_000,
            hit_ratio: Some(0.9),
            byte_hit_ratio: Some(0.9),
            sets: 100_000,
            set_errors: 0,
            deletes: 0,
            errors: 1,
            wrong_values: 0,
            unanswered: 0,
            first_errors: vec!["SERVER_ERROR <out> & \"about\"".to_owned()],
            latency,
            client_cpu_ns: 1_234.0,
            client_busy: 0.123,
            timeline: (1..=10).map(moment).collect(),
            cdf: vec![(40_000, 0.1), (52_000, 0.5), (130_000, 0.99), (3_700_000, 1.0)],
        }
    }

    #[test]
    fn what_rests_on_few_requests_is_marked_and_explained() {
        let few = |count| {
            let example = example();
            summary(&Outcome { latency: Latency { count, ..example.latency }, ..example })
        };
        let text = few(2_000);
        assert!(text.contains("p99 130 us  p999 1.50 ms?  p9999 3.00 ms?  max 3.70 ms"), "{text}");
        let explained = "? is chance: fewer than 10 requests took longer. p999 takes 10000 requests, there were 2000";
        assert!(text.contains(explained), "{text}");
        assert!(few(10_000).contains("p999 1.50 ms  p9999 3.00 ms?"));
        assert!(!few(100_000).contains('?'));
    }

    #[test]
    fn a_summary_has_every_figure() {
        let text = summary(&example());
        for part in [
            "1000000 in 10.00 s",
            "100.0k requests/s\n",
            "p50 52.0 us  p90 90.0 us  p99 130 us  p999 1.50 ms  p9999 3.00 ms  max 3.70 ms",
            "90.00 % of 900000 keys",
            "100000 sets, 0 deletes",
            "1.23 us per request, 12 % busy",
            "1 (0 wrong values), 0 requests unanswered",
            "SERVER_ERROR <out>",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        let open = Outcome { offered_rate: Some(200_000.0), hit_ratio: None, ..example() };
        let text = summary(&open);
        assert!(text.contains("100.0k requests/s of 200.0k requests/s that were offered"));
        assert!(!text.contains("hits"));
        let anew = Outcome { reconnected: 12_345, ..example() };
        assert!(summary(&anew).contains("connections  12345 new ones, 1.2k/s; 0 were lost"));
        let busy = Outcome { client_busy: 0.99, ..example() };
        assert!(summary(&busy).contains("the generator may be the bottleneck"));
    }
}
