// SPDX-License-Identifier: Apache-2.0
//! The page of a comparison: a part for each load, with a curve for each server.

use super::{heading, rate, rows};
use crate::report::html::{escape, how, page, table};
use crate::report::plot::{Plot, Scale, Series, Style, Unit};
use crate::report::plots::{cdf_plot, curve_plot, curve_point, p999_over_time};
use crate::units::show_rate;
use crate::{Comparison, Outcome, Percentile, Provenance, Sample};

/// The page of a comparison.
pub fn page_of(found: &[Comparison], provenance: &Provenance) -> String {
    let contenders = found.first().map_or(&[][..], |comparison| &comparison.contenders);
    let lines = contenders.iter().map(|one| format!("{}: {}", one.name, one.command));
    let lines: Vec<String> = lines.collect();
    let mut parts = Vec::new();
    for load in found.chunk_by(|a, b| a.name == b.name) {
        parts.extend(part(load));
    }
    parts.push(how(provenance));
    page("cacheperf compare", &lines, &parts)
}

/// A plot that stands for the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Emblem {
    /// p999 against throughput.
    #[default]
    P999,
    /// CPU time of the server per request against throughput.
    Cpu,
}

/// The plot that stands for the others, of the first load.
pub fn svg_of(found: &[Comparison], emblem: Emblem, provenance: &Provenance) -> String {
    let load = found.chunk_by(|a, b| a.name == b.name).next().unwrap_or_default();
    let plot = match (emblem, load) {
        (Emblem::Cpu, load) => cpu_plot(load),
        (Emblem::P999, []) => curve_plot(Vec::new()),
        (Emblem::P999, [one]) => curve_plot(rounds(one)),
        (Emblem::P999, all) => curve_plot(curves(all)),
    };
    plot.file(&provenance.command)
}

/// One load, at all its rates.
fn part(load: &[Comparison]) -> Vec<String> {
    let mut parts = Vec::new();
    let name = load.first().map_or("", |comparison| comparison.name.as_str());
    if !name.is_empty() {
        parts.push(format!("<h2>{}</h2>\n", escape(name)));
    }
    if load.len() > 1 {
        parts.push(curve_plot(curves(load)).figure());
        parts.push(cpu_plot(load).figure());
    }
    for comparison in load {
        if load.len() > 1 {
            let offered = comparison.contenders.first().and_then(|one| one.samples.first());
            let offered = offered.and_then(|sample| sample.outcome.offered_rate).map(show_rate);
            let offered = offered.unwrap_or_default();
            let name = if name.is_empty() { String::new() } else { format!("{}, ", escape(name)) };
            parts.push(format!("<h3>{name}{offered} requests/s</h3>\n"));
        }
        let lines = heading(comparison).into_iter();
        parts.extend(lines.map(|line| format!("<p>{}</p>\n", escape(&line))));
        parts.push(table(&rows(comparison)));
        if load.len() == 1 {
            parts.push(curve_plot(rounds(comparison)).figure());
        }
        let typical = typical(comparison);
        parts.push(cdf_plot(&typical).figure());
        parts.push(p999_over_time(&typical).figure());
    }
    parts
}

fn p999(sample: &Sample) -> f64 {
    sample.outcome.latency.p999 as f64
}

/// A line for each server through the medians of all rates. A dot is doubtful if one of the rounds is.
fn curves(load: &[Comparison]) -> Vec<Series> {
    let names = load[0].contenders.iter().map(|contender| contender.name.clone());
    let curve = |(server, name): (usize, String)| {
        let at = |comparison: &Comparison| {
            let contender = &comparison.contenders[server];
            let known = |sample: &Sample| Percentile::P999.is_known(&sample.outcome.latency);
            let place = (contender.spreads(rate).median, contender.spreads(p999).median);
            (place, !contender.samples.iter().all(known))
        };
        let mut points: Vec<_> = load.iter().map(at).collect();
        points.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
        Series::with_doubts(name, Style::Dotted, points)
    };
    names.enumerate().map(curve).collect()
}

/// What a request costs a server at each rate: the medians.
fn cpu_plot(load: &[Comparison]) -> Plot {
    let contenders = load.first().map_or(&[][..], |comparison| &comparison.contenders);
    let names = contenders.iter().map(|contender| contender.name.clone());
    let cpu = |sample: &Sample| sample.server_cpu_ns.unwrap_or(f64::NAN);
    let curve = |(server, name): (usize, String)| {
        let contenders = load.iter().map(|comparison| &comparison.contenders[server]);
        let points = contenders.map(|one| (one.spreads(rate).median, one.spreads(cpu).median));
        let mut points: Vec<_> = points.collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series::new(name, Style::Dotted, points)
    };
    Plot::new(
        "CPU time of the server per request",
        ("throughput (requests/s)", Unit::Rate, Scale::Linear),
        ("CPU time per request", Unit::Time, Scale::Linear),
        names.enumerate().map(curve).collect(),
    )
}

/// A dot for each round.
fn rounds(comparison: &Comparison) -> Vec<Series> {
    let dots = comparison.contenders.iter().map(|contender| {
        let points = contender.samples.iter().map(|sample| curve_point(&sample.outcome));
        Series::with_doubts(&contender.name, Style::Dots, points)
    });
    dots.collect()
}

/// The round that is typical of each server.
fn typical(comparison: &Comparison) -> Vec<(String, &Outcome)> {
    let typical = comparison.contenders.iter();
    typical.filter_map(|one| Some((one.name.clone(), &one.typical()?.outcome))).collect()
}
