// SPDX-License-Identifier: Apache-2.0
//! [`Member`]: a member of a large set, in one word.
//!
//! ```text
//!  short: │ length and 1 │ up to seven bytes of text │      long: │ address of a Thin, which is even │
//! ```
//!
//! An index has a word for each member anyway, so numbers of up to seven digits and other short texts take no memory
//! beside it, and finding one reads one cache line less.
//!
//! # Invariants
//!
//! * INV-WORD: if the lowest bit of the address is 0, the word is a [`Thin`] that the member owns. Otherwise it is no
//!   address: the lowest byte is twice the length of the text, plus one, and the bytes beside it begin with the text.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use crate::Keyed;
use crate::thin::Thin;
use prefetch::Hint;

/// The longest text that is in the word itself.
const SHORT_MAX: usize = size_of::<usize>() - 1;

/// Where in memory the lowest byte of a word is, and where the text begins.
const LOWEST: usize = if cfg!(target_endian = "little") { 0 } else { SHORT_MAX };
const TEXT: usize = if cfg!(target_endian = "little") { 1 } else { 0 };

/// The text of a member.
#[repr(transparent)]
pub(crate) struct Member {
    word: NonNull<u8>,
}

const _: () = {
    assert!(size_of::<Option<Member>>() == size_of::<usize>(), "a slot of a bucket");
    assert!(size_of::<Thin>() == size_of::<Member>() && align_of::<Thin>() == align_of::<Member>());
    assert!(SHORT_MAX * 2 < u8::MAX as usize, "INV-WORD: the length is in a byte");
};

// SAFETY: INV-WORD. It is a `Thin` or plain bytes, and both may be sent and shared.
unsafe impl Send for Member {}
// SAFETY: as above.
unsafe impl Sync for Member {}

impl Member {
    pub(crate) fn new(text: &[u8]) -> Self {
        if text.len() > SHORT_MAX {
            let thin = ManuallyDrop::new(Thin::new(&[text]));
            // SAFETY: a `Thin` is a pointer to a block that is aligned, so its address is even: INV-WORD. It is not
            // dropped, so the member owns it.
            return unsafe { ptr::from_ref(&thin).cast::<Member>().read() };
        }
        let mut bytes = [0; size_of::<usize>()];
        bytes[LOWEST] = text.len() as u8 * 2 + 1;
        bytes[TEXT..TEXT + text.len()].copy_from_slice(text);
        let word = ptr::without_provenance_mut(usize::from_ne_bytes(bytes));
        Member { word: NonNull::new(word).expect("the lowest bit is set") }
    }

    #[inline]
    fn is_short(&self) -> bool {
        self.word.addr().get() & 1 != 0
    }

    #[inline]
    fn long(&self) -> Option<&Thin> {
        // SAFETY: INV-WORD. The borrow of the `Thin` is one of the member.
        (!self.is_short()).then(|| unsafe { &*ptr::from_ref(self).cast::<Thin>() })
    }

    #[inline]
    pub(crate) fn text(&self) -> &[u8] {
        if let Some(thin) = self.long() {
            return thin;
        }
        let len = (self.word.addr().get() as u8 >> 1) as usize;
        let bytes: *const u8 = ptr::from_ref(self).cast();
        // SAFETY: INV-WORD: the text is in the bytes of the word, which are initialised, and is borrowed as the
        // member is.
        unsafe { &*ptr::slice_from_raw_parts(bytes.add(TEXT), len) }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if !self.is_short() {
            // SAFETY: INV-WORD, and this is the end of its owner.
            unsafe { ptr::from_mut(self).cast::<Thin>().drop_in_place() };
        }
    }
}

impl Keyed for Member {
    #[inline]
    fn key(&self) -> &[u8] {
        self.text()
    }

    #[inline]
    fn heap_bytes(&self) -> usize {
        self.long().map_or(0, Thin::heap_bytes)
    }

    #[inline]
    fn hint(&self) -> Hint {
        self.long().map_or(Hint::NONE, Thin::hint)
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Member({})", self.text().escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_come_back() {
        for len in 0..36 {
            let text: Vec<u8> = (0..len).map(|at| at * 7 + 1).collect();
            let member = Member::new(&text);
            assert_eq!(member.text(), text);
            assert_eq!(member.heap_bytes() == 0, text.len() <= SHORT_MAX, "{len}");
            let moved = Box::new(member);
            assert_eq!((moved.key(), Some(&moved).is_some()), (&*text, true));
        }
    }

    #[test]
    fn any_bytes_are_a_text() {
        for text in [
            &b""[..],
            b"\0",
            b"\0\0\0\0\0\0\0",
            b"\xff\xff\xff\xff\xff\xff\xff",
            b"\0\0\0\0\0\0\0\0",
        ] {
            assert_eq!(Member::new(text).text(), text);
        }
    }
}
