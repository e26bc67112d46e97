// SPDX-License-Identifier: Apache-2.0
//! [`Slowlog`]: the latest commands that took longer than a threshold.

use super::secrets;
use crate::session::client::Client;
use crate::table::Spec;
use crate::wire::parse::Args;
use clock::Now;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Arguments kept of one command; the last says how many more there were.
const ARGS_MAX: usize = 32;

/// Bytes kept of one argument.
const ARG_BYTES_MAX: usize = 128;

/// A threshold below this times every run of every command.
const TIMES_ALL_BELOW_US: i64 = 1000;

/// A slow command.
#[derive(Clone, Debug)]
pub(crate) struct Slow {
    pub(crate) id: u64,
    pub(crate) unix_seconds: u64,
    pub(crate) elapsed: Duration,
    pub(crate) args: Vec<Box<[u8]>>,
    pub(crate) peer: String,
    pub(crate) client: Box<[u8]>,
}

/// The latest slow commands, up to a number.
#[derive(Debug)]
pub(crate) struct Slowlog {
    /// `slowlog-log-slower-than` in microseconds; negative: none.
    pub(crate) threshold_us: AtomicI64,
    /// `slowlog-max-len`.
    pub(crate) len_max: AtomicUsize,
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    next: u64,
    /// The latest first.
    entries: VecDeque<Slow>,
}

impl Default for Slowlog {
    fn default() -> Self {
        Slowlog {
            threshold_us: AtomicI64::new(10_000),
            len_max: AtomicUsize::new(128),
            log: Mutex::default(),
        }
    }
}

impl Slowlog {
    /// Whether the threshold is so low that fast commands may exceed it.
    #[inline]
    pub(crate) fn times_all(&self) -> bool {
        (0..TIMES_ALL_BELOW_US).contains(&self.threshold_us.load(Relaxed))
    }

    /// Records a command that took this many nanoseconds, if that is over the threshold.
    #[inline]
    pub(crate) fn note(
        &self,
        nanos: u64,
        client: Option<&Client>,
        now: Now,
        args: impl FnOnce() -> Vec<Box<[u8]>>,
    ) {
        let threshold_us = self.threshold_us.load(Relaxed);
        if threshold_us >= 0 && nanos >= threshold_us.unsigned_abs().saturating_mul(1000) {
            self.enter(Duration::from_nanos(nanos), client, now, args());
        }
    }

    #[cold]
    fn enter(&self, elapsed: Duration, client: Option<&Client>, now: Now, args: Vec<Box<[u8]>>) {
        let name = client.map(|client| client.names.lock().name.clone());
        let len_max = self.len_max.load(Relaxed);
        let mut log = self.log.lock();
        let id = log.next;
        log.next += 1;
        log.entries.push_front(Slow {
            id,
            unix_seconds: now.unix_seconds(),
            elapsed,
            args,
            peer: client.map(Client::address).unwrap_or_default(),
            client: name.unwrap_or_default(),
        });
        log.entries.truncate(len_max);
    }

    /// Up to `most` of the latest.
    pub(crate) fn latest(&self, most: usize) -> Vec<Slow> {
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

/// The arguments of a command as they are kept: without passwords, truncated in number and length.
#[cold]
pub(crate) fn kept(spec: &Spec, args: Args<'_>) -> Vec<Box<[u8]>> {
    shortened(secrets::shown(spec, args))
}

fn shortened<'a>(args: impl ExactSizeIterator<Item = &'a [u8]>) -> Vec<Box<[u8]>> {
    let len = args.len();
    let mut kept: Vec<Box<[u8]>> = Vec::with_capacity(len.min(ARGS_MAX));
    for (i, arg) in args.enumerate() {
        if i == ARGS_MAX - 1 && len > ARGS_MAX {
            let more = format!("... ({} more arguments)", len - i);
            kept.push(more.into_bytes().into());
            break;
        }
        if arg.len() > ARG_BYTES_MAX {
            let mut text = arg[..ARG_BYTES_MAX].to_vec();
            text.extend_from_slice(
                format!("... ({} more bytes)", arg.len() - ARG_BYTES_MAX).as_bytes(),
            );
            kept.push(text.into());
        } else {
            kept.push(arg.into());
        }
    }
    kept
}
