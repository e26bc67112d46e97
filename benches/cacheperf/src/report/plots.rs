// SPDX-License-Identifier: Apache-2.0
//! The plots of all reports.

use super::plot::{Plot, Scale, Series, Style, Unit};
use crate::{Latency, Moment, Outcome, Percentile};

/// p999 against throughput.
pub(crate) fn curve_plot(series: Vec<Series>) -> Plot {
    Plot::new(
        "p999 against throughput",
        ("throughput (requests/s)", Unit::Rate, Scale::Linear),
        ("p999 latency", Unit::Time, Scale::Log),
        series,
    )
}

/// Throughput and p999 of a run, and whether that rests on too few requests.
pub(crate) fn curve_point(outcome: &Outcome) -> ((f64, f64), bool) {
    let latency = &outcome.latency;
    ((outcome.rate, latency.p999 as f64), !Percentile::P999.is_known(latency))
}

/// p999 against throughput within one run: its slices of time, and the whole.
pub(crate) fn slices_plot(outcome: &Outcome) -> Plot {
    let apart = |moment: &&Moment| Percentile::P999.is_apart(&moment.latency);
    let slices = outcome.timeline.iter().filter(apart);
    let points = slices.map(|moment| (moment.rate, moment.latency.p999 as f64));
    let whole = [curve_point(outcome)];
    let plot = curve_plot(vec![
        Series::with_doubts("the whole run", Style::Dotted, whole),
        Series::new("slices of time", Style::Dots, points),
    ]);
    plot.with_note(scatter(outcome))
}

/// How many requests took how long.
pub(crate) fn cdf_plot(outcomes: &[(String, &Outcome)]) -> Plot {
    let all = outcomes.iter().map(|(name, one)| (name.clone(), &one.cdf[..], &one.latency));
    cdf_of(&all.collect::<Vec<_>>())
}

/// A name, the pairs of a latency and the share of requests that took no longer, and the latencies in short.
pub(crate) type Distribution<'a> = (String, &'a [(u64, f64)], &'a Latency);

/// The same of distributions.
pub(crate) fn cdf_of(distributions: &[Distribution<'_>]) -> Plot {
    let series = distributions.iter().map(|(name, cdf, latency)| {
        // The longest stands half a request below the end, which no such scale reaches.
        let end = 1.0 - 0.5 / latency.count.max(1) as f64;
        // Between two latencies that occurred the share stays as it was.
        let before = std::iter::once(0.0).chain(cdf.iter().map(|(_, share)| *share));
        let steps = cdf.iter().zip(before).flat_map(|((ns, share), before)| {
            [(*ns as f64, before.min(end)), (*ns as f64, share.min(end))]
        });
        Series::new(name, Style::Line, steps.collect::<Vec<_>>())
    });
    Plot::new(
        "Latency distribution (CDF)",
        ("latency", Unit::Time, Scale::Log),
        ("share of requests that took no longer", Unit::Share, Scale::Nines),
        series.collect(),
    )
}

/// What a reader has to know of slices that have too few requests for a p999; nothing where they have enough.
fn scatter(outcome: &Outcome) -> Option<String> {
    let mut slices: Vec<&Latency> = outcome.timeline.iter().map(|moment| &moment.latency).collect();
    slices.retain(|latency| latency.count > 0);
    slices.sort_by_key(|latency| latency.count);
    let usual = slices.get(slices.len() / 2)?;
    (!Percentile::P999.is_known(usual)).then(|| {
        format!(
            "A slice of time has some {} requests. p999 takes {} to be known; with fewer it scatters, and where \
             it is no other than the longest it is left out.",
            usual.count,
            Percentile::P999.requests_min()
        )
    })
}

/// The time axis of a run.
const TIME: (&str, Unit, Scale) =
    ("time since the start, warm-up included (s)", Unit::Seconds, Scale::Linear);

/// A percentile of each slice of time. The line breaks where it is no other than the longest, and where nothing
/// was answered.
fn over_time(outcome: &Outcome, name: &str, percentile: Percentile) -> Series {
    let of =
        |latency: &Latency| percentile.is_apart(latency).then(|| percentile.of(latency) as f64);
    line_of(outcome, name, of)
}

/// What `of` says of each slice of time. The line breaks where that is nothing.
fn line_of(outcome: &Outcome, name: &str, of: impl Fn(&Latency) -> Option<f64>) -> Series {
    let points = outcome.timeline.iter();
    let points = points.map(|moment| (moment.at_s, of(&moment.latency).unwrap_or(f64::NAN)));
    Series::new(name, Style::Line, points.collect::<Vec<_>>())
}

/// Latencies over time.
pub(crate) fn timeline_plot(outcome: &Outcome) -> Plot {
    let line = |percentile: Percentile| over_time(outcome, percentile.name(), percentile);
    let longest = |latency: &Latency| (latency.count > 0).then_some(latency.max as f64);
    let plot = Plot::new(
        "Latency over time",
        TIME,
        ("latency", Unit::Time, Scale::Log),
        vec![
            line(Percentile::P50),
            line(Percentile::P99),
            line(Percentile::P999),
            line_of(outcome, "longest", longest),
        ],
    );
    shaded(plot.with_note(scatter(outcome)), &[outcome])
}

/// p999 over time of several runs at once.
pub(crate) fn p999_over_time(outcomes: &[(String, &Outcome)]) -> Plot {
    let series = outcomes.iter().map(|(name, outcome)| over_time(outcome, name, Percentile::P999));
    let y = ("p999 latency", Unit::Time, Scale::Log);
    Plot::new("p999 over time", TIME, y, series.collect())
}

/// Replies over time, and where connections broke.
pub(crate) fn throughput_plot(outcome: &Outcome) -> Plot {
    let of = |value: fn(&Moment) -> f64| {
        outcome.timeline.iter().map(|moment| (moment.at_s, value(moment))).collect::<Vec<_>>()
    };
    let mut lost = of(|moment| moment.rate);
    let mut moments = outcome.timeline.iter();
    lost.retain(|_| moments.next().is_some_and(|moment| moment.lost_connections > 0));
    let mut series = vec![Series::new("answered", Style::Line, of(|moment| moment.rate))];
    if let Some(rate) = outcome.offered_rate {
        let points = of(|_| 0.0).into_iter().map(|(at, _)| (at, rate));
        series.push(Series::new("offered", Style::Bound, points));
    }
    if !lost.is_empty() {
        series.push(Series::new("connections lost", Style::Dotted, lost));
    }
    let y = ("requests/s", Unit::Rate, Scale::Linear);
    shaded(Plot::new("Throughput over time", TIME, y, series), &[outcome])
}

/// Shades the times in which the generator did not run.
fn shaded(plot: Plot, outcomes: &[&Outcome]) -> Plot {
    let times = outcomes.iter().flat_map(|outcome| &outcome.generator_absences.times);
    plot.with_shades("the generator did not run", times.copied().collect())
}
