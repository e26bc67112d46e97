// SPDX-License-Identifier: Apache-2.0
//! [`Field`]: a field of a large hash, with its value and perhaps its expiry, in one allocation.
//!
//! ```text
//!  | length of the name, and whether there is a time: varint | [due u64] | name | value |
//! ```
//!
//! The varint is twice the name's length, and one more if there is a time.

use super::packed::NEVER;
use crate::Keyed;
use crate::thin::Thin;
use crate::varint::{self, Varint};
use prefetch::Hint;
use std::ops::Range;

/// The bytes of a time.
const TIME: usize = size_of::<u64>();

/// A field, behind one pointer.
#[derive(Debug)]
pub(crate) struct Field(Thin);

const _: () = assert!(size_of::<Option<Field>>() == size_of::<usize>(), "a slot of a bucket");

/// Where the parts of a field are.
#[derive(Clone, Copy, Debug)]
struct Parts {
    /// Where the time is, if there is one.
    time: usize,
    timed: bool,
    name: usize,
    value: usize,
}

impl Field {
    /// A field that expires at `due`, which may be [`NEVER`].
    pub(crate) fn new(name: &[u8], value: &[u8], due: u64) -> Self {
        let timed = due != NEVER;
        let head = head(name.len(), timed);
        let time = due.to_le_bytes();
        let time = if timed { &time[..] } else { &[] };
        Field(Thin::new(&[head.as_bytes(), time, name, value]))
    }

    #[inline]
    fn parts(&self) -> Parts {
        let (head, time) = varint::read(&self.0);
        let timed = head % 2 == 1;
        let name = if timed { time + TIME } else { time };
        Parts { time, timed, name, value: name + head / 2 }
    }

    /// The name, and the value.
    #[inline]
    pub(crate) fn pair(&self) -> (&[u8], &[u8]) {
        let Parts { name, value, .. } = self.parts();
        (&self.0[name..value], &self.0[value..])
    }

    #[inline]
    pub(crate) fn value(&self) -> &[u8] {
        &self.0[self.parts().value..]
    }

    /// When it expires, or [`NEVER`].
    #[inline]
    pub(crate) fn due_ms(&self) -> u64 {
        let Parts { time, timed, .. } = self.parts();
        if !timed {
            return NEVER;
        }
        let mut due = [0; TIME];
        due.copy_from_slice(&self.0[time..time + TIME]);
        u64::from_le_bytes(due)
    }

    /// Replaces the value. Allocates only if the size class changes.
    pub(crate) fn set_value(&mut self, value: &[u8]) {
        let range = self.parts().value..self.0.len();
        if range.len() == value.len() {
            self.0[range].copy_from_slice(value);
        } else {
            self.0.splice(range, value);
        }
    }

    /// Changes the expiry, which may be [`NEVER`].
    pub(crate) fn set_due(&mut self, due: u64) {
        let Parts { time, timed, name, value } = self.parts();
        let now_timed = due != NEVER;
        if timed != now_timed {
            let head = head(value - name, now_timed);
            debug_assert_eq!(head.as_bytes().len(), time, "the same length makes the same width");
            self.0[..time].copy_from_slice(head.as_bytes());
        }
        let old: Range<usize> = time..name;
        match (timed, now_timed) {
            (true, true) => self.0[old].copy_from_slice(&due.to_le_bytes()),
            (false, true) => self.0.splice(old, &due.to_le_bytes()),
            (true, false) => self.0.splice(old, &[]),
            (false, false) => {}
        }
    }

    /// The memory it holds.
    #[inline]
    pub(crate) fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

/// What a field begins with.
#[inline]
fn head(name_len: usize, timed: bool) -> Varint {
    Varint::new(2 * name_len + usize::from(timed))
}

impl Keyed for Field {
    #[inline]
    fn key(&self) -> &[u8] {
        self.pair().0
    }

    #[inline]
    fn due(&self) -> Option<u64> {
        Some(self.due_ms()).filter(|due| *due != NEVER)
    }

    #[inline]
    fn heap_bytes(&self) -> usize {
        Field::heap_bytes(self)
    }

    #[inline]
    fn hint(&self) -> Hint {
        self.0.hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use allocator::size_class;

    #[test]
    fn a_field_reads_back_with_and_without_a_time() {
        for (name, value) in [(0, 0), (1, 5), (63, 64), (64, 1), (10_000, 20_000)] {
            let (name, value) = (vec![b'n'; name], vec![b'v'; value]);
            for due in [0, 1, NEVER - 1, NEVER] {
                let field = Field::new(&name, &value, due);
                assert_eq!(field.pair(), (&name[..], &value[..]));
                assert_eq!((field.key(), field.value()), (&name[..], &value[..]));
                assert_eq!(field.due_ms(), due);
                assert_eq!(field.due(), (due != NEVER).then_some(due));
            }
        }
    }

    #[test]
    fn a_time_comes_and_goes_without_a_trace() {
        let mut field = Field::new(b"name", b"value", NEVER);
        for due in [7, 8, NEVER, NEVER, 9, NEVER] {
            field.set_due(due);
            assert_eq!(field.due_ms(), due);
            assert_eq!(field.pair(), (&b"name"[..], &b"value"[..]));
        }
        assert_eq!(field.heap_bytes(), size_class(4 + 1 + 4 + 5));
    }

    #[test]
    fn a_value_of_the_same_length_stays_where_it_is() {
        let mut field = Field::new(b"name", &[1; 5000], 77);
        let place = field.value().as_ptr();
        field.set_value(&[2; 5000]);
        assert_eq!(field.value().as_ptr(), place);
        assert_eq!((field.pair(), field.due_ms()), ((&b"name"[..], &[2; 5000][..]), 77));
        field.set_value(b"short");
        assert_eq!((field.pair(), field.due_ms()), ((&b"name"[..], &b"short"[..]), 77));
    }
}
