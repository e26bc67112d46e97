// SPDX-License-Identifier: Apache-2.0
//! Values with a form of their own.

use crate::service::notify::Wanted;
use std::fmt;

/// Words with one space between them.
pub(super) fn words(text: &[u8]) -> Result<String, String> {
    let text = str::from_utf8(text).map_err(|_| "argument must be text".to_owned())?;
    Ok(text.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
}

/// The letters of events.
pub(super) fn events(text: &[u8]) -> Result<String, String> {
    let wanted = Wanted::parse(text);
    let wanted = wanted.ok_or("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")?;
    Ok(wanted.letters())
}

/// Pairs of seconds and changes, or nothing.
pub(super) fn save(text: &[u8]) -> Result<String, String> {
    let text = words(text)?;
    let is_right = text.split(' ').all(|word| word.parse::<u32>().is_ok());
    let pairs = text.split(' ').count().is_multiple_of(2);
    if text.is_empty() || is_right && pairs {
        Ok(text)
    } else {
        Err("Invalid save parameters".to_owned())
    }
}

/// Percentages.
pub(super) fn percentiles(text: &[u8]) -> Result<String, String> {
    let text = words(text)?;
    let is_right = |word: &str| word.parse::<f64>().is_ok_and(|part| (0.0..=100.0).contains(&part));
    if text.split_ascii_whitespace().all(is_right) {
        return Ok(text);
    }
    let name = "latency-tracking-info-percentiles";
    Err(format!("{name} parameters should sit between [0.0,100.0]"))
}

/// The classes of clients, by the name that is shown first.
const CLASSES: [&[&str]; 3] = [&["normal"], &["slave", "replica"], &["pubsub"]];

/// Up to how many unread bytes a client of a class is kept: for good, and for some seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BufferLimit {
    pub(crate) hard: u64,
    pub(crate) soft: u64,
    pub(crate) seconds: u64,
}

/// The limits of all classes: `normal`, `slave`, `pubsub`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferLimits(pub(crate) [BufferLimit; 3]);

impl Default for BufferLimits {
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        BufferLimits([
            BufferLimit::default(),
            BufferLimit { hard: 256 * MIB, soft: 64 * MIB, seconds: 60 },
            BufferLimit { hard: 32 * MIB, soft: 8 * MIB, seconds: 60 },
        ])
    }
}

impl BufferLimits {
    /// Whether `text` changes limits as [`BufferLimits::change`] can; sizes come back as numbers.
    pub(super) fn canonical(text: &[u8]) -> Result<String, String> {
        let mut shown = Vec::new();
        for (class, limit) in parse(text)? {
            shown.push(show(class, limit));
        }
        Ok(shown.join(" "))
    }

    /// Sets the limits of the classes that `text` names; what is no limit is left out.
    pub(crate) fn change(&mut self, text: &[u8]) {
        for (class, limit) in parse(text).unwrap_or_default() {
            self.0[class] = limit;
        }
    }

    /// Unread bytes with which a subscriber is closed; `None`: never.
    pub(crate) fn subscriber(&self) -> Option<u64> {
        Some(self.0[2].hard).filter(|hard| *hard > 0)
    }
}

impl fmt::Display for BufferLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<_> =
            self.0.iter().enumerate().map(|(class, limit)| show(class, *limit)).collect();
        f.write_str(&all.join(" "))
    }
}

fn show(class: usize, limit: BufferLimit) -> String {
    let BufferLimit { hard, soft, seconds } = limit;
    format!("{} {hard} {soft} {seconds}", CLASSES[class][0])
}

/// Groups of four words: a class and its limits.
fn parse(text: &[u8]) -> Result<Vec<(usize, BufferLimit)>, String> {
    let text = words(text)?;
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let wrong = "Wrong number of arguments in buffer limit configuration.";
    if words.is_empty() || !words.len().is_multiple_of(4) {
        return Err(wrong.to_owned());
    }
    let mut limits = Vec::new();
    for group in words.chunks_exact(4) {
        let class = CLASSES
            .iter()
            .position(|names| names.iter().any(|name| name.eq_ignore_ascii_case(group[0])));
        let class = class.ok_or("Invalid client class specified in buffer limit configuration.")?;
        let size = |word: &str| super::kind::bytes(word.as_bytes());
        let limit = (size(group[1]), size(group[2]), group[3].parse::<u32>().ok());
        let (Some(hard), Some(soft), Some(seconds)) = limit else {
            let problem =
                "Error in hard, soft or soft_seconds setting in buffer limit configuration.";
            return Err(problem.to_owned());
        };
        limits.push((class, BufferLimit { hard, soft, seconds: u64::from(seconds) }));
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_buffers_change_a_class_at_a_time() {
        let mut limits = BufferLimits::default();
        assert_eq!(limits.subscriber(), Some(32 << 20));
        limits.change(b"pubsub 1mb 0 0 replica 5 4 3");
        assert_eq!(limits.to_string(), "normal 0 0 0 slave 5 4 3 pubsub 1048576 0 0");
        limits.change(b"pubsub 0 0 0");
        assert_eq!(limits.subscriber(), None);
        assert_eq!(BufferLimits::canonical(b"pubsub 1kb 0  0").as_deref(), Ok("pubsub 1024 0 0"));
        for wrong in ["", "normal 0", "other 0 0 0", "normal x 0 0", "normal 0 0 -1"] {
            assert!(BufferLimits::canonical(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn save_takes_pairs_or_nothing() {
        assert_eq!(save(b"").as_deref(), Ok(""));
        assert_eq!(save(b"900 1  300 10").as_deref(), Ok("900 1 300 10"));
        assert!(save(b"900").is_err() && save(b"x").is_err());
    }

    #[test]
    fn percentages_lie_between_0_and_100() {
        assert_eq!(percentiles(b"50 99.9").as_deref(), Ok("50 99.9"));
        assert_eq!(percentiles(b"").as_deref(), Ok(""));
        assert!(percentiles(b"101").is_err() && percentiles(b"x").is_err());
    }

    #[test]
    fn events_are_letters() {
        assert_eq!(events(b"KEA").as_deref(), Ok("AKE"));
        assert!(events(b"KQ").is_err());
    }
}
