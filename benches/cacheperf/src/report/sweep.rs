// SPDX-License-Identifier: Apache-2.0
//! The results of a search as text and as a page.

use super::html::{cdf_plot, curve_plot, escape, page, rows, table, timeline_plot};
use super::plot::{Series, Style};
use super::text;
use crate::units::{show_ns, show_rate};
use crate::{Percentile, Step, Sweep, Verdict};

fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Held => "held",
        Verdict::TooSlow => "p999 above the bound",
        Verdict::TooMuch => "less answered than offered",
        Verdict::Errors => "errors",
    }
}

/// One step in a line.
pub fn step_line(step: &Step) -> String {
    let shown = |percentile| text::percentile(&step.outcome.latency, percentile);
    format!(
        "{:>8}/s offered  {:>8}/s answered  p50 {:>8}  p99 {:>8}  p999 {:>8}  {}",
        show_rate(step.rate),
        show_rate(step.outcome.rate),
        shown(Percentile::P50),
        shown(Percentile::P99),
        shown(Percentile::P999),
        words(step.verdict)
    )
}

fn verdict(sweep: &Sweep) -> String {
    let bound = show_ns(sweep.p999_max as f64);
    match sweep.best {
        Some(rate) => {
            format!("highest rate with p999 up to {bound}: {} requests/s", show_rate(rate))
        }
        None => format!(
            "no rate was found that keeps p999 up to {bound}; below {} requests/s a step has too few \
             requests for a p999, unless -D is longer",
            show_rate(sweep.rate_min)
        ),
    }
}

/// What was found.
pub fn summary(sweep: &Sweep) -> String {
    let found = sweep.best_step().map_or(String::new(), |step| text::summary(&step.outcome));
    format!("{}\n{found}", verdict(sweep))
}

/// The page of a search.
pub fn page_of(sweep: &Sweep) -> String {
    let mut lines = vec![verdict(sweep)];
    if let Some(step) = sweep.steps.first() {
        lines.insert(0, step.outcome.target.clone());
    }
    let mut steps: Vec<&Step> = sweep.steps.iter().collect();
    steps.sort_by(|a, b| a.outcome.rate.total_cmp(&b.outcome.rate));
    let points = |held: bool| {
        let of = steps.iter().filter(|step| (step.verdict == Verdict::Held) == held);
        of.map(|step| (step.outcome.rate, step.outcome.latency.p999 as f64)).collect::<Vec<_>>()
    };
    let widest = steps.last().map_or(1.0, |step| step.outcome.rate);
    let bound = sweep.p999_max as f64;
    let curve = curve_plot(vec![
        Series { name: "held".to_owned(), style: Style::Dotted, points: points(true) },
        Series { name: "did not hold".to_owned(), style: Style::Dots, points: points(false) },
        Series {
            name: format!("bound: {}", show_ns(bound)),
            style: Style::Bound,
            points: vec![(0.0, bound), (widest, bound)],
        },
    ]);
    let latencies = steps.iter().map(|step| &step.outcome.latency);
    lines.extend(text::doubt(&Percentile::ALL, latencies));
    let mut parts = vec![
        table(&rows(steps.iter().map(|step| (words(step.verdict), &step.outcome)))),
        curve.figure(),
    ];
    if let Some(best) = sweep.best_step().or(sweep.steps.first()) {
        let name = format!("at {} requests/s", show_rate(best.rate));
        parts.push(format!("<p>{}</p>\n", escape(&best.outcome.load)));
        parts.push(cdf_plot(&[(name, &best.outcome)]).figure());
        parts.push(timeline_plot(&best.outcome).figure());
    }
    page("cacheperf sweep", &lines, &parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::html::tests::counted;
    use crate::report::text::tests::example;
    use crate::{Latency, Outcome};

    fn step(rate: f64, p999: u64, verdict: Verdict) -> Step {
        let latency = Latency { p999, ..example().latency };
        let outcome = Outcome { rate, latency, offered_rate: Some(rate), ..example() };
        Step { rate, verdict, outcome }
    }

    #[test]
    fn a_page_has_the_curve_and_each_step_with_its_verdict() {
        let steps = vec![
            step(1_000.0, 200_000, Verdict::Held),
            step(2_000.0, 1_500_000, Verdict::TooSlow),
            // The same rate again.
            step(2_000.0, 300_000, Verdict::Held),
            step(4_000.0, 9_000_000, Verdict::TooMuch),
        ];
        let page =
            page_of(&Sweep { p999_max: 1_000_000, rate_min: 1_000.0, best: Some(2_000.0), steps });
        // The curve of what held and the bound; a distribution; four latencies over time.
        assert_eq!(counted(&page), (3, 2 + 1 + 4));
        assert_eq!(page.matches("<td>held</td>").count(), 2);
        assert_eq!(page.matches("<td>p999 above the bound</td>").count(), 1);
        assert!(page.contains("highest rate with p999 up to 1.00 ms: 2.0k requests/s"));
    }

    #[test]
    fn a_search_without_a_step_has_a_page() {
        let page = page_of(&Sweep { p999_max: 1, rate_min: 1.0, best: None, steps: Vec::new() });
        assert_eq!(counted(&page), (1, 1));
    }
}
