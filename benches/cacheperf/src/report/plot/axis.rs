// SPDX-License-Identifier: Apache-2.0
//! [`Axis`]: from values to places, and where its ticks are.

use super::layout::{Direction, fit};

/// What the numbers of an axis are, which says how they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Requests per second.
    Rate,
    /// Nanoseconds.
    Time,
    /// Shares from 0 to 1.
    Share,
    /// Seconds.
    Seconds,
    /// Things that are counted.
    Count,
}

impl Unit {
    /// Units of which a value is so many: the name, and its size, the largest first.
    fn names(self) -> &'static [(&'static str, f64)] {
        match self {
            Unit::Rate => &[("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0)],
            Unit::Time => &[(" s", 1e9), (" ms", 1e6), (" us", 1e3), (" ns", 1.0)],
            Unit::Share => &[(" %", 0.01)],
            Unit::Seconds | Unit::Count => &[("", 1.0)],
        }
    }

    /// A value among others: in the unit that suits `largest`, with the digits that tell it from one that is
    /// `step` larger.
    fn show(self, value: f64, step: f64, largest: f64) -> String {
        let names = self.names();
        let fitting = names.iter().find(|(_, size)| largest >= *size * 0.999_999);
        let (name, size) = *fitting.unwrap_or(&names[names.len() - 1]);
        let digits = (-(step / size).log10() - 1e-6).ceil().clamp(0.0, 12.0) as usize;
        let number = format!("{:.digits$}", value / size);
        let number = match number.contains('.') {
            true => number.trim_end_matches('0').trim_end_matches('.'),
            false => &number,
        };
        let name = if value == 0.0 && self == Unit::Rate { "" } else { name };
        format!("{number}{name}")
    }
}

/// How values become places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Equal distances for equal differences; begins at 0.
    Linear,
    /// Equal distances for equal ratios.
    Log,
    /// For shares: 0, 90 %, 99 %, 99.9 % and so on at equal distances.
    Nines,
}

/// One axis of a plot.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) label: &'static str,
    pub(crate) unit: Unit,
    pub(crate) scale: Scale,
    min: f64,
    max: f64,
}

/// A value with a mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// Where it lies, from 0 to 1.
    pub(crate) place: f64,
    /// What is written there.
    pub(crate) text: String,
}

/// Ticks of a linear axis, about.
const TICKS: u32 = 6;

/// Nines beyond which a share is drawn no farther.
const NINES_MAX: f64 = 6.0;

impl Axis {
    /// An axis that all `values` fit on.
    pub(crate) fn new(
        label: &'static str,
        unit: Unit,
        scale: Scale,
        values: impl Iterator<Item = f64>,
    ) -> Self {
        let usable = |value: &f64| value.is_finite() && (scale != Scale::Log || *value > 0.0);
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(usable) {
            (min, max) = (min.min(value), max.max(value));
        }
        if min > max {
            (min, max) = (1.0, 10.0);
        }
        let (min, max) = match scale {
            Scale::Linear => (0.0, if max > 0.0 { max * 1.05 } else { 1.0 }),
            // From a tick to a tick, and a decade at the least.
            Scale::Log => {
                let (min, max) = (floor_125(min), ceil_125(max));
                (min, max.max(min * 10.0))
            }
            Scale::Nines => (0.0, (nines(max) - 1e-6).ceil().clamp(2.0, NINES_MAX)),
        };
        Axis { label, unit, scale, min, max }
    }

