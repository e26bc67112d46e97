// SPDX-License-Identifier: Apache-2.0
//! [`Axis`]: from values to places, and where its ticks are.

use crate::units::{show_ns, show_rate};

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

/// Ticks of a linear axis, about.
const TICKS: f64 = 6.0;

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

    /// Values with a mark, and what is written there.
    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        let values: Vec<f64> = match self.scale {
            Scale::Linear => {
                let step = ceil_125((self.max - self.min) / TICKS);
                let count = ((self.max - self.min) / step) as u32;
                (0..=count).map(|tick| self.min + f64::from(tick) * step).collect()
            }
            Scale::Log => self.log_ticks(),
            Scale::Nines => (0..=self.max as i32).map(|nines| 1.0 - 10_f64.powi(-nines)).collect(),
        };
        values.into_iter().map(|value| (value, self.show(value))).collect()
    }

    fn log_ticks(&self) -> Vec<f64> {
        let (first, last) = (self.min.log10().floor() as i32, self.max.log10().ceil() as i32);
        // Few decades have room for the steps between.
        let steps: &[f64] = if last - first <= 4 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let all = (first..=last)
            .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
        all.filter(|value| (self.min * 0.999..=self.max * 1.001).contains(value)).collect()
    }

    fn show(&self, value: f64) -> String {
        trim(&match self.unit {
            Unit::Rate => show_rate(value),
            Unit::Time => show_ns(value),
            Unit::Share => format!("{:.4} %", 100.0 * value),
            Unit::Seconds => format!("{value:.6}"),
        })
    }
}

/// A number and its unit without zeros behind the point.
fn trim(text: &str) -> String {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    if !number.contains('.') {
        return text.to_owned();
    }
    format!("{}{unit}", number.trim_end_matches('0').trim_end_matches('.'))
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
    use super::*;

    fn shown(axis: &Axis) -> Vec<String> {
        axis.ticks().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_and_have_units() {
        let axis = |unit, scale, values: &[f64]| Axis::new("", unit, scale, values.iter().copied());
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
            assert!(axis.ticks().len() > 1, "{scale:?}");
            assert!(axis.place(5.0).is_finite());
        }
    }
}
