// SPDX-License-Identifier: Apache-2.0
//! [`CommandLog`]: the latest commands above a threshold: those that took long, and those whose requests or replies
//! were large.

use super::secrets;
use crate::session::client::Client;
use crate::table::Spec;
use crate::wire::parse::Args;
use clock::Now;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};

/// Arguments kept of one command; the last says how many more there were.
const ARGS_MAX: usize = 32;

/// Bytes kept of one argument.
const ARG_BYTES_MAX: usize = 128;

/// From how many bytes on requests and replies are large unless a parameter says otherwise.
const LARGE: i64 = 1 << 20;

/// A threshold below this times every run of every command.
const TIMES_ALL_BELOW_US: i64 = 1000;

/// A command above the threshold.
#[derive(Clone, Debug)]
pub(crate) struct Logged {
    pub(crate) id: u64,
    pub(crate) unix_seconds: u64,
    /// How long it took in microseconds, or how many bytes it had.
    pub(crate) value: u64,
    pub(crate) args: Vec<Box<[u8]>>,
    pub(crate) peer: String,
    pub(crate) client: Box<[u8]>,
}

/// The latest commands above a threshold, up to a number.
#[derive(Debug)]
pub(crate) struct CommandLog {
    /// In microseconds or bytes; negative: none.
    pub(crate) threshold: AtomicI64,
    /// The most commands.
    pub(crate) len_max: AtomicUsize,
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    next: u64,
    /// The latest first.
    entries: VecDeque<Logged>,
}

impl CommandLog {
    /// A log of commands that took as long as Redis calls slow.
    pub(crate) fn of_slow() -> Self {
        Self::new(10_000)
    }

    fn new(threshold: i64) -> Self {
        CommandLog {
            threshold: AtomicI64::new(threshold),
            len_max: AtomicUsize::new(128),
            log: Mutex::default(),
        }
    }

    /// Whether the threshold is so low that fast commands may exceed it.
    pub(crate) fn times_all(&self) -> bool {
        (0..TIMES_ALL_BELOW_US).contains(&self.threshold.load(Relaxed))
    }

    /// Records a command that took this many nanoseconds, if that is over the threshold.
    #[inline]
    pub(crate) fn note_time(
        &self,
        nanos: u64,
        client: Option<&Client>,
        now: Now,
        args: impl FnOnce() -> Vec<Box<[u8]>>,
    ) {
        let threshold_us = self.threshold.load(Relaxed);
        if threshold_us >= 0 && nanos >= threshold_us.unsigned_abs().saturating_mul(1000) {
            self.enter(nanos / 1000, client, now, args());
        }
    }

    /// Records a command of this many bytes, if that is over the threshold.
    pub(crate) fn note_size(
        &self,
        bytes: usize,
        client: Option<&Client>,
        now: Now,
        args: impl FnOnce() -> Vec<Box<[u8]>>,
    ) {
        if bytes as u64 >= self.least() {
            self.enter(bytes as u64, client, now, args());
        }
    }

    /// The threshold; one that nothing reaches if there is none.
    fn least(&self) -> u64 {
        u64::try_from(self.threshold.load(Relaxed)).unwrap_or(u64::MAX)
    }

    #[cold]
    fn enter(&self, value: u64, client: Option<&Client>, now: Now, args: Vec<Box<[u8]>>) {
        // Names are as long as clients like, and count only once.
        let name = client.map(|client| shortened_text(&client.names.lock().name));
        let len_max = self.len_max.load(Relaxed);
        if len_max == 0 {
            return;
        }
        let mut log = self.log.lock();
        let id = log.next;
        log.next += 1;
        log.entries.push_front(Logged {
            id,
            unix_seconds: now.unix_seconds(),
            value,
            args,
            // As Redis shows a client whose address it does not know.
            peer: client.map_or_else(|| "?:0".to_owned(), Client::address),
            client: name.unwrap_or_default(),
        });
        log.entries.truncate(len_max);
    }

    /// Up to `most` of the latest.
    pub(crate) fn latest(&self, most: usize) -> Vec<Logged> {
        self.log.lock().entries.iter().take(most).cloned().collect()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.log.lock().entries.len()
    }

    /// Removes all entries.
    pub(crate) fn clear(&self) {
        self.log.lock().entries.clear();
    }
}

/// The latest commands whose requests or replies were large.
#[derive(Debug)]
pub(crate) struct LargeLogs {
    pub(crate) requests: CommandLog,
    pub(crate) replies: CommandLog,
    /// The lower of the thresholds.
    least: AtomicUsize,
}

impl Default for LargeLogs {
    fn default() -> Self {
        let (requests, replies) = (CommandLog::new(LARGE), CommandLog::new(LARGE));
        LargeLogs { requests, replies, least: AtomicUsize::new(LARGE as usize) }
    }
}

impl LargeLogs {
    /// From how many bytes on a request or a reply may be large. Every command is compared with it.
    #[inline]
    pub(crate) fn least(&self) -> usize {
        self.least.load(Relaxed)
    }

    /// Sets from how many bytes on a request is large.
    pub(crate) fn set_request_threshold(&self, bytes: i64) {
        self.requests.threshold.store(bytes, Relaxed);
        self.adjust();
    }

    /// Sets from how many bytes on a reply is large.
    pub(crate) fn set_reply_threshold(&self, bytes: i64) {
        self.replies.threshold.store(bytes, Relaxed);
        self.adjust();
    }

    fn adjust(&self) {
        let least = self.requests.least().min(self.replies.least());
        self.least.store(usize::try_from(least).unwrap_or(usize::MAX), Relaxed);
    }
}

/// The arguments of a command as they are kept: without passwords, truncated in number and length.
#[cold]
pub(crate) fn kept(spec: &Spec, args: Args<'_>) -> Vec<Box<[u8]>> {
    shortened(secrets::shown(spec, args))
}

/// Arguments without passwords as they are kept.
pub(crate) fn shortened<'a>(args: impl ExactSizeIterator<Item = &'a [u8]>) -> Vec<Box<[u8]>> {
    let len = args.len();
    let mut kept: Vec<Box<[u8]>> = Vec::with_capacity(len.min(ARGS_MAX));
    for (i, arg) in args.enumerate() {
        if i == ARGS_MAX - 1 && len > ARGS_MAX {
            let more = format!("... ({} more arguments)", len - i);
            kept.push(more.into_bytes().into());
            break;
        }
        kept.push(shortened_text(arg));
    }
    kept
}

fn shortened_text(text: &[u8]) -> Box<[u8]> {
    let Some((start, rest)) =
        text.split_at_checked(ARG_BYTES_MAX).filter(|(_, rest)| !rest.is_empty())
    else {
        return text.into();
    };
    [start, format!("... ({} more bytes)", rest.len()).as_bytes()].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_given_to_those_that_are_kept() {
        let log = CommandLog::of_slow();
        let now = clock::Clock::manual(0).now();
        let note = || log.note_time(u64::MAX, None, now, Vec::new);
        log.len_max.store(0, Relaxed);
        note();
        log.len_max.store(1, Relaxed);
        note();
        note();
        assert_eq!(log.latest(9).iter().map(|entry| entry.id).collect::<Vec<_>>(), [1]);
    }
}
