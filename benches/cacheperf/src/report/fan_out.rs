// SPDX-License-Identifier: Apache-2.0
//! The results of a fan-out as text and as a page.

use super::html::{how, page, table};
use super::plot::{Plot, Scale, Series, Style, Unit};
use super::plots::{Distribution, cdf_of, p999_over_time};
use super::text;
use crate::fan_out::expected_share;
use crate::units::{show_ns, show_rate};
use crate::{FanOut, FanOuts, Outcome, Percentile, Provenance};

/// The widths with what was measured at each.
fn parts(found: &FanOuts) -> impl Iterator<Item = (&FanOut, &Outcome)> {
    found.widths.iter().filter_map(|outcome| Some((outcome.fan_out.as_ref()?, outcome)))
}

/// The table by rows, of which the first has the titles.
fn rows(found: &FanOuts) -> Vec<Vec<String>> {
    let titles = [
        "fan-out",
        "users' requests/s",
        "p50",
        "p90",
        "p99",
        "p999",
        "max",
        "within p99 of one",
        "by arithmetic",
        "p99 of a part",
        "errors",
    ];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    for (fan, outcome) in parts(found) {
        let mut row = vec![fan.width.to_string(), show_rate(fan.rate)];
        let shown = [Percentile::P50, Percentile::P90, Percentile::P99, Percentile::P999];
        row.extend(shown.map(|one| text::percentile(&fan.latency, one)));
        row.push(show_ns(fan.latency.max as f64));
        row.push(percent(fan.share_within(found.p99_of_one)));
        row.push(percent(expected_share(fan.width)));
        row.push(text::percentile(&outcome.latency, Percentile::P99));
        row.push(outcome.errors.to_string());
        rows.push(row);
    }
    rows
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// What is said above the table.
fn heading(found: &FanOuts) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if let Some(first) = found.widths.first() {
        lines.extend([first.target.clone(), first.load.clone()]);
    }
    lines.push(format!(
        "A user's request is several requests on different connections at once, and takes as long as the slowest of \
         them. The p99 of one is {}.",
        show_ns(found.p99_of_one as f64)
    ));
    let shown = [Percentile::P50, Percentile::P90, Percentile::P99, Percentile::P999];
    lines.extend(text::doubt(&shown, parts(found).map(|(fan, _)| &fan.latency)));
    for outcome in &found.widths {
        let width = outcome.fan_out.as_ref().map_or(0, |fan| fan.width);
        let words = text::absences(&outcome.generator_absences);
        lines.extend(words.map(|words| format!("With {width} the generator {words}.")));
    }
    lines
}

/// What was found.
pub fn summary(found: &FanOuts) -> String {
    let mut out = String::new();
    for line in heading(found) {
        out.push_str(&line);
        out.push('\n');
    }
    out.push_str(&text::columns(&rows(found)));
    for words in found.widths.iter().flat_map(|outcome| &outcome.first_errors).take(5) {
        out.push_str(words);
        out.push('\n');
    }
    out
}

/// Latency by the number of requests.
fn width_plot(found: &FanOuts) -> Plot {
    let line = |percentile: Percentile| {
        let points = parts(found).map(|(fan, _)| {
            let place = (fan.width as f64, percentile.of(&fan.latency) as f64);
            (place, !percentile.is_known(&fan.latency))
        });
        Series::with_doubts(percentile.name(), Style::Dotted, points)
    };
    let one = found.p99_of_one as f64;
    let widest = parts(found).map(|(fan, _)| fan.width).max().unwrap_or(1);
    Plot::new(
        "Latency by fan-out",
        ("requests that a user's request waits for", Unit::Count, Scale::Log),
        ("latency of the slowest", Unit::Time, Scale::Log),
        vec![
            line(Percentile::P50),
            line(Percentile::P99),
            line(Percentile::P999),
            Series::new("p99 of one request", Style::Bound, [(1.0, one), (widest as f64, one)]),
        ],
    )
}

/// The plot that stands for the others.
pub fn svg_of(found: &FanOuts, provenance: &Provenance) -> String {
    width_plot(found).file(&provenance.command)
}

/// The page of a fan-out.
pub fn page_of(found: &FanOuts, provenance: &Provenance) -> String {
    let named = |fan: &FanOut| match fan.width {
        1 => "one request".to_owned(),
        width => format!("slowest of {width}"),
    };
    let distributions: Vec<Distribution<'_>> =
        parts(found).map(|(fan, _)| (named(fan), &fan.cdf[..], &fan.latency)).collect();
    let runs: Vec<(String, &Outcome)> =
        parts(found).map(|(fan, outcome)| (format!("{} at once", fan.width), outcome)).collect();
    let parts = [
        table(&rows(found)),
        width_plot(found).figure(),
        cdf_of(&distributions).figure(),
        p999_over_time(&runs).figure(),
        how(provenance),
    ];
    page("cacheperf run --fan-out", &heading(found), &parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Latency;
    use crate::report::html::tests::counted;
    use crate::report::text::tests::{example, provenance};

    fn found() -> FanOuts {
        let run = |width: usize, p50: u64| {
            let latency = Latency { p50, p99: 3 * p50, count: 20_000, ..example().latency };
            let cdf = vec![(130_000, 0.99_f64.powi(width as i32)), (3_700_000, 1.0)];
            let fan_out = Some(FanOut { width, rate: 10_000.0 / width as f64, latency, cdf });
            Outcome { fan_out, ..example() }
        };
        FanOuts {
            p99_of_one: 130_000,
            widths: vec![run(1, 50_000), run(10, 90_000), run(100, 400_000)],
        }
    }

    #[test]
    fn the_table_has_the_arithmetic_beside_what_was_measured() {
        let text = summary(&found());
        for part in
            ["The p99 of one is 130 us.", "90.4 %             90.4 %", "36.6 %", "10.0k", "1.20 ms"]
        {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn a_page_has_latency_by_fan_out() {
        let page = page_of(&found(), &provenance());
        // Three percentiles and the bound; three distributions; p999 over time of three runs.
        assert_eq!(counted(&page), (3, 4 + 3 + 3));
        assert!(page.contains("<figcaption>Latency by fan-out</figcaption>"));
        let svg = svg_of(&found(), &provenance());
        assert!(svg.contains("requests that a user's request waits for"), "{svg}");
    }

    #[test]
    fn nothing_measured_has_a_page_too() {
        let nothing = FanOuts { p99_of_one: 0, widths: Vec::new() };
        assert_eq!(counted(&page_of(&nothing, &provenance())).0, 3);
    }
}
