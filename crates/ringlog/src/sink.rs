// SPDX-License-Identifier: Apache-2.0
//! One output of the drain: gathers lines into a batch and writes it in one go.

use std::fmt;
use std::io::{self, ErrorKind, Write};

use crate::error::Error;
use crate::file::LogFile;
use crate::ledger::Ledger;
use crate::output::Output;

/// The bytes gathered before they are written.
const BATCH_BYTES: usize = 64 * 1024;

/// An output with the lines that are about to be written to it.
#[derive(Debug)]
pub(crate) struct Sink {
    place: Place,
    batch: Vec<u8>,
    /// The last write to a stream ended within a line. (A file keeps track of that itself.) The next write
    /// starts with a line break, so that two lines do not become one.
    torn: bool,
}

#[derive(Debug)]
enum Place {
    Stdout,
    Stderr,
    File(LogFile),
}

impl Sink {
    /// Opens an output for lines of at most `line_bytes`.
    pub(crate) fn open(output: Output, line_bytes: usize) -> Result<Self, Error> {
        let place = match output {
            Output::Stdout => Place::Stdout,
            Output::Stderr => Place::Stderr,
            Output::File(options) => {
                let path = options.path.clone();
                let file = LogFile::open(options);
                Place::File(file.map_err(|source| Error::Open { path, source })?)
            }
        };
        let batch = Vec::with_capacity(BATCH_BYTES.max(line_bytes));
        Ok(Self { place, batch, torn: false })
    }

    /// Adds a line to the batch; writes first what would not fit together with it.
    pub(crate) fn push(&mut self, line: &[u8], ledger: &mut Ledger) {
        let bytes = self.batch.len() + line.len();
        let outgrows = match &self.place {
            Place::File(file) => file.outgrows_with(bytes, ledger.now_ms),
            Place::Stdout | Place::Stderr => false,
        };
        if outgrows || bytes > self.batch.capacity() {
            self.flush(ledger);
        }
        if outgrows {
            self.rotate(ledger);
        }
        self.batch.extend_from_slice(line);
    }

    /// Rotates a file that has reached its age limit.
    pub(crate) fn tend(&mut self, ledger: &mut Ledger) {
        if let Place::File(file) = &self.place
            && file.is_old_at(ledger.now_ms)
        {
            self.rotate(ledger);
        }
    }

    /// Writes the batch out and counts its lines as written or failed.
    pub(crate) fn flush(&mut self, ledger: &mut Ledger) {
        if self.batch.is_empty() {
            return;
        }
        let (batch, torn) = (&self.batch, &mut self.torn);
        let (done, result) = match &mut self.place {
            Place::Stdout => write_batch(&mut io::stdout().lock(), torn, batch),
            Place::Stderr => write_batch(&mut io::stderr().lock(), torn, batch),
            Place::File(file) => match file.prepare(ledger.now_ms) {
                Ok(()) => {
                    let mut torn = file.is_torn();
                    let outcome = write_batch(file, &mut torn, batch);
                    file.set_torn(torn);
                    outcome
                }
                Err(error) => (0, Err(error)),
            },
        };
        let written = line_count(&self.batch[..done]);
        let failed = line_count(&self.batch[done..]);
        self.batch.clear();
        ledger.written(written);
        if let Err(error) = result {
            ledger.failed(failed, &self.place, &error);
        }
    }

    /// Opens a file anew by its path.
    pub(crate) fn reopen(&mut self, ledger: &mut Ledger) {
        if let Place::File(file) = &mut self.place
            && let Err(error) = file.reopen()
        {
            ledger.trouble(format_args!("cannot reopen {}: {error}", self.place));
        }
    }

    fn rotate(&mut self, ledger: &mut Ledger) {
        if let Place::File(file) = &mut self.place
            && let Err(error) = file.rotate(ledger.now_ms)
        {
            ledger.trouble(format_args!("cannot rotate {}: {error}", self.place));
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("stdout"),
            Self::Stderr => f.write_str("stderr"),
            Self::File(file) => file.path().display().fmt(f),
        }
    }
}

