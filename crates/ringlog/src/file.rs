// SPDX-License-Identifier: Apache-2.0
//! A log file that rotates.
//!
//! The file is open for appending all the time. Somebody may move it away (then lines follow it
//! until [`LogFile::reopen`]) or delete it (then it is made anew before the next line).

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::output::FileOptions;

/// How long a rotation that failed is not tried again.
const ROTATE_RETRY_MS: u64 = 60_000;

/// An open file and what its rotation depends on.
#[derive(Debug)]
pub(crate) struct LogFile {
    options: FileOptions,
    open: OpenFile,
    /// No rotation before this time, in milliseconds since 1970.
    rotate_not_before_ms: u64,
}

#[derive(Debug)]
struct OpenFile {
    file: File,
    size: u64,
    /// The time of the first line, in milliseconds since 1970; none in an empty file.
    born_ms: Option<u64>,
    /// False for devices and pipes, which are not to be renamed.
    is_regular: bool,
    /// The last line has no line break: the disk was full, or the process was killed.
    torn: bool,
}

impl LogFile {
    /// Opens the file, which is made if need be.
    pub(crate) fn open(options: FileOptions) -> io::Result<Self> {
        let open = OpenFile::new(&options.path)?;
        Ok(Self { options, open, rotate_not_before_ms: 0 })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.options.path
    }

    /// Whether `bytes` more are too many for this file, and it is one that can be rotated.
    pub(crate) fn outgrows_with(&self, bytes: usize, now_ms: u64) -> bool {
        let limit = self.options.max_bytes;
        let size = self.open.size.saturating_add(bytes as u64);
        limit != 0 && size > limit && self.may_rotate_at(now_ms)
    }

    /// Whether the first line of the file is too old, and the file is one that can be rotated.
    pub(crate) fn is_old_at(&self, now_ms: u64) -> bool {
        let limit = self.options.max_age;
        let age_ms = now_ms.saturating_sub(self.open.born_ms.unwrap_or(now_ms));
        !limit.is_zero() && u128::from(age_ms) >= limit.as_millis() && self.may_rotate_at(now_ms)
    }

    fn may_rotate_at(&self, now_ms: u64) -> bool {
        self.open.is_regular && now_ms >= self.rotate_not_before_ms
    }

    /// Gets ready for writing: makes a file anew that was deleted.
    pub(crate) fn prepare(&mut self, now_ms: u64) -> io::Result<()> {
        if self.open.file.metadata()?.nlink() == 0 {
            self.reopen()?;
        }
        self.open.born_ms.get_or_insert(now_ms);
        Ok(())
    }

    /// Opens the path anew. On an error the file stays as it is.
    pub(crate) fn reopen(&mut self) -> io::Result<()> {
        self.open = OpenFile::new(&self.options.path)?;
        Ok(())
    }

    /// Whether the file ends within a line.
    pub(crate) fn is_torn(&self) -> bool {
        self.open.torn
    }

    /// Notes whether the file ends within a line.
    pub(crate) fn set_torn(&mut self, torn: bool) {
        self.open.torn = torn;
    }

    /// Moves the file to `.1`, that to `.2` and so on, and starts another. An empty file stays. On
    /// an error the open file goes on being used, and rotation rests for a minute.
    pub(crate) fn rotate(&mut self, now_ms: u64) -> io::Result<()> {
        if self.open.size == 0 {
            return Ok(());
        }
        let result = self.shift().and_then(|()| self.reopen());
        if result.is_err() {
            self.rotate_not_before_ms = now_ms.saturating_add(ROTATE_RETRY_MS);
        }
        result
    }

    fn shift(&self) -> io::Result<()> {
        if self.options.keep == 0 {
            return unless_missing(fs::remove_file(self.path()));
        }
        for number in (1..self.options.keep).rev() {
            unless_missing(fs::rename(self.numbered(number), self.numbered(number + 1)))?;
        }
        unless_missing(fs::rename(self.path(), self.numbered(1)))
    }

    fn numbered(&self, number: u32) -> PathBuf {
        let mut name = OsString::from(self.path());
        name.push(format!(".{number}"));
        name.into()
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.open.file.write(bytes)?;
        self.open.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.open.file.flush()
    }
}

impl OpenFile {
    fn new(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        let metadata = file.metadata()?;
        let size = metadata.len();
        // A file from an earlier run keeps its age, or one that restarts daily would never rotate.
        let born = metadata.created().or_else(|_| metadata.modified()).ok();
        let born = born.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let born_ms = born.and_then(|since| u64::try_from(since.as_millis()).ok());
        let born_ms = born_ms.filter(|_| size > 0);
        Ok(Self {
            file,
            size,
            born_ms,
            is_regular: metadata.is_file(),
            torn: metadata.is_file() && size > 0 && !ends_in_line_break(path, size),
        })
    }
}

/// Looks at the last byte. A file that may not be read is taken to be whole.
fn ends_in_line_break(path: &Path, size: u64) -> bool {
    let mut last = [b'\n'];
    let read = File::open(path).and_then(|file| file.read_exact_at(&mut last, size - 1));
    read.is_err() || last == [b'\n']
}

/// What is not there needs no moving.
fn unless_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