    /// Where a value lies, from 0 to 1.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let place = match self.scale {
            Scale::Linear => (value - self.min) / (self.max - self.min),
            Scale::Log => (value.max(self.min) / self.min).ln() / (self.max / self.min).ln(),
            Scale::Nines => nines(value) / self.max,
        };
        place.clamp(0.0, 1.0)
    }

    /// The ticks of an axis of this length: the most whose texts do not touch each other.
    pub(crate) fn ticks(&self, direction: Direction, length: f64) -> Vec<Tick> {
        let choices: Vec<Vec<Tick>> = match self.scale {
            Scale::Linear => (1..=TICKS).rev().map(|count| self.linear(count)).collect(),
            Scale::Log => {
                let every = |step: usize| self.log(&[1.0], step);
                let fine = [self.log(&[1.0, 2.0, 5.0], 1), self.log(&[1.0, 3.0], 1)];
                fine.into_iter().chain((1..=12).map(every)).collect()
            }
            Scale::Nines => (1..=3).map(|step| self.nines(step)).collect(),
        };
        fit(choices, direction, length)
    }

    fn linear(&self, count: u32) -> Vec<Tick> {
        let step = ceil_125((self.max - self.min) / f64::from(count));
        let count = ((self.max - self.min) / step) as u32;
        let values = (0..=count).map(|tick| self.min + f64::from(tick) * step);
        values.map(|value| self.tick(value, step, self.max)).collect()
    }

    /// Ticks at these multiples of every so manieth power of ten.
    fn log(&self, steps: &[f64], every: usize) -> Vec<Tick> {
        let (first, last) = (self.min.log10().floor() as i32, self.max.log10().ceil() as i32);
        let powers = (first..=last).step_by(every).map(|power| 10_f64.powi(power));
        let all = powers.flat_map(|power| steps.iter().map(move |step| step * power));
        let within = all.filter(|value| (self.min * 0.999..=self.max * 1.001).contains(value));
        within.map(|value| self.tick(value, value, value)).collect()
    }

    fn nines(&self, every: usize) -> Vec<Tick> {
        let all = (0..=self.max as i32).step_by(every);
        all.map(|nines| {
            let beyond = 10_f64.powi(-nines);
            self.tick(1.0 - beyond, beyond, 1.0)
        })
        .collect()
    }

    fn tick(&self, value: f64, step: f64, largest: f64) -> Tick {
        Tick { place: self.place(value), text: self.unit.show(value, step, largest) }
    }
}

/// How many nines a share begins with: 0.999 has 3.
fn nines(share: f64) -> f64 {
    -(1.0 - share).max(10_f64.powf(-NINES_MAX)).log10()
}

/// The next number of 1, 2, 5, 10, 20 and so on that is not below `value`.
fn ceil_125(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= value * 0.999_999);
    step.unwrap_or(10.0) * power
}

/// The next one that is not above.
fn floor_125(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let step = [5.0, 2.0, 1.0].into_iter().find(|step| step * power <= value * 1.000_001);
    step.unwrap_or(1.0) * power
}

#[cfg(test)]
mod tests {
    use super::super::layout::{overlaps, place_of};
    use super::*;

    fn axis(unit: Unit, scale: Scale, values: &[f64]) -> Axis {
        Axis::new("", unit, scale, values.iter().copied())
    }

    fn shown(axis: &Axis) -> Vec<String> {
        let ticks = axis.ticks(Direction::Across, 640.0).into_iter();
        ticks.map(|tick| tick.text).collect()
    }

