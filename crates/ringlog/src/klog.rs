// SPDX-License-Identifier: Apache-2.0
//! The command log: one line per sampled request.
//!
//! ```text
//! 2026-01-02T03:04:05.678Z get user:17 21 130 hit
//! time                     verb key request_bytes reply_bytes outcome
//! ```
//!
//! Fields are separated by one space. Bytes of a key outside printable ASCII, spaces and `%` are
//! percent-escaped, so a line is always one line and always has six fields. A key whose escaped
//! form is longer than 750 bytes is cut and ends in `%...`. An empty field is `-`, and a key that
//! is a lone `-` is `%2D`.
//!
//! A service asks before it gathers what to log. While the command log is off, asking is one load
//! of a value that is set once, and a branch:
//!
//! ```
//! use ringlog::klog;
//!
//! if klog::sampled() {
//!     klog::command("get", b"user:17", 21, 130, "hit");
//! }
//! ```

use std::cell::Cell;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::builder;
use crate::drain::Drain;
use crate::error::Error;
use crate::line::Line;
use crate::output::{FileOptions, Output};
use crate::ring::Ring;
use crate::sink::Sink;
use crate::timestamp;

/// Room for the longest line: see `the_longest_line_fits` below.
const LINE_BYTES: usize = 1024;

/// The longest escaped key: 250 bytes, the limit of memcached, all of them escaped.
const KEY_BYTES_MAX: usize = 750;

/// The longest escaped verb or outcome.
const WORD_BYTES_MAX: usize = 48;

static INSTALLED: OnceLock<Klog> = OnceLock::new();

/// Of how many requests one is logged; 0 is off.
static ONE_IN: Alone = Alone(AtomicU64::new(0));

/// Keeps its cache line (or pair of them) to itself: what every request reads must not share one
/// with something that is written often.
#[repr(align(128))]
struct Alone(AtomicU64);

thread_local! {
    /// Requests of this thread to let pass before one is logged. Each thread counts for itself:
    /// workers must not share a cache line for every request.
    static LET_PASS: Cell<u64> = const { Cell::new(0) };
}

/// Counts a request and says whether it is one to log: of each thread's requests the first, then
/// every n-th. Costs one relaxed load and a branch when the command log is off.
#[inline]
#[must_use]
pub fn sampled() -> bool {
    match ONE_IN.0.load(Relaxed) {
        0 => false,
        one_in => next_of(one_in),
    }
}

fn next_of(one_in: u64) -> bool {
    let left = LET_PASS.get();
    LET_PASS.set(if left == 0 { one_in - 1 } else { left - 1 });
    left == 0
}

/// Logs a request to the installed command log. Without one it does nothing.
///
/// `request_bytes` and `reply_bytes` are sizes on the wire. No allocation, no waiting; when the
/// ring is full the line is dropped and counted.
pub fn command(verb: &str, key: &[u8], request_bytes: usize, reply_bytes: usize, outcome: &str) {
    if let Some(klog) = INSTALLED.get() {
        klog.command(verb, key, request_bytes, reply_bytes, outcome);
    }
}

/// Settings of a command log.
///
/// ```
/// use ringlog::klog::KlogBuilder;
///
/// let folder = tempfile::tempdir()?;
/// let (klog, mut drain) = KlogBuilder::new(folder.path().join("klog")).sample(10).build()?;
/// klog.install()?;
/// # drain.run_once();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct KlogBuilder {
    file: FileOptions,
    sample: u64,
    capacity: usize,
}

impl KlogBuilder {
    /// One request in 100, to a file that rotates at 1 GiB with three kept; 4096 buffers of 1 KiB.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { file: FileOptions::new(path), sample: 100, capacity: 4096 }
    }

    /// Sets the size in bytes at which the file is rotated; 0 is never.
    pub fn max_bytes(mut self, max_bytes: u64) -> Self {
        self.file.max_bytes = max_bytes;
        self
    }

    /// Sets the age at which the file is rotated; zero is never.
    pub fn max_age(mut self, max_age: Duration) -> Self {
        self.file.max_age = max_age;
        self
    }

    /// Sets how many rotated files stay.
    pub fn keep(mut self, keep: u32) -> Self {
        self.file.keep = keep;
        self
    }

    /// Logs one request in `one_in_n` of each thread; 0 is off.
    pub fn sample(mut self, one_in_n: u64) -> Self {
        self.sample = one_in_n;
        self
    }

    /// Sets how many lines may wait for the drain.
    pub fn capacity(mut self, lines: usize) -> Self {
        self.capacity = lines;
        self
    }

    /// Makes the buffers and opens the file.
    ///
    /// # Errors
    ///
    /// [`Error::ZeroCapacity`], and [`Error::Open`] when the file cannot be opened.
    pub fn build(self) -> Result<(Klog, Drain), Error> {
        let ring = builder::ring(self.capacity, LINE_BYTES)?;
        let sink = Sink::open(Output::File(self.file), LINE_BYTES)?;
        let klog = Klog { ring: Arc::clone(&ring), sample: self.sample };
        Ok((klog, Drain::new(ring, vec![sink])))
    }
}

