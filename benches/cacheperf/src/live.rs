// SPDX-License-Identifier: Apache-2.0
//! [`Live`]: a line on the terminal with the progress of a run.

use crate::report::text::percentile;
use crate::units::show_rate;
use crate::{Event, Moment, Percentile};
use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// The shortest time for which a line is shown, so that it can be read.
const STANDS: Duration = Duration::from_millis(250);

/// A line on the terminal with the progress of a run. It shows nothing if standard error is not a
/// terminal.
#[derive(Debug)]
pub struct Live {
    shown: bool,
    label: String,
    last: Option<Instant>,
}

impl Live {
    /// A line that begins with `label`.
    pub fn new(label: &str) -> Self {
        Live { shown: stderr().is_terminal(), label: label.to_owned(), last: None }
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
                let line = line(moment);
                self.show(&line);
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
