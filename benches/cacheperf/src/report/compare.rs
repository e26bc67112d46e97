// SPDX-License-Identifier: Apache-2.0
//! The results of a comparison as text and as a page.

mod page;

pub use page::{Emblem, page_of, svg_of};

use super::text;
use crate::units::{show_ns, show_rate};
use crate::{Comparison, Contender, Percentile, Sample, Spreads};
use std::fmt::Write;

/// A figure of a sample: its name, where it is in a sample, how it is shown, and the percentile that it is.
type Figure = (&'static str, fn(&Sample) -> f64, fn(f64) -> String, Option<Percentile>);

/// The figures with a spread and a ratio to the first server.
const FIGURES: [Figure; 5] = [
    ("requests/s", rate, show_rate, None),
    ("server CPU/request", |sample| sample.server_cpu_ns.unwrap_or(f64::NAN), nanoseconds, None),
    ("p50", |sample| sample.outcome.latency.p50 as f64, show_ns, Some(Percentile::P50)),
    ("p99", |sample| sample.outcome.latency.p99 as f64, show_ns, Some(Percentile::P99)),
    ("p999", |sample| sample.outcome.latency.p999 as f64, show_ns, Some(Percentile::P999)),
];

fn rate(sample: &Sample) -> f64 {
    sample.outcome.rate
}

/// A figure that may be missing.
fn nanoseconds(ns: f64) -> String {
    if ns.is_nan() { "–".to_owned() } else { format!("{ns:.0} ns") }
}

fn with_spread(spreads: Spreads, mark: &str, show: impl Fn(f64) -> String) -> String {
    format!("{}{mark} [{} – {}]", show(spreads.median), show(spreads.min), show(spreads.max))
}

/// `?` if one of the samples has too few requests for the percentile.
fn mark(contender: &Contender, percentile: Option<Percentile>) -> &'static str {
    let known =
        |sample: &Sample| percentile.is_none_or(|one| one.is_known(&sample.outcome.latency));
    if contender.samples.iter().all(known) { "" } else { text::DOUBT }
}

/// The table by rows, of which the first has the names of the servers.
fn rows(comparison: &Comparison) -> Vec<Vec<String>> {
    let contenders = &comparison.contenders;
    let row = |title: &str, cells: Vec<String>| {
        std::iter::once(title.to_owned()).chain(cells).collect::<Vec<_>>()
    };
    let mut rows = vec![row("", contenders.iter().map(|one| one.name.clone()).collect())];
    for (title, of, show, percentile) in FIGURES {
        let cells =
            contenders.iter().map(|one| with_spread(one.spreads(of), mark(one, percentile), show));
        rows.push(row(title, cells.collect()));
        let ratios = contenders
            .iter()
            .map(|one| with_spread(comparison.ratios(one, of), "", |ratio| format!("{ratio:.2}")));
        rows.push(row("  to the first", ratios.collect()));
    }
    let hits = contenders.iter().map(|one| {
        let hits = one.spreads(|sample| sample.outcome.hit_ratio.unwrap_or(f64::NAN)).median;
        if hits.is_nan() { "–".to_owned() } else { format!("{:.2} %", 100.0 * hits) }
    });
    rows.push(row("hits", hits.collect()));
    let sum = |of: fn(&Sample) -> u64| {
        contenders.iter().map(|one| one.samples.iter().map(of).sum::<u64>().to_string()).collect()
    };
    rows.push(row("errors", sum(|sample| sample.outcome.errors)));
    rows.push(row("unanswered", sum(|sample| sample.outcome.unanswered)));
    let absences = |one: &Contender| {
        let absences = one.samples.iter().map(|sample| sample.outcome.generator_absences.total_ns);
        show_ns(absences.sum::<u64>() as f64)
    };
    rows.push(row("generator absent", contenders.iter().map(absences).collect()));
    let client = contenders
        .iter()
        .map(|one| nanoseconds(one.spreads(|sample| sample.outcome.client_cpu_ns).median));
    rows.push(row("client CPU/request", client.collect()));
    rows
}

/// What is said above a table.
fn heading(comparison: &Comparison) -> Vec<String> {
    let rounds = comparison.contenders.first().map_or(0, |contender| contender.samples.len());
    let mut lines = vec![comparison.load.clone()];
    if let Some(peak) = comparison.peak {
        let first = comparison.contenders.first().map_or("", |contender| contender.name.as_str());
        let rate = show_rate(peak.rate);
        lines.push(format!(
            "{:.0} % of the peak of {first}, {rate} requests/s in a closed loop",
            100.0 * peak.share
        ));
        if peak.client_busy > super::text::BUSY_MAX {
            let busy = 100.0 * peak.client_busy;
            lines.push(format!(
                "the generator was {busy:.0} % busy then: the peak may be its own, so give it more threads"
            ));
        }
    }
    lines.push(format!("median [least – largest] of {rounds} rounds"));
    let samples = comparison.contenders.iter().flat_map(|contender| &contender.samples);
    let percentiles = FIGURES.map(|(_, _, _, percentile)| percentile);
    let percentiles: Vec<Percentile> = percentiles.into_iter().flatten().collect();
    lines.extend(text::doubt(&percentiles, samples.map(|sample| &sample.outcome.latency)));
    lines
}

