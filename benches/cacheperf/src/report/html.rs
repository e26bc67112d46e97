// SPDX-License-Identifier: Apache-2.0
//! Results as one page: no script, nothing from elsewhere, readable in the dark and in the light. It is
//! well-formed XML as well, so programs can read it.

use super::plot;
use super::plots::{cdf_plot, slices_plot, throughput_plot, timeline_plot};
use super::text;
use crate::units::{show_ns, show_rate};
use crate::{Outcome, Percentile, Provenance};
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
         <title>{title}</title>\n<style>\n{}{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n",
        plot::STYLE
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

/// How it was measured: the last part of each page.
pub(crate) fn how(provenance: &Provenance) -> String {
    let mut out = String::from("<h2>How it was measured</h2>\n<dl>\n");
    for (title, value) in provenance.rows() {
        // A string takes everything.
        let _ = writeln!(out, "<dt>{title}</dt><dd>{}</dd>", escape(&value));
    }
    out.push_str("</dl>\n");
    out
}

/// The page of one run.
pub fn run_page(outcome: &Outcome, provenance: &Provenance) -> String {
    let mut lines = vec![outcome.target.clone(), outcome.load.clone()];
    lines.extend(text::doubt(&Percentile::ALL, [&outcome.latency]));
    lines.extend(absences(outcome));
    let mut parts = run_parts(outcome).to_vec();
    parts.push(how(provenance));
    page("cacheperf run", &lines, &parts)
}

/// The plot of a run that stands for the others.
pub fn run_svg(outcome: &Outcome, provenance: &Provenance) -> String {
    timeline_plot(outcome).file(&provenance.command)
}

/// When the generator did not run, in a sentence.
pub(crate) fn absences(outcome: &Outcome) -> Option<String> {
    text::absences(&outcome.generator_absences).map(|words| format!("The generator {words}."))
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Latency;
    use crate::report::text::tests::{example, provenance};

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
        let is_frame = |node: &roxmltree::Node<'_, '_>| node.attribute("class") == Some("axis");
        let lines = named("polyline").filter(|node| !is_frame(node)).count();
        (named("svg").count(), lines)
    }

    #[test]
    fn a_page_is_well_formed_and_has_its_plots() {
        let page = run_page(&example(), &provenance());
        // A CDF, four latencies over time, and the throughput.
        assert_eq!(counted(&page), (4, 1 + 4 + 1));
        assert!(page.contains("SERVER_ERROR &lt;out&gt; &amp; &quot;about&quot;"));
        assert!(page.contains("prefers-color-scheme: dark"));
        for part in [
            "<dt>date</dt><dd>2026-11-26T12:00:00Z</dd>",
            "<dt>server</dt><dd>memcache at 127.0.0.1:11211, version 1.6.45</dd>",
            "<dt>host</dt><dd>machine, Linux 6.12.0 x86_64</dd>",
            "<dt>CPU</dt><dd>2 × A CPU</dd>",
            "<dt>command</dt><dd>cacheperf -m &quot;get=1&quot;</dd>",
        ] {
            assert!(page.contains(part), "{part} in\n{page}");
        }
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
        assert!(
            !run_page(&outcome, &provenance()).contains("A slice of time has"),
            "they have enough"
        );
        outcome.latency.count = 8_000;
        outcome.timeline.iter_mut().for_each(|moment| moment.latency.count = 800);
        let page = run_page(&outcome, &provenance());
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
        let page = run_page(&outcome, &provenance());
        assert_eq!(counted(&page), (4, 1 + 2 * 4 + 1));
        assert!(page.contains("connections lost"));
    }

    #[test]
    fn times_in_which_the_generator_did_not_run_are_shaded() {
        let mut outcome = example();
        assert!(!run_page(&outcome, &provenance()).contains("did not run"));
        outcome.generator_absences = crate::GeneratorAbsences {
            count: 2,
            total_ns: 300_000_000,
            longest_ns: 200_000_000,
            share: 0.03,
            waited_ns: 0,
            times: vec![(3.0, 3.2), (7.0, 7.1)],
        };
        let page = run_page(&outcome, &provenance());
        assert_eq!(page.matches("<rect class=\"shade\"").count(), 2 * 2, "latency, throughput");
        assert!(
            page.contains("<p>The generator did not run for 300 ms (3.00 %): 2 times"),
            "{page}"
        );
        assert_eq!(counted(&page).0, 4);
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
        let page = run_page(&nothing, &provenance());
        assert_eq!(counted(&page), (4, 0));
        // p999 against throughput has the dot of the whole run.
        assert_eq!(page.matches("nothing to show: too few requests").count(), 3);
    }
}
