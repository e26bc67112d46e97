// SPDX-License-Identifier: Apache-2.0
//! Values with a syntax of their own.

use super::kind::Kind;
use crate::acl::{self, NewUser};
use crate::host::events::Wanted;
use std::collections::BTreeSet;
use std::fmt;

/// Words with one space between them.
pub(super) fn words(text: &[u8]) -> Result<String, String> {
    let text = str::from_utf8(text).map_err(|_| "argument must be text".to_owned())?;
    Ok(text.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
}

/// The server to replicate; empty for `no one`.
pub(super) fn primary(text: &[u8]) -> Result<String, String> {
    words(text).map(|text| if text.eq_ignore_ascii_case("no one") { String::new() } else { text })
}

/// The name of a file of users that is there and right.
pub(super) fn acl_file(text: &[u8]) -> Result<String, String> {
    let name = str::from_utf8(text).map_err(|_| "argument must be text".to_owned())?;
    if !name.is_empty() {
        let users = std::fs::read(name).map_err(|error| format!("cannot read {name}: {error}"))?;
        acl::file::read(name, &users, NewUser::NoChannels)?;
    }
    Ok(name.to_owned())
}

/// Users, a line each, without the word in front.
pub(super) fn users(text: &[u8]) -> Result<String, String> {
    let text = str::from_utf8(text).map_err(|_| "argument must be text".to_owned())?;
    let mut names = BTreeSet::new();
    for line in text.lines() {
        let (name, _) = acl::file::user(line.as_bytes(), NewUser::NoChannels)?;
        let shown = String::from_utf8_lossy(&name).into_owned();
        if !names.insert(name) {
            return Err(format!("Duplicate user '{shown}' found"));
        }
    }
    Ok(text.to_owned())
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
    let numbers: Option<Vec<u32>> = text.split(' ').map(|word| word.parse().ok()).collect();
    let is_right = |numbers: &[u32]| {
        numbers.len().is_multiple_of(2) && numbers.chunks(2).all(|pair| pair[0] > 0)
    };
    if text.is_empty() || numbers.is_some_and(|numbers| is_right(&numbers)) {
        Ok(text)
    } else {
        Err("Invalid save parameters".to_owned())
    }
}

/// Percentages, of which six digits behind the point count.
pub(super) fn percentiles(text: &[u8]) -> Result<String, String> {
    let text = words(text)?;
    let name = "latency-tracking-info-percentiles";
    let mut shown = Vec::new();
    for word in text.split_ascii_whitespace() {
        let part: Option<f64> = word.parse().ok().filter(|part: &f64| !part.is_nan());
        let part = part.ok_or_else(|| format!("Invalid {name} parameters"))?;
        if !(0.0..=100.0).contains(&part) {
            return Err(format!("{name} parameters should sit between [0.0,100.0]"));
        }
        let digits = format!("{part:.6}");
        shown.push(digits.trim_end_matches('0').trim_end_matches('.').to_owned());
    }
    Ok(shown.join(" "))
}

/// How often a second something is done; it is brought between 1 and 500.
pub(super) fn hz(text: &[u8]) -> Result<String, String> {
    let value = Kind::Integer(0, i64::from(i32::MAX)).read(text)?;
    Ok(value.number().clamp(1, 500).to_string())
}

/// The size of a backlog: 16 KiB at the least.
pub(super) fn backlog(text: &[u8]) -> Result<String, String> {
    let value = Kind::Bytes(1, i64::MAX).read(text)?;
    Ok(value.number().max(16 << 10).to_string())
}

/// Three numbers between -2000 and 2000.
pub(super) fn oom_scores(text: &[u8]) -> Result<String, String> {
    let text = words(text)?;
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    if words.len() != 3 {
        return Err("wrong number of arguments".to_owned());
    }
    let is_right =
        |word: &&str| word.parse::<i32>().is_ok_and(|score| (-2000..=2000).contains(&score));
    if words.iter().all(is_right) {
        return Ok(text);
    }
    Err("Invalid oom-score-adj-values, elements must be between -2000 and 2000.".to_owned())
}

/// A text in which names in braces stand for what is put in.
pub(super) fn title(text: &[u8]) -> Result<String, String> {
    const NAMES: [&str; 7] =
        ["title", "listen-addr", "server-mode", "port", "tls-port", "unixsocket", "config-file"];
    let wrong = || "template format is invalid or contains unknown variables".to_owned();
    let text = str::from_utf8(text).map_err(|_| wrong())?;
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('{') {
        let (name, behind) = behind.split_once('}').ok_or_else(wrong)?;
        if !NAMES.contains(&name) {
            return Err(wrong());
        }
        rest = behind;
    }
    if text.is_empty() { Err(wrong()) } else { Ok(text.to_owned()) }
}

/// The name of a host.
pub(super) fn hostname(text: &[u8]) -> Result<String, String> {
    if text.len() >= 256 {
        return Err("Hostnames must be less than 256 characters".to_owned());
    }
    let is_right = |byte: &u8| byte.is_ascii_alphanumeric() || b"-.".contains(byte);
    if text.iter().all(is_right) {
        return Ok(String::from_utf8_lossy(text).into_owned());
    }
    Err("Hostnames may only contain alphanumeric characters, hyphens or dots".to_owned())
}

/// What a signal to end does besides: some words of those that SHUTDOWN takes, or `default`.
pub(super) fn shutdown(text: &[u8]) -> Result<String, String> {
    const WORDS: [&str; 5] = ["default", "save", "nosave", "now", "force"];
    let text = words(text)?.to_ascii_lowercase();
    let mut given = Vec::new();
    for word in text.split(' ') {
        let known = WORDS.iter().find(|known| **known == word);
        let known = known.ok_or_else(|| {
            format!("argument(s) must be one of the following: {}", WORDS.join(", "))
        })?;
        given.push(*known);
    }
    if given.contains(&"save") && given.contains(&"nosave") {
        return Err("shutdown options SAVE and NOSAVE can't be used simultaneously".to_owned());
    }
    let shown: Vec<&str> = WORDS[1..].iter().copied().filter(|word| given.contains(word)).collect();
    Ok(if shown.is_empty() { "default".to_owned() } else { shown.join(" ") })
}

/// The classes of clients, by the name that is shown first.
const CLASSES: [&[&str]; 3] = [&["normal"], &["slave", "replica"], &["pubsub"]];

/// With how many unread bytes a client of a class is closed; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferLimit {
    /// At once.
    pub hard: u64,
    /// When they have waited, so many all the time, for more than [`BufferLimit::seconds`].
    pub soft: u64,
    /// How long the soft limit may be passed.
    pub seconds: u64,
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
    if !words.len().is_multiple_of(4) {
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
        assert_eq!(limits.0[2], BufferLimit { hard: 32 << 20, soft: 8 << 20, seconds: 60 });
        limits.change(b"pubsub 1mb 0 0 replica 5 4 3");
        assert_eq!(limits.to_string(), "normal 0 0 0 slave 5 4 3 pubsub 1048576 0 0");
        limits.change(b"pubsub 0 0 0");
        assert_eq!(limits.0[2], BufferLimit::default());
        assert_eq!(BufferLimits::canonical(b"pubsub 1kb 0  0").as_deref(), Ok("pubsub 1024 0 0"));
        assert_eq!(BufferLimits::canonical(b"").as_deref(), Ok(""), "nothing changes");
        for wrong in ["normal 0", "other 0 0 0", "normal x 0 0", "normal 0 0 -1"] {
            assert!(BufferLimits::canonical(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn save_takes_pairs_or_nothing() {
        assert_eq!(save(b"").as_deref(), Ok(""));
        assert_eq!(save(b"900 1  300 10").as_deref(), Ok("900 1 300 10"));
        for wrong in ["900", "x", "0 1", "900 1 300", "-1 1", "1 -1"] {
            assert!(save(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn percentages_lie_between_0_and_100() {
        assert_eq!(percentiles(b"50 99.9").as_deref(), Ok("50 99.9"));
        assert_eq!(percentiles(b"0.0 50.0 1e-9 12.50").as_deref(), Ok("0 50 0 12.5"));
        assert_eq!(percentiles(b"").as_deref(), Ok(""));
        assert!(percentiles(b"101").is_err() && percentiles(b"x").is_err());
    }

    #[test]
    fn events_are_letters() {
        assert_eq!(events(b"KEA").as_deref(), Ok("AKE"));
        assert!(events(b"KQ").is_err());
    }
}
