// SPDX-License-Identifier: Apache-2.0
//! [`Records`]: where the records of a TLS stream end, so that the rest of a large one is read at once.
//!
//! rustls reads 4 KiB at a time, which is the best for requests, but takes five system calls for a record of 16 KiB.
//! Nothing is read ahead of what rustls takes, or it would have to be kept somewhere: only the record that has begun,
//! and the header of the next one, with which a read that ends at the record's end is shorter than what it asks for.

/// Bytes of a record's header: its type, a version, and its length.
const HEADER: usize = 5;

/// Counts the bytes of a stream of records.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// Bytes of the header that have come, and the length in it as far as it has.
    header: usize,
    length: u16,
    /// Bytes of the body that are missing.
    left: usize,
}

impl Records {
    /// Counts the bytes that have come.
    pub(super) fn pass(&mut self, mut bytes: &[u8]) {
        while let Some((&byte, rest)) = bytes.split_first() {
            if self.left > 0 {
                let (_, rest) = bytes.split_at(self.left.min(bytes.len()));
                self.left -= bytes.len() - rest.len();
                bytes = rest;
                continue;
            }
            bytes = rest;
            self.header += 1;
            if self.header >= HEADER - 1 {
                self.length = self.length << 8 | u16::from(byte);
            }
            if self.header == HEADER {
                (self.left, self.header, self.length) = (self.length.into(), 0, 0);
            }
        }
    }

    /// Bytes up to the end of the record that has begun and of the header after it, if it is known how long that
    /// record is.
    #[inline]
    pub(super) fn missing(&self) -> usize {
        if self.left > 0 { self.left + HEADER } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_record_is_found_however_it_comes() {
        let record =
            |len: u16| [&[23, 3, 3][..], &len.to_be_bytes(), &vec![7; len.into()]].concat();
        let stream = [record(16_406), record(0), record(1), record(300)].concat();
        for size in [1, 2, 3, 7, 4096, 20_000] {
            let (mut records, mut passed) = (Records::default(), 0);
            for piece in stream.chunks(size) {
                records.pass(piece);
                passed += piece.len();
                let ends = [0, 16_411, 16_416, 16_422, 16_727];
                let begun = ends.iter().rposition(|&end| end <= passed).unwrap();
                let inside = passed - ends[begun];
                let expected = if inside < HEADER { 0 } else { ends[begun + 1] - passed + HEADER };
                assert_eq!(records.missing(), expected, "after {passed} bytes, {size} at a time");
            }
        }
    }
}
