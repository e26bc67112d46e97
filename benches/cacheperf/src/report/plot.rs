// SPDX-License-Identifier: Apache-2.0
//! [`Plot`]: lines and dots on two axes, as SVG: a figure of a page, or a file of its own.
//!
//! Colours are classes, `c0` to `c5`, which `plot.css` defines for light and for dark.

mod axis;
mod draw;
mod layout;

use axis::Axis;
pub(crate) use axis::{Scale, Unit};
use layout::{item_width, wrap};

use super::html::escape;
use std::fmt::Write;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;

/// Pixels of the lines of a file above its plot.
const TITLE_LINE: f64 = 30.0;
const LEGEND_LINE: f64 = 20.0;

/// Different colours.
const COLOURS: usize = 6;

/// What plots look like, in a page and alone.
pub(crate) const STYLE: &str = include_str!("plot.css");

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Line,
    Dots,
    /// A line with a dot at each point.
    Dotted,
    /// A broken line.
    Bound,
}

/// Points that belong together.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    style: Style,
    points: Vec<(f64, f64)>,
    /// For each point whether it rests on too few requests; such dots are hollow. None is where it is empty.
    doubtful: Vec<bool>,
}

impl Series {
    pub(crate) fn new(
        name: impl Into<String>,
        style: Style,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        let points = points.into_iter().collect();
        Series { name: name.into(), style, points, doubtful: Vec::new() }
    }

    /// A series of which some points, at `true`, rest on too few requests.
    pub(crate) fn with_doubts(
        name: impl Into<String>,
        style: Style,
        points: impl IntoIterator<Item = ((f64, f64), bool)>,
    ) -> Self {
        let (points, doubtful) = points.into_iter().unzip();
        Series { name: name.into(), style, points, doubtful }
    }

    fn is_doubtful(&self, point: usize) -> bool {
        self.doubtful.get(point).copied().unwrap_or(false)
    }
}

/// Lines and dots on two axes.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    pub(crate) title: &'static str,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    /// Ranges of x behind which the plot is shaded, and what that means.
    shades: (&'static str, Vec<(f64, f64)>),
    note: Option<String>,
}

