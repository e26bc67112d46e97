// SPDX-License-Identifier: Apache-2.0
//! [`Live`]: a line on the terminal with the progress of a run.

use crate::report::paint;
use crate::report::text::percentile;
use crate::units::show_rate;
use crate::{Event, Length, Moment, Percentile, Plan};
use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// The shortest time for which a line is shown, so that it can be read.
const STANDS: Duration = Duration::from_millis(250);

/// A line on the terminal with the progress of a run. It shows nothing if standard error is not a
/// terminal.
#[derive(Debug)]
pub struct Live {
    shown: bool,
    coloured: bool,
    label: String,
    /// Seconds from the start to the end; `None` if the end is not known.
    seconds: Option<f64>,
    last: Option<Instant>,
}

impl Live {
    /// A line that begins with `label`.
    pub fn new(label: &str) -> Self {
        let (stderr, label) = (stderr(), label.to_owned());
        let (shown, coloured) = (stderr.is_terminal(), paint::is_wanted(&stderr));
        Live { shown, coloured, label, seconds: None, last: None }
    }

    /// A line with a bar, if it is known when the plan ends.
    pub fn of(plan: &Plan) -> Self {
        let seconds = match plan.length {
            Length::Time(time) => Some((plan.warm_up + time).as_secs_f64()),
            Length::Requests(_) | Length::ToEnd => None,
        };
        Live { seconds, ..Live::new("") }
    }

    /// Another label from here on.
    pub fn label(&mut self, label: &str) {
        self.label.clear();
        self.label.push_str(label);
    }

    /// Shows what happens.
    pub fn watch(&mut self, event: Event<'_>) {
        match event {
            Event::Preloading => self.show("writing all keys"),
            Event::WarmingUp => self.show("warming up"),
            Event::Slice(moment) if self.last.is_none_or(|last| last.elapsed() >= STANDS) => {
                self.last = Some(Instant::now());
                let bar = self.seconds.map_or(String::new(), |seconds| bar(moment.at_s / seconds));
                let line = line(moment);
                let line = if self.coloured { paint::paint(&line) } else { line };
                self.show(&format!("{bar}{line}"));
            }
            Event::Ended => self.clear(),
            Event::Started | Event::Slice(_) => {}
        }
    }

    fn show(&self, words: &str) {
        if self.shown {
            // A terminal that is gone is no reason to end.
            let _ = write!(stderr(), "\r\x1b[K{}{words}", self.label);
        }
    }

    fn clear(&self) {
        if self.shown {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

/// Cells of the bar.
const CELLS: f64 = 16.0;
/// Eighths of a cell.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// How much of the time is over, with a space behind it.
fn bar(share: f64) -> String {
    let eighths = (share.clamp(0.0, 1.0) * CELLS * 8.0) as usize;
    let full = "█".repeat(eighths / 8);
    let bar = format!("{full}{}", EIGHTHS[eighths % 8]);
    format!("▕{bar:<width$}▏ ", width = CELLS as usize)
}

fn line(moment: &Moment) -> String {
    let latency = &moment.latency;
    let hits =
        moment.hit_ratio.map_or(String::new(), |ratio| format!("hits {:.1} %  ", 100.0 * ratio));
    format!(
        "{:.1} s  {}/s  {hits}p50 {}  p99 {}  p999 {}  errors {}",
        moment.at_s,
        show_rate(moment.rate),
        percentile(latency, Percentile::P50),
        percentile(latency, Percentile::P99),
        percentile(latency, Percentile::P999),
        moment.errors
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Latency;

    #[test]
    fn a_bar_grows_by_eighths_and_keeps_its_width() {
        assert_eq!(bar(0.0), "▕                ▏ ");
        assert_eq!(bar(0.5), "▕████████        ▏ ");
        assert_eq!(bar(0.01), "▕▏               ▏ ");
        assert_eq!(bar(2.0), "▕████████████████▏ ");
        assert!((0..=100).all(|share| bar(f64::from(share) / 100.0).chars().count() == 19));
    }

    #[test]
    fn a_line_says_what_matters() {
        let latency = Latency {
            count: 5_000,
            p50: 52_000,
            p99: 130_000,
            p999: 1_500_000,
            ..Latency::default()
        };
        let moment = Moment {
            at_s: 2.5,
            rate: 123_456.0,
            hit_ratio: Some(0.987),
            errors: 0,
            lost_connections: 0,
            reconnected: 0,
            latency,
        };
        let expected = "2.5 s  123.5k/s  hits 98.7 %  p50 52.0 us  p99 130 us  p999 1.50 ms?  \
                        errors 0";
        assert_eq!(line(&moment), expected);
        let pings = Moment { hit_ratio: None, ..moment };
        assert!(!line(&pings).contains("hits"));
    }
}
