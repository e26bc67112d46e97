// SPDX-License-Identifier: Apache-2.0
//! The drawing inside of a plot: axes, shades, lines and dots.

use super::layout::{Direction, OVERHANG, place_of, width};
use super::{COLOURS, HEIGHT, Plot, Series, Style, WIDTH, escape};
use std::fmt::Write;

/// Pixels around the frame.
pub(super) const RIGHT: f64 = 20.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 52.0;

/// From the left edge to the middle of the line with the name of the axis, and from there to the texts of
/// its ticks.
const NAME: f64 = 14.0;
const NAME_SPACE: f64 = 12.0;
/// Between the texts of ticks and the axis.
const TICK_SPACE: f64 = 8.0;

/// Pixels of the narrowest shade.
const SHADE_MIN: f64 = 1.0;

/// The corners of the frame.
#[derive(Clone, Copy, Debug)]
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Plot {
    // A string takes everything that is written to it.

    /// Draws everything into a picture of `WIDTH` and `HEIGHT`.
    pub(super) fn draw(&self, out: &mut String) {
        let (top, bottom) = (TOP, HEIGHT - BOTTOM);
        let is_known = |point: &(f64, f64)| point.0.is_finite() && point.1.is_finite();
        let mut points = self.series.iter().flat_map(|series| &series.points);
        if !points.any(is_known) {
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">nothing to show: too few requests</text>",
                WIDTH / 2.0,
                HEIGHT / 2.0
            );
            return;
        }
        let up = self.y.ticks(Direction::Up, bottom - top);
        let widest = up.iter().map(|tick| width(&tick.text)).fold(0.0, f64::max);
        let left = NAME + NAME_SPACE + widest + TICK_SPACE;
        let frame = Frame { left, right: WIDTH - RIGHT, top, bottom };
        self.draw_shades(out, frame);
        for tick in &up {
            let y = bottom - tick.place * (bottom - top);
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{left:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                frame.right,
                left - TICK_SPACE,
                y + 4.0,
                tick.text
            );
        }
        self.draw_across(out, frame);
        // The first lies on top: where p999 is the longest, p999 is seen.
        for (number, series) in self.series.iter().enumerate().rev() {
            self.draw_series(out, frame, number % COLOURS, series);
        }
    }

    fn at(&self, frame: Frame, (x, y): (f64, f64)) -> (f64, f64) {
        let Frame { left, right, top, bottom } = frame;
        (left + self.x.place(x) * (right - left), bottom - self.y.place(y) * (bottom - top))
    }

    fn draw_shades(&self, out: &mut String, frame: Frame) {
        let across = frame.right - frame.left;
        for (from, to) in &self.shades.1 {
            let (from, to) = (self.x.place(*from) * across, self.x.place(*to) * across);
            let _ = writeln!(
                out,
                "<rect class=\"shade\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                frame.left + from,
                frame.top,
                (to - from).max(SHADE_MIN),
                frame.bottom - frame.top
            );
        }
    }

    /// The ticks below, the frame, and the names of both axes.
    fn draw_across(&self, out: &mut String, frame: Frame) {
        let Frame { left, right, top, bottom } = frame;
        for tick in self.x.ticks(Direction::Across, right - left) {
            let x = left + tick.place * (right - left);
            let _ = writeln!(
                out,
                "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                left + place_of(&tick, Direction::Across, right - left),
                bottom + 18.0,
                tick.text
            );
        }
        let middle = top + (bottom - top) / 2.0;
        let _ = writeln!(
            out,
            "<polyline class=\"axis\" points=\"{left:.1},{top} {left:.1},{bottom} {right},{bottom}\"/>\
             <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text class=\"label\" x=\"{NAME}\" y=\"{middle:.1}\" text-anchor=\"middle\" \
             transform=\"rotate(-90 {NAME} {middle:.1})\">{}</text>",
            left + (right - left) / 2.0,
            HEIGHT - 10.0,
            escape(self.x.label),
            escape(self.y.label)
        );
    }

    /// A line breaks where a value is missing.
    fn draw_series(&self, out: &mut String, frame: Frame, colour: usize, series: &Series) {
        let (is_dots, is_bound) = (series.style == Style::Dots, series.style == Style::Bound);
        let bound = if is_bound { " bound" } else { "" };
        let is_known = |point: &(f64, f64)| point.0.is_finite() && point.1.is_finite();
        let numbered: Vec<_> = series.points.iter().copied().enumerate().collect();
        for points in numbered.split(|(_, point)| !is_known(point)) {
            let places: Vec<_> = points.iter().map(|(_, point)| self.at(frame, *point)).collect();
            if !is_dots && places.len() > 1 {
                let _ = write!(out, "<polyline class=\"line{bound} c{colour}\" points=\"");
                for (x, y) in &places {
                    let _ = write!(out, "{x:.1},{y:.1} ");
                }
                out.push_str("\"/>\n");
            }
            if is_dots || series.style == Style::Dotted || places.len() == 1 {
                let radius = if is_dots { 2.5 } else { 4.0 };
                for ((number, _), (x, y)) in points.iter().zip(&places) {
                    let hollow = if series.is_doubtful(*number) { " hollow" } else { "" };
                    let _ = writeln!(
                        out,
                        "<circle class=\"c{colour}{hollow}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>"
                    );
                }
            }
        }
    }
}

// The last text of the axis across stays in the picture.
const _: () = assert!(OVERHANG < RIGHT);

#[cfg(test)]
mod tests {
    use super::super::{Scale, Unit};
    use super::*;

    /// The texts of all ticks stay within the picture and beside the names of the axes.
    #[test]
    fn all_texts_are_in_the_picture() {
        for max in [1e-3, 1.0, 47.0, 99_999.0, 3.6e12] {
            for (unit, scale) in [
                (Unit::Rate, Scale::Linear),
                (Unit::Time, Scale::Log),
                (Unit::Share, Scale::Nines),
                (Unit::Seconds, Scale::Linear),
            ] {
                let series =
                    vec![Series::new("a", Style::Line, [(max / 7e3, max / 9e6), (max, max)])];
                let plot = Plot::new("title", ("x", unit, scale), ("y", unit, scale), series);
                let figure = plot.figure();
                let page = roxmltree::Document::parse(&figure).unwrap();
                let number = |node: &roxmltree::Node<'_, '_>, name| {
                    node.attribute(name).unwrap().parse::<f64>().unwrap()
                };
                for node in page.descendants().filter(|node| node.has_tag_name("text")) {
                    let wide = width(node.text().unwrap());
                    let (x, what) = (number(&node, "x"), format!("{unit:?} {scale:?} {max}"));
                    match node.attribute("text-anchor") {
                        // To the right of the name, which stands upright.
                        Some("end") => assert!(x - wide >= NAME + 6.0, "{what}: {node:?}"),
                        _ if node.attribute("transform").is_some() => {}
                        _ => {
                            assert!(x - wide / 2.0 >= 0.0, "{what}: {node:?}");
                            assert!(x + wide / 2.0 <= WIDTH, "{what}: {node:?}");
                        }
                    }
                }
            }
        }
    }
}
