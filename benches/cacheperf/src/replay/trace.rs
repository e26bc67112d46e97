// SPDX-License-Identifier: Apache-2.0
//! [`Trace`]: recorded requests, as a file has them.

use super::record::{RECORD_BYTES, Record};
use crate::Error;
use crate::workload::KEY_MAX;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;

/// Recorded requests.
#[derive(Clone, Debug)]
pub struct Trace {
    pub(super) records: Arc<[Record]>,
}

impl Trace {
    /// Reads the first `max` records of a file.
    ///
    /// # Errors
    ///
    /// [`Error::File`], when it cannot be read or is no trace.
    pub fn read(path: &Path, max: u64) -> Result<Self, Error> {
        let failed = |error: std::io::Error| Error::file(path, &error);
        let mut file = BufReader::with_capacity(1 << 20, File::open(path).map_err(failed)?);
        let mut records = Vec::new();
        let mut bytes = [0; RECORD_BYTES];
        while (records.len() as u64) < max {
            match fill(&mut file, &mut bytes).map_err(failed)? {
                0 => break,
                RECORD_BYTES => {}
                _ => return Err(Error::file(path, &"no trace: it ends within a record")),
            }
            let number = records.len() + 1;
            let record = Record::decode(&bytes).ok_or_else(|| {
                Error::file(path, &format!("no trace: record {number} asks for nothing known"))
            })?;
            if usize::from(record.key_len) > KEY_MAX {
                let words = format!(
                    "record {number} has a key of {} bytes; {KEY_MAX} are the most",
                    record.key_len
                );
                return Err(Error::file(path, &words));
            }
            records.push(record);
        }
        Ok(Trace { records: records.into() })
    }

    /// The requests, in order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// How many requests there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

impl FromIterator<Record> for Trace {
    fn from_iter<I: IntoIterator<Item = Record>>(records: I) -> Self {
        Trace { records: records.into_iter().collect() }
    }
}

/// Reads until `bytes` is full or the file ends; how many were read.
fn fill(file: &mut impl Read, bytes: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..])? {
            0 => break,
            n => filled += n,
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RecordedOp;

    #[test]
    fn files_that_are_no_traces_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        let read = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            Trace::read(&path, u64::MAX).map(|trace| trace.len()).map_err(|error| error.to_string())
        };
        let op = RecordedOp::Set;
        let record = Record { time_ms: 0, key: 1, value_len: 8, ttl_ms: 0, key_len: 16, op };
        assert_eq!(read(&record.encode().repeat(3)), Ok(3));
        assert_eq!(read(&[0; 48]), Ok(2));
        assert!(read(&[0; 47]).unwrap_err().contains("trace: no trace: it ends within a record"));
        assert!(read(&[9; 24]).unwrap_err().contains("record 1 asks for nothing known"));
        let long = Record { key_len: 300, ..record };
        assert!(read(&long.encode()).unwrap_err().contains("a key of 300 bytes"));
        assert_eq!(Trace::read(&path, 0).unwrap().len(), 0);
        assert!(Trace::read(&folder.path().join("none"), 1).is_err());
    }
}
