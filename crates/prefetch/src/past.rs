// SPDX-License-Identifier: Apache-2.0
//! Writing many bytes past the caches.
//!
//! An ordinary store reads its cache line from memory first, although all of it is overwritten, and pushes another line
//! out of the caches. A non-temporal store does neither; it takes as long as the memory needs for writing alone.
//!
//! INV-FENCE: non-temporal stores may become visible after later ordinary ones, even after a release. So a fence follows
//! them before the function returns, and to the rest of the program they are ordinary writes.

/// From so many bytes on copying past the caches costs less. With a few kilobytes it costs more, as a part of the lines
/// that are overwritten is in the caches.
pub const MANY_BYTES: usize = 16 << 10;

/// Copies `from` to `to`, and [many bytes](MANY_BYTES) past the caches: for what nobody reads soon. On architectures for
/// which stable Rust has no such instruction, this is an ordinary copy.
///
/// # Panics
///
/// When the lengths differ.
pub fn copy_past_caches(to: &mut [u8], from: &[u8]) {
    assert_eq!(to.len(), from.len(), "bytes to copy, and room for them");
    #[cfg(target_arch = "x86_64")]
    if from.len() >= MANY_BYTES {
        return x86_64::copy(to, from);
    }
    to.copy_from_slice(from);
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    /// Bytes of a cache line, which is written whole.
    const LINE: usize = 64;

    /// What one instruction writes.
    const WORD: usize = size_of::<__m128i>();

    pub(super) fn copy(to: &mut [u8], from: &[u8]) {
        let head = to.as_ptr().align_offset(LINE).min(to.len());
        let (to_head, to) = to.split_at_mut(head);
        let (from_head, from) = from.split_at(head);
        to_head.copy_from_slice(from_head);
        let (to_lines, to_tail) = to.as_chunks_mut::<LINE>();
        let (from_lines, from_tail) = from.as_chunks::<LINE>();
        for (to, from) in to_lines.iter_mut().zip(from_lines) {
            for at in (0..LINE).step_by(WORD) {
                // SAFETY: both have a line's bytes, of which these are some. The lines of `to` are aligned to their
                // length, and so are the words in them. Every CPU of this architecture has the instructions.
                unsafe {
                    let word = _mm_loadu_si128(from.as_ptr().add(at).cast());
                    _mm_stream_si128(to.as_mut_ptr().add(at).cast(), word);
                }
            }
        }
        // SAFETY: INV-FENCE. Every CPU of this architecture has the instruction.
        unsafe { _mm_sfence() };
        to_tail.copy_from_slice(from_tail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_arrives_wherever_it_begins_and_ends() {
        let from: Vec<u8> = (0..2 * MANY_BYTES).map(|n| (n ^ n >> 8) as u8).collect();
        for begin in 0..65 {
            for len in [0, 1, 400].into_iter().chain((0..130).map(|more| MANY_BYTES - 1 + more)) {
                let mut to = vec![0xaa; len + 200];
                copy_past_caches(&mut to[begin..begin + len], &from[3..3 + len]);
                assert!(to[..begin].iter().all(|&byte| byte == 0xaa), "before {begin}");
                assert_eq!(to[begin..begin + len], from[3..3 + len], "{len} bytes at {begin}");
                assert!(
                    to[begin + len..].iter().all(|&byte| byte == 0xaa),
                    "behind {begin} + {len}"
                );
            }
        }
    }

    #[test]
    #[should_panic(expected = "room for them")]
    fn lengths_have_to_be_the_same() {
        copy_past_caches(&mut [0; 3], &[1; 4]);
    }
}