/// The caller's half of a command log.
#[derive(Debug)]
pub struct Klog {
    ring: Arc<Ring>,
    sample: u64,
}

impl Klog {
    /// Makes this the command log of the process, and [`sampled`] true for its share of requests.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyInstalled`] when the process has a command log.
    pub fn install(self) -> Result<(), Error> {
        let sample = self.sample;
        INSTALLED.set(self).map_err(|_| Error::AlreadyInstalled)?;
        ONE_IN.0.store(sample, Relaxed);
        Ok(())
    }

    /// Logs a request to this command log, sampled or not. See the function [`command`].
    pub fn command(
        &self,
        verb: &str,
        key: &[u8],
        request_bytes: usize,
        reply_bytes: usize,
        outcome: &str,
    ) {
        let Some(mut slot) = self.ring.take() else {
            return;
        };
        let line = &mut slot.line;
        line.start(timestamp::unix_ms_now());
        put_field(line, verb.as_bytes(), WORD_BYTES_MAX);
        line.put(b" ");
        put_field(line, key, KEY_BYTES_MAX);
        // Writing numbers fails only in a full line, which no limits allow.
        let _ = write!(line, " {request_bytes} {reply_bytes} ");
        put_field(line, outcome.as_bytes(), WORD_BYTES_MAX);
        line.finish();
        slot.submit(0);
    }
}

/// Writes a field percent-escaped, in at most `bytes_max` bytes and the mark of a cut.
fn put_field(line: &mut Line, field: &[u8], bytes_max: usize) {
    match field {
        b"" => return line.put(b"-"),
        b"-" => return line.put(b"%2D"),
        _ => {}
    }
    let mut room = bytes_max;
    for &byte in field {
        let plain = byte.is_ascii_graphic() && byte != b'%';
        let cost = if plain { 1 } else { 3 };
        if cost > room {
            return line.put(b"%...");
        }
        room -= cost;
        if plain {
            line.put(&[byte]);
        } else {
            let digit = |half: u8| b"0123456789ABCDEF"[usize::from(half)];
            line.put(&[b'%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(bytes: &[u8], bytes_max: usize) -> String {
        let mut line = Line::new(bytes::BytesMut::with_capacity(LINE_BYTES));
        line.start(0);
        put_field(&mut line, bytes, bytes_max);
        String::from_utf8(line.bytes()[timestamp::LEN + 1..].to_vec()).unwrap()
    }

    #[test]
    fn fields_are_escaped() {
        let table: [(&[u8], &str); 8] = [
            (b"user:17", "user:17"),
            (b"a b", "a%20b"),
            (b"a\r\nb", "a%0D%0Ab"),
            (b"100%", "100%25"),
            (b"\x00\x7f\xff", "%00%7F%FF"),
            ("é".as_bytes(), "%C3%A9"),
            (b"", "-"),
            (b"-", "%2D"),
        ];
        for (bytes, text) in table {
            assert_eq!(field(bytes, 100), text);
        }
    }

    #[test]
    fn a_long_field_is_cut_between_escapes_and_marked() {
        assert_eq!(field(b"abcdef", 6), "abcdef");
        assert_eq!(field(b"abcdefg", 6), "abcdef%...");
        assert_eq!(field(b"abc\n\n", 8), "abc%0A%...");
    }

    #[test]
    fn the_longest_line_fits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("klog");
        let (klog, mut drain) = KlogBuilder::new(&path).build().unwrap();
        let long = "%".repeat(1000);
        klog.command(&long, long.as_bytes(), usize::MAX, usize::MAX, &long);
        assert_eq!(drain.run_once(), 1);
        let text = std::fs::read_to_string(&path).unwrap();
        let word = format!("{}%...", "%25".repeat(WORD_BYTES_MAX / 3));
        let key = format!("{}%...", "%25".repeat(KEY_BYTES_MAX / 3));
        let max = usize::MAX;
        assert_eq!(&text[timestamp::LEN..], format!(" {word} {key} {max} {max} {word}\n"));
    }
}