impl Plot {
    /// A plot with axes that all points fit on.
    pub(crate) fn new(
        title: &'static str,
        x: (&'static str, Unit, Scale),
        y: (&'static str, Unit, Scale),
        series: Vec<Series>,
    ) -> Self {
        let points = || series.iter().flat_map(|series| &series.points);
        let x = Axis::new(x.0, x.1, x.2, points().map(|point| point.0));
        let y = Axis::new(y.0, y.1, y.2, points().map(|point| point.1));
        Plot { title, x, y, series, shades: ("", Vec::new()), note: None }
    }

    /// The plot with a sentence below it that a reader has to know, if there is one.
    pub(crate) fn with_note(self, note: Option<String>) -> Self {
        Plot { note, ..self }
    }

    /// The plot with these ranges of x shaded.
    pub(crate) fn with_shades(self, name: &'static str, ranges: Vec<(f64, f64)>) -> Self {
        Plot { shades: (name, ranges), ..self }
    }

    /// The entries of the legend: the class of their mark, and the text.
    fn legend(&self) -> Vec<(String, String)> {
        let series = self.series.iter().enumerate();
        let mut legend: Vec<(String, String)> = series
            .map(|(number, series)| (format!("c{}", number % COLOURS), series.name.clone()))
            .collect();
        let is_doubtful = |series: &Series| series.doubtful.contains(&true);
        if self.series.iter().any(is_doubtful) {
            legend.push(("hollow".to_owned(), "from too few requests".to_owned()));
        }
        if !self.shades.1.is_empty() {
            legend.push(("shade".to_owned(), self.shades.0.to_owned()));
        }
        legend
    }

    /// A figure of the page: title, legend, SVG.
    pub(crate) fn figure(&self) -> String {
        let title = escape(self.title);
        let mut out = format!("<figure>\n<figcaption>{title}</figcaption>\n<p class=\"legend\">");
        // A string takes everything that is written to it.
        for (class, name) in self.legend() {
            let _ = write!(out, "<span><i class=\"{class}\"></i>{}</span> ", escape(&name));
        }
        let _ = write!(
            out,
            "</p>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\" \
             xmlns=\"http://www.w3.org/2000/svg\">\n"
        );
        self.draw(&mut out);
        out.push_str("</svg>\n");
        if let Some(note) = &self.note {
            let _ = writeln!(out, "<p>{}</p>", escape(note));
        }
        out.push_str("</figure>\n");
        out
    }

    /// A file of its own: with title, legend and style in the picture, and `comment` for who reads the file.
    pub(crate) fn file(&self, comment: &str) -> String {
        let legend = self.legend();
        let names: Vec<String> = legend.iter().map(|(_, name)| name.clone()).collect();
        let lines = wrap(&names, WIDTH - 2.0 * draw::RIGHT);
        let top = TITLE_LINE + LEGEND_LINE * lines.len() as f64;
        let (title, height) = (escape(self.title), HEIGHT + top);
        let mut out = format!(
            "<svg viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\" \
             aria-label=\"{title}\" xmlns=\"http://www.w3.org/2000/svg\">\n<desc>{}</desc>\n\
             <style>\n{STYLE}</style>\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n\
             <text class=\"title\" x=\"20\" y=\"22\">{title}</text>\n",
            escape(comment)
        );
        for (row, line) in lines.iter().enumerate() {
            let (mut x, y) = (20.0, TITLE_LINE + LEGEND_LINE * (row as f64 + 0.5));
            for number in line {
                let (class, name) = &legend[*number];
                let _ = writeln!(
                    out,
                    "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"5\"/>\
                     <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    x + 5.0,
                    x + 16.0,
                    y + 4.0,
                    escape(name)
                );
                x += item_width(name);
            }
        }
        let _ = writeln!(out, "<g transform=\"translate(0 {top})\">");
        self.draw(&mut out);
        out.push_str("</g>\n</svg>\n");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot() -> Plot {
        let points = [(0.0, 1_000.0), (5.0, 30_000.0), (10.0, 1e6)];
        Plot::new(
            "title",
            ("time (s)", Unit::Seconds, Scale::Linear),
            ("latency", Unit::Time, Scale::Log),
            vec![Series::new("a <b>", Style::Dotted, points)],
        )
    }

    #[test]
    fn points_become_places_within_the_frame() {
        let figure = plot().figure();
        assert_eq!(figure.matches("<circle").count(), 3);
        for part in ["a &lt;b&gt;", "time (s)</text>", ">1 ms</text>", "class=\"line c0\""] {
            assert!(figure.contains(part), "{part} in\n{figure}");
        }
        assert!(!figure.contains("hollow") && !figure.contains("shade"));
    }

    #[test]
    fn a_file_is_whole_without_a_page() {
        let file = plot().file("made <by> a test");
        let document = roxmltree::Document::parse(&file).unwrap();
        let root = document.root_element();
        assert_eq!(root.tag_name().name(), "svg");
        let texts: Vec<_> = root.descendants().filter_map(|node| node.text()).collect();
        for text in ["title", "a <b>", "made <by> a test", "time (s)"] {
            assert!(texts.contains(&text), "{text} in {texts:?}");
        }
        assert!(texts.iter().any(|text| text.contains("prefers-color-scheme: dark")));
        // One for the legend.
        assert_eq!(file.matches("<circle").count(), 4);
    }

    #[test]
    fn doubts_are_hollow_and_shades_are_behind() {
        let points = [((1.0, 1e3), false), ((2.0, 1e4), true)];
        let plot = Plot::new(
            "title",
            ("time (s)", Unit::Seconds, Scale::Linear),
            ("latency", Unit::Time, Scale::Log),
            vec![Series::with_doubts("a", Style::Dots, points)],
        );
        let plot = plot.with_shades("asleep", vec![(0.5, 0.6), (1.0, 1.0)]);
        let figure = plot.figure();
        assert_eq!(figure.matches("class=\"c0 hollow\"").count(), 1, "{figure}");
        assert!(figure.contains("from too few requests") && figure.contains("</i>asleep"));
        // However short, a shade is seen.
        let rects: Vec<_> = figure.split("<rect class=\"shade\"").skip(1).collect();
        assert_eq!(rects.len(), 2);
        assert!(rects[1].contains("width=\"1.0\""), "{}", rects[1]);
        assert!(figure.find("<rect") < figure.find("<circle"));
    }
}
