// SPDX-License-Identifier: Apache-2.0
//! [`Scratch`]: a small buffer on the stack, in which bytes are assembled before they are copied to
//! their place.

use crate::pack;

/// Room on the stack: enough for two elements at the limits that packed collections have by default.
const ROOM: usize = 192;

/// Bytes that are being assembled; on the heap only if there are many.
#[derive(Debug)]
pub(crate) struct Scratch {
    room: [u8; ROOM],
    used: usize,
    /// All bytes, once they are too many for the room.
    spilled: Vec<u8>,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Scratch { room: [0; ROOM], used: 0, spilled: Vec::new() }
    }

    /// Appends an element of a pack.
    pub(crate) fn element(&mut self, text: &[u8]) -> &mut Self {
        pack::write(self.extend(pack::element_len(text.len())), text);
        self
    }

    /// Appends bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.extend(bytes.len()).copy_from_slice(bytes);
        self
    }

    /// What has been put together.
    pub(crate) fn as_slice(&self) -> &[u8] {
        if self.spilled.is_empty() { &self.room[..self.used] } else { &self.spilled }
    }

    /// `len` more bytes, to be written.
    pub(crate) fn extend(&mut self, len: usize) -> &mut [u8] {
        let start = self.as_slice().len();
        if self.spilled.is_empty() && start + len <= ROOM {
            self.used = start + len;
            return &mut self.room[start..start + len];
        }
        if self.spilled.is_empty() {
            self.spilled.reserve_exact(start + len);
            self.spilled.extend_from_slice(&self.room[..start]);
        }
        self.spilled.resize(start + len, 0);
        &mut self.spilled[start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::Pack;

    #[test]
    fn what_is_put_together_is_the_same_on_the_stack_and_off_it() {
        let long = [b'x'; ROOM];
        for texts in [&[&b"a"[..], b"", b"bc"][..], &[&long[..]], &[b"a", &long, b"b"]] {
            let mut scratch = Scratch::new();
            for text in texts {
                scratch.element(text);
            }
            assert!(Pack::new(scratch.as_slice()).iter().eq(texts.iter().copied()));
        }
    }

    #[test]
    fn elements_of_the_default_limits_need_no_memory() {
        let mut scratch = Scratch::new();
        scratch.element(&[1; 64]).element(&[2; 64]).bytes(&[3; 8]);
        assert_eq!(scratch.as_slice().len(), 2 * 65 + 8);
        assert_eq!(scratch.spilled.capacity(), 0);
    }
}
