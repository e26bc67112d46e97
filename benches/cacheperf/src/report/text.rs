// SPDX-License-Identifier: Apache-2.0
//! Results as text.

use crate::units::{show_ns, show_rate};
use crate::{GeneratorAbsences, Latency, Outcome, Percentile, Provenance};
use std::fmt::Write;

/// The share of its CPU time from which on a closed loop waits for the generator as well.
pub(super) const BUSY_MAX: f64 = 0.9;

/// Where it was measured, and the versions of the servers.
pub fn provenance(provenance: &Provenance) -> String {
    let Provenance { generator, host, kernel, cpus, cpu, servers, .. } = provenance;
    let mut text = format!("{:<12} {generator} on {host}: {cpus} × {cpu}, {kernel}\n", "generator");
    for (number, server) in servers.iter().enumerate() {
        let title = if number == 0 { "version" } else { "" };
        let version = server.version.as_deref().unwrap_or("unknown");
        // A string takes everything.
        let _ = writeln!(text, "{title:<12} {}: {version}", server.name);
    }
    text
}

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
    if let Some(words) = absences(&outcome.generator_absences) {
        line("generator", words);
        if outcome.generator_absences.decide_p999() {
            line(
                "",
                "that is more than 0.1 % of the time: p999 may be the machine's, not the server's"
                    .to_owned(),
            );
        }
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

/// When the generator did not run, in words; `None` if it always did.
pub(crate) fn absences(absences: &GeneratorAbsences) -> Option<String> {
    let GeneratorAbsences { count, total_ns, longest_ns, share, .. } = absences;
    let times = if *count == 1 { "time" } else { "times" };
    (*count > 0).then(|| {
        format!(
            "did not run for {} ({:.2} %): {count} {times} for 1 ms or longer, {} at the most",
            show_ns(*total_ns as f64),
            100.0 * share,
            show_ns(*longest_ns as f64)
        )
    })
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

/// A table with columns as wide as they need to be.
pub(crate) fn columns(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let mut text = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let width = width(column).unwrap_or(0);
            // A string takes everything.
            let _ = write!(text, "{cell:<width$}  ");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
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
    use crate::{Moment, ServerFacts};

    /// A machine and a server.
    pub(crate) fn provenance() -> Provenance {
        Provenance {
            date: "2026-11-26T12:00:00Z".to_owned(),
            host: "machine".to_owned(),
            kernel: "Linux 6.12.0 x86_64".to_owned(),
            cpu: "A CPU".to_owned(),
            cpus: 2,
            generator: "cacheperf 0.1.0".to_owned(),
            servers: vec![ServerFacts {
                name: "memcache at 127.0.0.1:11211".to_owned(),
                version: Some("1.6.45".to_owned()),
            }],
            command: "cacheperf -m \"get=1\"".to_owned(),
        }
    }

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
            fan_out: None,
            generator_absences: GeneratorAbsences::default(),
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
    fn absences_of_the_generator_are_told() {
        let absences = GeneratorAbsences {
            count: 3,
            total_ns: 12_000_000,
            longest_ns: 5_000_000,
            share: 0.0012,
            waited_ns: 13_000_000,
            times: vec![(1.0, 1.005), (2.0, 2.004), (3.0, 3.003)],
        };
        let told = |absences| summary(&Outcome { generator_absences: absences, ..example() });
        let text = told(absences.clone());
        let line = "generator    did not run for 12.0 ms (0.12 %): 3 times for 1 ms or longer, 5.00 ms at the most\n";
        assert!(text.contains(line) && text.contains("p999 may be the machine's"), "{text}");
        let text = told(GeneratorAbsences { share: 0.0009, ..absences });
        assert!(text.contains("did not run") && !text.contains("p999 may be"), "{text}");
        assert!(!told(GeneratorAbsences::default()).contains("did not run"));
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