    #[test]
    fn ticks_are_round_and_have_units() {
        let rate = axis(Unit::Rate, Scale::Linear, &[12_000.0, 104_000.0]);
        assert_eq!(shown(&rate), ["0", "20k", "40k", "60k", "80k", "100k"]);
        let time = axis(Unit::Time, Scale::Log, &[52_000.0, 1_500_000.0]);
        assert_eq!(shown(&time), ["50 us", "100 us", "200 us", "500 us", "1 ms", "2 ms"]);
        let share = axis(Unit::Share, Scale::Nines, &[0.1, 0.9999]);
        assert_eq!(shown(&share), ["0 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
        let seconds = axis(Unit::Seconds, Scale::Linear, &[10.0]);
        assert_eq!(shown(&seconds), ["0", "2", "4", "6", "8", "10"]);
        let seconds = axis(Unit::Seconds, Scale::Linear, &[0.65]);
        assert_eq!(shown(&seconds), ["0", "0.2", "0.4", "0.6"]);
        let rate = axis(Unit::Rate, Scale::Linear, &[4_900_000.0]);
        assert_eq!(shown(&rate), ["0", "1M", "2M", "3M", "4M", "5M"]);
        let count = axis(Unit::Count, Scale::Log, &[1.0, 100.0]);
        assert_eq!(shown(&count), ["1", "2", "5", "10", "20", "50", "100"]);
    }

    /// Neighbours that were written alike: `0 0 0 1 1 1`.
    #[test]
    fn tiny_ranges_have_ticks_that_differ() {
        let rate = axis(Unit::Rate, Scale::Linear, &[1.4]);
        assert_eq!(shown(&rate), ["0", "0.5", "1"]);
        let seconds = axis(Unit::Seconds, Scale::Linear, &[4e-8]);
        assert_eq!(shown(&seconds), ["0", "0.00000001", "0.00000002", "0.00000003", "0.00000004"]);
        let time = axis(Unit::Time, Scale::Log, &[0.2, 3.0]);
        assert_eq!(shown(&time), ["0.2 ns", "0.5 ns", "1 ns", "2 ns", "5 ns"]);
    }

    /// Every kind of axis over ranges from the tiniest to the longest, across and up, short and long.
    #[test]
    fn texts_never_touch() {
        let lengths =
            [(Direction::Across, 640.0), (Direction::Across, 200.0), (Direction::Up, 314.0)];
        let units = [Unit::Rate, Unit::Time, Unit::Seconds, Unit::Count];
        let scales = [Scale::Linear, Scale::Log];
        let mut kinds: Vec<_> =
            units.into_iter().flat_map(|unit| scales.map(|scale| (unit, scale))).collect();
        kinds.push((Unit::Share, Scale::Nines));
        for (direction, length) in lengths {
            for (unit, scale) in kinds.iter().copied() {
                for low in -9..=12 {
                    for decades in 0..=(13 - low) {
                        for factor in [1.0, 1.3, 4.9, 9.99] {
                            let min = 10_f64.powi(low);
                            let max = factor * 10_f64.powi(low + decades);
                            let axis = axis(unit, scale, &[min, max]);
                            let ticks = axis.ticks(direction, length);
                            let what = format!("{unit:?} {scale:?} {min:e} {max:e}: {ticks:?}");
                            assert!(ticks.len() > 1, "{what}");
                            assert!(!overlaps(&ticks, direction, length), "{what}");
                            for pair in ticks.windows(2) {
                                assert_ne!(pair[0].text, pair[1].text, "{what}");
                                assert!(pair[0].place < pair[1].place, "{what}");
                            }
                            let inside = |tick: &Tick| {
                                (0.0..=length).contains(&place_of(tick, direction, length))
                            };
                            assert!(ticks.iter().all(inside), "{what}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn places_are_within_the_plot() {
        let time = Axis::new("", Unit::Time, Scale::Log, [100.0, 10_000.0].into_iter());
        let places = [100.0, 1_000.0, 10_000.0, 0.0, 1e9].map(|value| time.place(value));
        assert_eq!(places, [0.0, 0.5, 1.0, 0.0, 1.0]);
        let share = Axis::new("", Unit::Share, Scale::Nines, [1.0].into_iter());
        assert_eq!(share.place(1.0), 1.0);
        assert!((share.place(0.999) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn nothing_to_show_has_axes_too() {
        for scale in [Scale::Linear, Scale::Log, Scale::Nines] {
            let axis = Axis::new("", Unit::Time, scale, std::iter::empty());
            assert!(axis.ticks(Direction::Across, 640.0).len() > 1, "{scale:?}");
            assert!(axis.place(5.0).is_finite());
        }
    }
}
