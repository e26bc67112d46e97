// SPDX-License-Identifier: Apache-2.0
//! Where lines go.

use std::path::PathBuf;
use std::time::Duration;

/// A place for lines.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// The standard output. When its reader stalls, the thread of the drain waits for it.
    Stdout,
    /// The standard error, likewise.
    Stderr,
    /// A file that rotates.
    File(FileOptions),
}

/// A log file and when to start another one.
///
/// On rotation `server.log` becomes `server.log.1`, which becomes `server.log.2`, and so on.
///
/// ```
/// use std::time::Duration;
/// let options = ringlog::FileOptions::new("/var/log/shoebill/server.log")
///     .max_bytes(100 << 20)
///     .max_age(Duration::from_secs(24 * 60 * 60))
///     .keep(7);
/// assert_eq!(options.keep, 7);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOptions {
    /// The file to append to. Its folder must exist.
    pub path: PathBuf,
    /// The size in bytes the file does not outgrow, unless one line alone does; 0 is no limit.
    pub max_bytes: u64,
    /// The age, from the first line of the file, at which it is rotated; zero is never.
    pub max_age: Duration,
    /// How many rotated files stay; with 0 the content goes away on rotation.
    pub keep: u32,
}

impl FileOptions {
    /// Appends to `path`, rotates at 1 GiB whatever the age, keeps three rotated files.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), max_bytes: 1 << 30, max_age: Duration::ZERO, keep: 3 }
    }

    /// Sets the size limit in bytes; 0 is no limit.
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Sets the age limit; zero is no limit.
    #[must_use]
    pub fn max_age(mut self, max_age: Duration) -> Self {
        self.max_age = max_age;
        self
    }

    /// Sets how many rotated files stay.
    #[must_use]
    pub fn keep(mut self, keep: u32) -> Self {
        self.keep = keep;
        self
    }
}
