// SPDX-License-Identifier: Apache-2.0
//! Results as one page: no script, nothing from elsewhere, readable in the dark and in the light. It is
//! well-formed XML as well, so programs can read it.

use super::plot::{Plot, Scale, Series, Style, Unit};
use super::text;
use crate::units::{show_ns, show_rate};
use crate::{Latency, Moment, Outcome, Percentile};
use std::fmt::Write;

/// What the page looks like.
const STYLE: &str = include_str!("page.css");

/// Text as it stands in a page.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

/// A whole page.
pub(crate) fn page(title: &str, lines: &[String], parts: &[String]) -> String {
    let title = escape(title);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    for line in lines {
        let _ = writeln!(out, "<p>{}</p>", escape(line));
    }
    parts.iter().for_each(|part| out.push_str(part));
    out.push_str("</body>\n</html>\n");
    out
}

/// A table; the first row has the titles.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let mut out = String::from("<div class=\"wide\"><table>\n");
    for (number, row) in rows.iter().enumerate() {
        let tag = if number == 0 { "th" } else { "td" };
        out.push_str("<tr>");
        for cell in row {
            let _ = write!(out, "<{tag}>{}</{tag}>", escape(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
    out
}

/// The page of one run.
pub fn run_page(outcome: &Outcome) -> String {
    let mut lines = vec![outcome.target.clone(), outcome.load.clone()];
    lines.extend(text::doubt(&Percentile::ALL, [&outcome.latency]));
    page("cacheperf run", &lines, &run_parts(outcome))
}

/// What the page of a run is made of.
pub(crate) fn run_parts(outcome: &Outcome) -> [String; 6] {
    [
        table(&rows([("the whole run", outcome)])),
        errors(outcome),
        slices_plot(outcome).figure(),
        cdf_plot(&[("all requests".to_owned(), outcome)]).figure(),
        timeline_plot(outcome).figure(),
        throughput_plot(outcome).figure(),
    ]
}

/// A table of runs, each with its name.
pub(crate) fn rows<'a>(
    outcomes: impl IntoIterator<Item = (&'static str, &'a Outcome)>,
) -> Vec<Vec<String>> {
    let titles = [
        "",
        "offered",
        "requests/s",
        "hits",
        "p50",
        "p90",
        "p99",
        "p999",
        "p9999",
        "max",
        "errors",
        "unanswered",
    ];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    for (name, outcome) in outcomes {
        let latency = &outcome.latency;
        let mut row = vec![
            name.to_owned(),
            outcome.offered_rate.map_or("closed loop".to_owned(), show_rate),
            show_rate(outcome.rate),
            outcome.hit_ratio.map_or("–".to_owned(), |ratio| format!("{:.2} %", 100.0 * ratio)),
        ];
        row.extend(Percentile::ALL.map(|percentile| text::percentile(latency, percentile)));
        row.push(show_ns(latency.max as f64));
        row.extend([outcome.errors, outcome.unanswered].map(|count| count.to_string()));
        rows.push(row);
    }
    rows
}

/// The first errors in words.
pub(crate) fn errors(outcome: &Outcome) -> String {
    let items = outcome.first_errors.iter();
    let items: String = items.map(|words| format!("<li>{}</li>\n", escape(words))).collect();
    if items.is_empty() { items } else { format!("<ul class=\"errors\">\n{items}</ul>\n") }
}

/// p999 against throughput.
pub(crate) fn curve_plot(series: Vec<Series>) -> Plot {
    Plot::new(
        "p999 against throughput",
        ("throughput (requests/s)", Unit::Rate, Scale::Linear),
        ("p999 latency", Unit::Time, Scale::Log),
        series,
    )
}

/// p999 against throughput within one run: its slices of time, and the whole.
fn slices_plot(outcome: &Outcome) -> Plot {
    let apart = |moment: &&Moment| Percentile::P999.is_apart(&moment.latency);
    let slices = outcome.timeline.iter().filter(apart);
    let points = slices.map(|moment| (moment.rate, moment.latency.p999 as f64)).collect();
    let whole = vec![(outcome.rate, outcome.latency.p999 as f64)];
    let plot = curve_plot(vec![
        Series { name: "the whole run".to_owned(), style: Style::Dotted, points: whole },
        Series { name: "slices of time".to_owned(), style: Style::Dots, points },
    ]);
    plot.with_note(scatter(outcome))
}

/// How many requests took how long.
pub(crate) fn cdf_plot(outcomes: &[(String, &Outcome)]) -> Plot {
    let series = outcomes.iter().map(|(name, outcome)| {
        // The longest stands half a request below the end, which no such scale reaches.
        let end = 1.0 - 0.5 / outcome.latency.count.max(1) as f64;
        // Between two latencies that occurred the share stays as it was.
        let before = std::iter::once(0.0).chain(outcome.cdf.iter().map(|(_, share)| *share));
        let steps = outcome.cdf.iter().zip(before).flat_map(|((ns, share), before)| {
            [(*ns as f64, before.min(end)), (*ns as f64, share.min(end))]
        });
        let points = steps.collect();
        Series { name: name.clone(), style: Style::Line, points }
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
pub(crate) const TIME: (&str, Unit, Scale) =
    ("time since the start, warm-up included (s)", Unit::Seconds, Scale::Linear);

/// A percentile of each slice of time. The line breaks where it is no other than the longest, and where nothing
/// was answered.
pub(crate) fn over_time(outcome: &Outcome, name: &str, percentile: Percentile) -> Series {
    let of =
        |latency: &Latency| percentile.is_apart(latency).then(|| percentile.of(latency) as f64);
    line_of(outcome, name, of)
}

/// What `of` says of each slice of time. The line breaks where that is nothing.
fn line_of(outcome: &Outcome, name: &str, of: impl Fn(&Latency) -> Option<f64>) -> Series {
    let points = outcome.timeline.iter();
    let points = points.map(|moment| (moment.at_s, of(&moment.latency).unwrap_or(f64::NAN)));
    Series { name: name.to_owned(), style: Style::Line, points: points.collect() }
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
    plot.with_note(scatter(outcome))
}

/// Replies over time, and where connections broke.
fn throughput_plot(outcome: &Outcome) -> Plot {
    let of = |value: fn(&Moment) -> f64| {
        outcome.timeline.iter().map(|moment| (moment.at_s, value(moment))).collect::<Vec<_>>()
    };
    let mut lost = of(|moment| moment.rate);
    let mut moments = outcome.timeline.iter();
    lost.retain(|_| moments.next().is_some_and(|moment| moment.lost_connections > 0));
    let mut series = vec![Series {
        name: "answered".to_owned(),
        style: Style::Line,
        points: of(|moment| moment.rate),
    }];
    if let Some(rate) = outcome.offered_rate {
        let points = of(|_| 0.0).into_iter().map(|(at, _)| (at, rate)).collect();
        series.push(Series { name: "offered".to_owned(), style: Style::Bound, points });
    }
    if !lost.is_empty() {
        let name = "connections lost".to_owned();
        series.push(Series { name, style: Style::Dotted, points: lost });
    }
    Plot::new("Throughput over time", TIME, ("requests/s", Unit::Rate, Scale::Linear), series)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::report::text::tests::example;

    /// Reads a page as XML: how many plots it has, and how many lines are in them. Nothing in it is from
    /// elsewhere.
    pub(crate) fn counted(page: &str) -> (usize, usize) {
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(page, options).unwrap();
        let named = |name: &'static str| {
            document.descendants().filter(move |node| node.tag_name().name() == name)
        };
        for name in ["script", "link", "img", "image", "iframe", "object", "use"] {
            assert_eq!(named(name).count(), 0, "{name}");
        }
        for attribute in document.descendants().flat_map(|node| node.attributes()) {
            let (name, value) = (attribute.name(), attribute.value());
            assert!(!matches!(name, "href" | "src") && !value.contains("://"), "{name}={value}");
        }
        assert!(!page.contains("@import") && !page.contains("url("));
        for node in named("polyline").filter(|node| node.attribute("class") != Some("axis")) {
            let points = node.attribute("points").unwrap().split_ascii_whitespace();
            let numbers = points.flat_map(|point| point.split(','));
            assert!(numbers.map(|number| number.parse::<f64>().unwrap()).all(f64::is_finite));
        }
        (named("svg").count(), named("polyline").count() - named("svg").count())
    }

    #[test]
    fn a_page_is_well_formed_and_has_its_plots() {
        let page = run_page(&example());
        // A CDF, four latencies over time, and the throughput.
        assert_eq!(counted(&page), (4, 1 + 4 + 1));
        assert!(page.contains("SERVER_ERROR &lt;out&gt; &amp; &quot;about&quot;"));
        assert!(page.contains("prefers-color-scheme: dark"));
        for title in [
            "p999 against throughput",
            "Latency distribution (CDF)",
            "Latency over time",
            "Throughput over time",
        ] {
            assert!(page.contains(&format!("<figcaption>{title}</figcaption>")), "{title}");
        }
    }

    #[test]
    fn slices_with_few_requests_show_no_p999() {
        let mut outcome = example();
        assert!(!run_page(&outcome).contains("A slice of time has"), "they have enough");
        outcome.latency.count = 8_000;
        outcome.timeline.iter_mut().for_each(|moment| moment.latency.count = 800);
        let page = run_page(&outcome);
        // The CDF; p50, p99 and the longest over time; the throughput.
        assert_eq!(counted(&page), (4, 1 + 3 + 1));
        let dots = page.split("</figure>").next().unwrap().matches("<circle").count();
        assert_eq!(dots, 1, "the whole run");
        assert_eq!(
            page.matches("A slice of time has some 800 requests. p999 takes 10000").count(),
            2
        );
        assert!(page.contains("<td>1.50 ms?</td>") && page.contains("? is chance"), "{page}");
    }

    #[test]
    fn an_outage_breaks_the_lines() {
        let mut outcome = example();
        outcome.timeline[4].latency = Latency::default();
        outcome.timeline[4].rate = 0.0;
        outcome.timeline[4].lost_connections = 2;
        let page = run_page(&outcome);
        assert_eq!(counted(&page), (4, 1 + 2 * 4 + 1));
        assert!(page.contains("connections lost"));
    }

    #[test]
    fn a_run_without_a_request_has_a_page() {
        let nothing = Outcome {
            latency: Latency::default(),
            timeline: Vec::new(),
            cdf: Vec::new(),
            rate: 0.0,
            hit_ratio: None,
            ..example()
        };
        assert_eq!(counted(&run_page(&nothing)), (4, 0));
    }
}