/// A table for each load and rate: medians with the least and the largest.
pub fn summary(found: &[Comparison]) -> String {
    let tables: Vec<String> = found.iter().map(one).collect();
    tables.join("\n")
}

fn one(comparison: &Comparison) -> String {
    let rows = rows(comparison);
    let name = &comparison.name;
    let mut out = if name.is_empty() { String::new() } else { format!("{name}: ") };
    for line in heading(comparison) {
        // A string takes everything.
        let _ = writeln!(out, "{line}");
    }
    out.push_str(&text::columns(&rows));
    for contender in &comparison.contenders {
        let errors = contender.samples.iter().flat_map(|sample| &sample.outcome.first_errors);
        for words in errors.take(3) {
            let _ = writeln!(out, "{}: {words}", contender.name);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::html::tests::counted;
    use crate::report::text::tests::{example, provenance};
    use crate::{Contender, Latency, Outcome, Peak};

    /// Three rounds of two servers at a rate, of which the second takes half as long.
    fn comparison(name: &str, rate: f64) -> Comparison {
        let sample = |round: usize, part: u64| {
            let slower = 1 + round as u64;
            let latency = Latency {
                p50: slower * 100_000 / part,
                p99: slower * 400_000 / part,
                p999: slower * 1_000_000 / part,
                ..example().latency
            };
            let outcome =
                Outcome { latency, rate, offered_rate: Some(rate), errors: 0, ..example() };
            Sample { round, server_cpu_ns: Some(1_000.0), outcome }
        };
        let contender = |name: &str, part: u64| Contender {
            name: name.to_owned(),
            command: format!("{name} --port 1"),
            version: None,
            samples: (0..3).map(|round| sample(round, part)).collect(),
        };
        let contenders = vec![contender("first", 1), contender("second", 2)];
        let peak = Some(Peak { rate: rate * 2.0, share: 0.5, client_busy: 0.5 });
        let load = format!("open loop at {rate} requests/s");
        Comparison { name: name.to_owned(), load, peak, contenders }
    }

    #[test]
    fn latencies_have_spreads_and_ratios() {
        let text = summary(&[comparison("gets", 10_000.0)]);
        for part in [
            "gets: open loop at 10000 requests/s\n50 % of the peak of first, 20.0k requests/s",
            "median [least – largest] of 3 rounds",
            "p50                 200 us [100 us – 300 us]     100 us [50.0 us – 150 us]",
            "p99                 800 us [400 us – 1.20 ms]",
            "p999                2.00 ms [1.00 ms – 3.00 ms]  1.00 ms [500 us – 1.50 ms]",
            "  to the first      1.00 [1.00 – 1.00]           0.50 [0.50 – 0.50]",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn a_percentile_of_too_few_requests_is_marked() {
        let mut found = comparison("", 10_000.0);
        assert!(!summary(&[found.clone()]).contains('?'));
        // One round of one server is enough to doubt the median.
        found.contenders[1].samples[0].outcome.latency.count = 5_000;
        let text = summary(&[found]);
        assert!(text.contains("2.00 ms [1.00 ms – 3.00 ms]  1.00 ms? [500 us"), "{text}");
        assert!(text.contains("p999 takes 10000 requests, there were 5000"), "{text}");
    }

    #[test]
    fn a_peak_of_the_generator_is_named() {
        let mut found = comparison("", 1.0);
        found.peak = Some(Peak { rate: 1.0, share: 1.0, client_busy: 0.99 });
        assert!(summary(&[found]).contains("99 % busy then: the peak may be its own"));
    }

    #[test]
    fn a_page_has_a_curve_for_each_server() {
        // One load at three rates, another at one.
        let rates = [10_000.0, 20_000.0, 30_000.0].map(|rate| comparison("gets", rate));
        let mut found = rates.to_vec();
        let page = page_of(&found, &provenance());
        // Two curves for all rates; for each rate a distribution and p999 over time, of two servers.
        assert_eq!(counted(&page), (2 + 3 * 2, 2 * 2 + 3 * (2 + 2)));
        let svg = |emblem| svg_of(&found, emblem, &provenance());
        assert!(svg(Emblem::P999).contains(">p999 against throughput</text>"));
        assert!(svg(Emblem::Cpu).contains(">CPU time of the server per request</text>"));
        found.push(comparison("sets", 5_000.0));
        let page = page_of(&found, &provenance());
        assert_eq!(counted(&page).0, 2 + 3 * 2 + 3);
        for part in [
            "<h2>gets</h2>",
            "<h3>gets, 10.0k requests/s</h3>",
            "<h2>sets</h2>",
            "first: first --port 1",
        ] {
            assert!(page.contains(part), "{part}");
        }
    }
}