/// Writes `batch`, which ends in a line break, and says how many of its bytes went out. `torn` is
/// whether the output ends within a line, before and after.
fn write_batch(output: &mut impl Write, torn: &mut bool, batch: &[u8]) -> (usize, io::Result<()>) {
    if *torn {
        let (_, result) = write_fully(output, b"\n");
        if result.is_err() {
            return (0, result);
        }
        *torn = false;
    }
    let (done, result) = write_fully(output, batch);
    *torn = done > 0 && batch[done - 1] != b'\n';
    (done, result.and_then(|()| output.flush()))
}

/// Like `write_all`, but returns how many bytes were written.
fn write_fully(output: &mut impl Write, bytes: &[u8]) -> (usize, io::Result<()>) {
    let mut done = 0;
    while done < bytes.len() {
        match output.write(&bytes[done..]) {
            Ok(0) => return (done, Err(ErrorKind::WriteZero.into())),
            Ok(count) => done += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return (done, Err(error)),
        }
    }
    (done, Ok(()))
}

fn line_count(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;
    use crate::output::FileOptions;
    use crate::ring::Ring;

    /// A disk with limited room that writes four bytes at a time and is interrupted often.
    struct Disk {
        room: usize,
        content: Vec<u8>,
        calls: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.calls += 1;
            if self.calls.is_multiple_of(2) {
                return Err(ErrorKind::Interrupted.into());
            }
            let count = bytes.len().min(4).min(self.room);
            if count == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
            self.room -= count;
            self.content.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_disk_that_fills_up_within_a_line_does_not_join_two_lines() {
        let mut disk = Disk { room: 9, content: Vec::new(), calls: 0 };
        let mut torn = false;

        let (done, result) = write_batch(&mut disk, &mut torn, b"first\nsecond\nthird\n");
        assert_eq!((done, result.unwrap_err().kind()), (9, ErrorKind::StorageFull));
        assert!(torn);

        let (done, result) = write_batch(&mut disk, &mut torn, b"fourth\n");
        assert!(done == 0 && result.is_err() && torn);

        disk.room = 100;
        let (done, result) = write_batch(&mut disk, &mut torn, b"fifth\nsixth\n");
        assert!(done == 12 && result.is_ok() && !torn);
        assert_eq!(disk.content, b"first\nsec\nfifth\nsixth\n");
    }

    #[test]
    fn a_disk_that_fills_up_between_lines_tears_nothing() {
        let mut disk = Disk { room: 6, content: Vec::new(), calls: 0 };
        let mut torn = false;
        let (done, result) = write_batch(&mut disk, &mut torn, b"first\nsecond\n");
        assert!(done == 6 && result.is_err() && !torn);
        assert_eq!(line_count(b"first\nsecond\n"), 2);
    }

    #[test]
    fn only_a_file_with_a_torn_line_gets_the_line_break() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let options = FileOptions::new(&path).max_bytes(20).keep(1);
        let open = || Sink::open(Output::File(options.clone()), 128).unwrap();
        let mut ledger = Ledger::new(Arc::new(Ring::new(1, 128)));
        let mut write = |sink: &mut Sink, line: &[u8], reopen: bool| {
            sink.push(line, &mut ledger);
            sink.flush(&mut ledger);
            if reopen {
                sink.reopen(&mut ledger);
            }
            fs::read_to_string(&path).unwrap()
        };

        let mut sink = open();
        write(&mut sink, b"torn", false);
        assert_eq!(write(&mut sink, b"whole\n", false), "torn\nwhole\n");
        write(&mut sink, b"torn", false);
        assert_eq!(write(&mut sink, b"rotated\n", false), "rotated\n");
        write(&mut sink, b"torn", true);
        assert_eq!(write(&mut sink, b"6\n", false), "rotated\ntorn\n6\n", "reopened");

        fs::write(&path, "crashed").unwrap();
        assert_eq!(write(&mut open(), b"restarted\n", false), "crashed\nrestarted\n");
        fs::write(&path, "stopped\n").unwrap();
        assert_eq!(write(&mut open(), b"restarted\n", false), "stopped\nrestarted\n");
    }
}
