// SPDX-License-Identifier: Apache-2.0
//! [`Notes`]: entries that views found expired, kept until they are reported.

use keyspace::{Gone, Reason};

/// The capacity that the buffer of keys keeps between two uses, in bytes.
const KEEP: usize = 16 << 10;

/// A list of [`Gone`] entries. Keys are copied into one buffer.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    keys: Vec<u8>,
    notes: Vec<Note>,
}

#[derive(Clone, Copy, Debug)]
struct Note {
    db: usize,
    /// Where the key ends in the buffer; it begins where the one before ends.
    end: usize,
    reason: Reason,
}

impl Notes {
    pub(crate) fn push(&mut self, db: usize, key: &[u8], reason: Reason) {
        self.keys.extend_from_slice(key);
        self.notes.push(Note { db, end: self.keys.len(), reason });
    }

    /// Whether there is nothing to report.
    pub(crate) fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }

    /// Reports all, in order, and forgets them.
    #[inline]
    pub(crate) fn drain(&mut self, gone: &mut dyn FnMut(Gone<'_>)) {
        if !self.is_empty() {
            self.tell(gone);
        }
    }

    fn tell(&mut self, gone: &mut dyn FnMut(Gone<'_>)) {
        let mut begin = 0;
        for note in self.notes.drain(..) {
            let key = &self.keys[begin..note.end];
            gone(Gone { db: note.db, key, reason: note.reason, fields: &[] });
            begin = note.end;
        }
        self.keys.clear();
        self.keys.shrink_to(KEEP);
        self.notes.shrink_to(KEEP / size_of::<Note>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_out_once_and_in_order() {
        let mut notes = Notes::default();
        notes.push(3, b"one", Reason::Expired);
        notes.push(0, b"", Reason::Evicted);
        notes.push(1, b"three", Reason::Expired);
        let mut told = Vec::new();
        notes.drain(&mut |gone| told.push((gone.db, gone.key.to_vec(), gone.reason)));
        assert_eq!(
            told,
            [
                (3, b"one".to_vec(), Reason::Expired),
                (0, b"".to_vec(), Reason::Evicted),
                (1, b"three".to_vec(), Reason::Expired)
            ]
        );
        notes.drain(&mut |gone| panic!("{gone:?} is told twice"));
    }
}
