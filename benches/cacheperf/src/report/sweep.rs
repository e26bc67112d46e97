// SPDX-License-Identifier: Apache-2.0
//! The results of a search as text and as a page.

use super::html::{escape, how, page, rows, table};
use super::plot::{Plot, Series, Style};
use super::plots::{cdf_plot, curve_plot, curve_point, timeline_plot};
use super::text;
use crate::units::{show_ns, show_rate};
use crate::{Outcome, Percentile, Provenance, Step, Sweep, Verdict};

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
    ) + if step.outcome.generator_absences.decide_p999() {
        ", the generator did not always run"
    } else {
        ""
    }
}

fn verdict(sweep: &Sweep) -> String {
    let bound = show_ns(sweep.p999_max as f64);
    match sweep.best {
        Some(rate) => {
            format!("highest rate with p999 up to {bound}: {} requests/s", show_rate(rate))
        }
        None => format!(
            "{}no rate was found that keeps p999 up to {bound}; below {} requests/s a step has too few \
             requests for a p999, unless -D is longer",
            sweep.machine.as_ref().map_or(String::new(), |machine| alone(sweep, machine)),
            show_rate(sweep.rate_min)
        ),
    }
}

/// What the machine does without the server.
fn alone(sweep: &Sweep, machine: &Outcome) -> String {
    let (p999, rate) = (show_ns(machine.latency.p999 as f64), show_rate(sweep.rate_min));
    if machine.latency.p999 > sweep.p999_max {
        format!(
            "the machine alone exceeds the bound: a server that does nothing has a p999 of {p999} at {rate} \
             requests/s here, so nothing is known of this one; "
        )
    } else {
        format!("a server that does nothing has a p999 of {p999} at {rate} requests/s here; ")
    }
}

/// What was found.
pub fn summary(sweep: &Sweep) -> String {
    let found = sweep.best_step().map_or(String::new(), |step| text::summary(&step.outcome));
    format!("{}\n{found}", verdict(sweep))
}

/// All steps by their throughput.
fn sorted(sweep: &Sweep) -> Vec<&Step> {
    let mut steps: Vec<&Step> = sweep.steps.iter().collect();
    steps.sort_by(|a, b| a.outcome.rate.total_cmp(&b.outcome.rate));
    steps
}

/// p999 against throughput, with the bound.
fn curve(sweep: &Sweep) -> Plot {
    let steps = sorted(sweep);
    let points = |held: bool| {
        let of = steps.iter().filter(|step| (step.verdict == Verdict::Held) == held);
        of.map(|step| curve_point(&step.outcome)).collect::<Vec<_>>()
    };
    let widest = steps.last().map_or(1.0, |step| step.outcome.rate);
    let bound = sweep.p999_max as f64;
    curve_plot(vec![
        Series::with_doubts("held", Style::Dotted, points(true)),
        Series::with_doubts("did not hold", Style::Dots, points(false)),
        Series::new(
            format!("bound: {}", show_ns(bound)),
            Style::Bound,
            [(0.0, bound), (widest, bound)],
        ),
    ])
}

/// The plot that stands for the others.
pub fn svg_of(sweep: &Sweep, provenance: &Provenance) -> String {
    curve(sweep).file(&provenance.command)
}

/// The page of a search.
pub fn page_of(sweep: &Sweep, provenance: &Provenance) -> String {
    let mut lines = vec![verdict(sweep)];
    if let Some(step) = sweep.steps.first() {
        lines.insert(0, step.outcome.target.clone());
    }
    let steps = sorted(sweep);
    let latencies = steps.iter().map(|step| &step.outcome.latency);
    lines.extend(text::doubt(&Percentile::ALL, latencies));
    let mut parts = vec![
        table(&rows(steps.iter().map(|step| (words(step.verdict), &step.outcome)))),
        curve(sweep).figure(),
    ];
    if let Some(best) = sweep.best_step().or(sweep.steps.first()) {
        let name = format!("at {} requests/s", show_rate(best.rate));
        parts.push(format!("<p>{}</p>\n", escape(&best.outcome.load)));
        parts.push(cdf_plot(&[(name, &best.outcome)]).figure());
        parts.push(timeline_plot(&best.outcome).figure());
    }
    parts.push(how(provenance));
    page("cacheperf sweep", &lines, &parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Latency;
    use crate::report::html::tests::counted;
    use crate::report::text::tests::{example, provenance};

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
        let page = page_of(
            &Sweep {
                p999_max: 1_000_000,
                rate_min: 1_000.0,
                best: Some(2_000.0),
                machine: None,
                steps,
            },
            &provenance(),
        );
        // The curve of what held and the bound; a distribution; four latencies over time.
        assert_eq!(counted(&page), (3, 2 + 1 + 4));
        assert_eq!(page.matches("<td>held</td>").count(), 2);
        assert_eq!(page.matches("<td>p999 above the bound</td>").count(), 1);
        assert!(page.contains("highest rate with p999 up to 1.00 ms: 2.0k requests/s"));
    }

    #[test]
    fn a_machine_that_exceeds_the_bound_itself_is_named() {
        let steps = vec![step(1_000.0, 2_000_000, Verdict::TooSlow)];
        let mut found =
            Sweep { p999_max: 1_000_000, rate_min: 1_000.0, best: None, machine: None, steps };
        assert!(verdict(&found).starts_with("no rate was found"), "{}", verdict(&found));
        let machine = |p999| {
            let latency = Latency { p999, ..example().latency };
            Some(Outcome { latency, ..example() })
        };
        found.machine = machine(1_500_000);
        let words = verdict(&found);
        assert!(
            words.starts_with("the machine alone exceeds the bound: a server that does"),
            "{words}"
        );
        assert!(words.contains("p999 of 1.50 ms at 1.0k requests/s"), "{words}");
        found.machine = machine(300_000);
        let words = verdict(&found);
        assert!(words.starts_with("a server that does nothing has a p999 of 300 us"), "{words}");
    }

    #[test]
    fn a_search_without_a_step_has_a_page() {
        let page = page_of(
            &Sweep { p999_max: 1, rate_min: 1.0, best: None, machine: None, steps: Vec::new() },
            &provenance(),
        );
        assert_eq!(counted(&page), (1, 1));
    }
}
