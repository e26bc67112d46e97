// SPDX-License-Identifier: Apache-2.0
//! [`Plot`]: lines and dots on two axes, as SVG.
//!
//! Colours are classes, `c0` to `c5`, which the page defines for light and for dark.

mod axis;

use axis::Axis;
pub(crate) use axis::{Scale, Unit};

use super::html::escape;
use std::fmt::Write;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 96.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 52.0;

/// Different colours.
const COLOURS: usize = 6;

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
    pub(crate) style: Style,
    pub(crate) points: Vec<(f64, f64)>,
}

/// Lines and dots on two axes.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    pub(crate) title: &'static str,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
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
        Plot { title, x, y, series, note: None }
    }

    /// The plot with a sentence below it that a reader has to know, if there is one.
    pub(crate) fn with_note(self, note: Option<String>) -> Self {
        Plot { note, ..self }
    }

    /// A figure of the page: title, legend, SVG.
    pub(crate) fn figure(&self) -> String {
        let title = escape(self.title);
        let mut out = format!("<figure>\n<figcaption>{title}</figcaption>\n<p class=\"legend\">");
        for (number, series) in self.series.iter().enumerate() {
            let name = escape(&series.name);
            let _ = write!(out, "<span><i class=\"c{}\"></i>{name}</span> ", number % COLOURS);
        }
        let _ = write!(
            out,
            "</p>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\" \
             xmlns=\"http://www.w3.org/2000/svg\">\n"
        );
        self.draw_axes(&mut out);
        // The first lies on top: where p999 is the longest, p999 is seen.
        for (number, series) in self.series.iter().enumerate().rev() {
            self.draw_series(&mut out, number % COLOURS, series);
        }
        out.push_str("</svg>\n");
        if let Some(note) = &self.note {
            let _ = writeln!(out, "<p>{}</p>", escape(note));
        }
        out.push_str("</figure>\n");
        out
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let (width, height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
        (LEFT + self.x.place(x) * width, TOP + (1.0 - self.y.place(y)) * height)
    }

    // A string takes everything that is written to it.

    fn draw_axes(&self, out: &mut String) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for (value, text) in self.x.ticks() {
            let x = LEFT + self.x.place(value) * (right - LEFT);
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
                bottom + 18.0
            );
        }
        for (value, text) in self.y.ticks() {
            let y = TOP + (1.0 - self.y.place(value)) * (bottom - TOP);
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                LEFT - 8.0,
                y + 4.0
            );
        }
        let middle = TOP + (bottom - TOP) / 2.0;
        let _ = writeln!(
            out,
            "<polyline class=\"axis\" points=\"{LEFT},{TOP} {LEFT},{bottom} {right},{bottom}\"/>\
             <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text class=\"label\" x=\"14\" y=\"{middle:.1}\" text-anchor=\"middle\" \
             transform=\"rotate(-90 14 {middle:.1})\">{}</text>",
            LEFT + (right - LEFT) / 2.0,
            HEIGHT - 10.0,
            escape(self.x.label),
            escape(self.y.label)
        );
    }

    /// A line breaks where a value is missing.
    fn draw_series(&self, out: &mut String, colour: usize, series: &Series) {
        let (is_dots, is_bound) = (series.style == Style::Dots, series.style == Style::Bound);
        let bound = if is_bound { " bound" } else { "" };
        let is_known = |point: &(f64, f64)| point.0.is_finite() && point.1.is_finite();
        for points in series.points.split(|point| !is_known(point)) {
            let places: Vec<_> = points.iter().map(|point| self.at(*point)).collect();
            if !is_dots && places.len() > 1 {
                let _ = write!(out, "<polyline class=\"line{bound} c{colour}\" points=\"");
                for (x, y) in &places {
                    let _ = write!(out, "{x:.1},{y:.1} ");
                }
                out.push_str("\"/>\n");
            }
            if is_dots || series.style == Style::Dotted || places.len() == 1 {
                let radius = if is_dots { 2.5 } else { 4.0 };
                for (x, y) in &places {
                    let _ = writeln!(
                        out,
                        "<circle class=\"c{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>"
                    );
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_become_places_within_the_frame() {
        let points = vec![(0.0, 1_000.0), (5.0, 30_000.0), (10.0, 1e6)];
        let series = vec![Series { name: "a <b>".to_owned(), style: Style::Dotted, points }];
        let plot = Plot::new(
            "title",
            ("time (s)", Unit::Seconds, Scale::Linear),
            ("latency", Unit::Time, Scale::Log),
            series,
        );
        let figure = plot.figure();
        assert_eq!(figure.matches("<circle").count(), 3);
        for part in ["a &lt;b&gt;", "time (s)</text>", ">1 ms</text>", "class=\"line c0\""] {
            assert!(figure.contains(part), "{part} in\n{figure}");
        }
        assert_eq!(plot.at((0.0, 1_000.0)), (LEFT, HEIGHT - BOTTOM));
    }
}
