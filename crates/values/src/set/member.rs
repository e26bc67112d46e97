// SPDX-License-Identifier: Apache-2.0
//! [`Member`]: a member of a large set, in one word.
//!
//! ```text
//!  short:   │ length and 1 │ up to seven bytes of text │      long: │ address of a Thin, which is even │
//!  integer: │     255      │ 56 bits                   │
//! ```
//!
//! An index has a word for each member anyway, so integers and short texts take no memory beside it, and finding one
//! reads one cache line less.
//!
//! # Invariants
//!
//! * INV-WORD: if the lowest bit of the address is 0, the word is a [`Thin`] that the member owns. Otherwise it is no
//!   address: the bits above a lowest byte of [`INTEGER`] are the integer; any other lowest byte is twice the length of
//!   the text, plus one, and the bytes beside it begin with the text.
//! * INV-FORM: a text of up to seven bytes is short, a longer one that is the printed form of an integer of 56 bits is
//!   that, and only others are long. So texts that are not long are the same if their words are.

use std::fmt;
use std::mem::ManuallyDrop;
use std::num::NonZeroUsize;
use std::ptr::{self, NonNull};

use crate::thin::Thin;
use crate::{Text, hash_of, parse_i64};
use prefetch::Hint;

/// The longest text that is in the word itself.
const SHORT_MAX: usize = size_of::<usize>() - 1;

/// The lowest byte of the word of an integer.
const INTEGER: u8 = u8::MAX;

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
    assert!(SHORT_MAX * 2 + 1 < INTEGER as usize, "INV-WORD: the length is in a byte");
    assert!(size_of::<usize>() == size_of::<i64>() && INTEGER & 1 == 1, "INV-WORD: an integer");
};

// SAFETY: INV-WORD. It is a `Thin` or plain bytes, and both may be sent and shared.
unsafe impl Send for Member {}
// SAFETY: as above.
unsafe impl Sync for Member {}

/// The word of a text that is not long.
#[inline]
fn word_of(text: &[u8]) -> Option<NonZeroUsize> {
    if text.len() > SHORT_MAX {
        let integer = parse_i64(text)?;
        let word = integer << u8::BITS | i64::from(INTEGER);
        return NonZeroUsize::new(word as usize).filter(|_| word >> u8::BITS == integer);
    }
    let mut bytes = [0; size_of::<usize>()];
    bytes[LOWEST] = text.len() as u8 * 2 + 1;
    bytes[TEXT..TEXT + text.len()].copy_from_slice(text);
    NonZeroUsize::new(usize::from_ne_bytes(bytes))
}

impl Member {
    pub(crate) fn new(text: &[u8]) -> Self {
        if let Some(word) = word_of(text) {
            let word = ptr::without_provenance_mut(word.get());
            return Member { word: NonNull::new(word).expect("the lowest bit is set") };
        }
        let thin = ManuallyDrop::new(Thin::new(&[text]));
        // SAFETY: a `Thin` is a pointer to a block that is aligned, so its address is even: INV-WORD. It is not
        // dropped, so the member owns it.
        unsafe { ptr::from_ref(&thin).cast::<Member>().read() }
    }

    /// Whether a member has this text. Reads more than its word only if the text is long.
    #[inline]
    pub(crate) fn has_text(text: &[u8]) -> impl Fn(&Member) -> bool {
        let word = word_of(text);
        move |member| match word {
            Some(word) => member.word.addr() == word,
            None => member.long().is_some_and(|thin| **thin == *text),
        }
    }

    /// A deep copy.
    pub(crate) fn copy(&self) -> Self {
        match self.long() {
            Some(thin) => Member::new(thin),
            None => Member { word: self.word },
        }
    }

    /// [`hash_of`] its text.
    pub(crate) fn hash(&self) -> u64 {
        hash_of(&self.text())
    }

    #[inline]
    fn is_long(&self) -> bool {
        self.word.addr().get() & 1 == 0
    }

    #[inline]
    fn long(&self) -> Option<&Thin> {
        // SAFETY: INV-WORD. The borrow of the `Thin` is one of the member.
        self.is_long().then(|| unsafe { &*ptr::from_ref(self).cast::<Thin>() })
    }

    #[inline]
    pub(crate) fn text(&self) -> Text<'_> {
        if let Some(thin) = self.long() {
            return Text::from(&**thin);
        }
        let word = self.word.addr().get();
        if word as u8 == INTEGER {
            return Text::from((word as i64) >> u8::BITS);
        }
        let len = usize::from(word as u8 >> 1);
        let bytes: *const u8 = ptr::from_ref(self).cast();
        // SAFETY: INV-WORD: the text is in the bytes of the word, which are initialised, and is borrowed as the
        // member is.
        Text::from(unsafe { &*ptr::slice_from_raw_parts(bytes.add(TEXT), len) })
    }

    /// All memory that it holds beside its word.
    #[inline]
    pub(crate) fn heap_bytes(&self) -> usize {
        self.long().map_or(0, Thin::heap_bytes)
    }

    /// The memory in which the text is, if it is not in the word.
    #[inline]
    pub(crate) fn hint(&self) -> Hint {
        self.long().map_or(Hint::NONE, Thin::hint)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if self.is_long() {
            // SAFETY: INV-WORD, and this is the end of its owner.
            unsafe { ptr::from_mut(self).cast::<Thin>().drop_in_place() };
        }
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

    /// That the text comes back, and no other is taken for it.
    fn check(text: &[u8]) -> Member {
        let member = Member::new(text);
        assert_eq!(*member.text(), *text);
        assert!(Member::has_text(text)(&member));
        assert!(!Member::has_text(&[text, b"0"].concat())(&member));
        assert_eq!((member.hash(), *member.copy().text() == *text), (hash_of(text), true));
        assert_eq!(member.heap_bytes(), member.copy().heap_bytes());
        member
    }

    #[test]
    fn texts_of_any_length_come_back() {
        for len in 0..36 {
            let text: Vec<u8> = (0..len).map(|at| at * 7 + 1).collect();
            let member = check(&text);
            assert_eq!(member.heap_bytes() == 0, text.len() <= SHORT_MAX, "{len}");
            let moved = Box::new(member);
            assert_eq!((&*moved.text(), Some(&moved).is_some()), (&*text, true));
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
            check(text);
        }
    }

    #[test]
    fn an_integer_takes_no_memory_beside_the_word() {
        let most = (1_i64 << 55) - 1;
        for integer in [0, -1, 9_999_999, 10_000_000, -10_000_000, 1 << 30, most, !most] {
            let member = check(integer.to_string().as_bytes());
            assert_eq!(member.heap_bytes(), 0, "{integer}");
        }
        for integer in [most + 1, !most - 1, i64::MAX, i64::MIN] {
            assert!(check(integer.to_string().as_bytes()).heap_bytes() > 0, "{integer}");
        }
    }

    #[test]
    fn what_only_looks_like_an_integer_is_a_text_of_its_own() {
        for text in ["+12345678", "012345678", "12345678 ", "1234567.8", "-012345678", "-00000000"]
        {
            assert!(check(text.as_bytes()).heap_bytes() > 0, "{text}");
        }
    }
}
