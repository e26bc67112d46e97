// SPDX-License-Identifier: Apache-2.0
//! [`Scanner`]: where a reply ends.

use super::Unreadable;
use super::element::{self, Element, Kind};

/// How deep aggregates may be nested.
pub const DEPTH_MAX: usize = 32;

/// Finds the end of the reply at the front of the bytes that have arrived, and remembers how far it
/// has looked, so each element is looked at once however many pieces the reply arrives in.
///
/// ```
/// use protocol_resp::client::Scanner;
///
/// let mut scanner = Scanner::default();
/// assert_eq!(scanner.scan(b"*2\r\n:1\r\n:"), Ok(None));
/// assert_eq!(scanner.scan(b"*2\r\n:1\r\n:2\r\n+next"), Ok(Some(12)));
/// ```
#[derive(Clone, Debug)]
pub struct Scanner {
    /// Where the next element starts.
    at: usize,
    /// How many aggregates that element is in.
    depth: usize,
    /// For each of them, how many elements are still to come in it. The first is the reply itself.
    left: [u64; DEPTH_MAX + 1],
}

impl Default for Scanner {
    /// At the start of a reply.
    fn default() -> Self {
        let mut left = [0; DEPTH_MAX + 1];
        left[0] = 1;
        Scanner { at: 0, depth: 0, left }
    }
}

impl Scanner {
    /// Looks at `input`, which starts with the same reply as last time and may have grown. How many
    /// bytes the reply takes up, once it has arrived; the scanner then stands at the start of the
    /// next one.
    ///
    /// # Errors
    ///
    /// [`Unreadable`], when it is no reply.
    pub fn scan(&mut self, input: &[u8]) -> Result<Option<usize>, Unreadable> {
        loop {
            let rest = input.get(self.at..).unwrap_or_default();
            let Some((element, len)) = element::read(rest)? else { return Ok(None) };
            self.at += len;
            if let Element::Aggregate(kind, elements) = element {
                self.enter(kind, elements)?;
            } else {
                self.left[self.depth] -= 1;
            }
            while self.left[self.depth] == 0 {
                let Some(outer) = self.depth.checked_sub(1) else {
                    let end = self.at;
                    *self = Scanner::default();
                    return Ok(Some(end));
                };
                self.depth = outer;
                self.left[outer] -= 1;
            }
        }
    }

    fn enter(&mut self, kind: Kind, elements: u64) -> Result<(), Unreadable> {
        if kind == Kind::Attribute && self.depth > 0 {
            // It is not counted where it stands, but its end will be.
            let left = &mut self.left[self.depth];
            *left = left.checked_add(1).ok_or(Unreadable)?;
        }
        self.depth += 1;
        *self.left.get_mut(self.depth).ok_or(Unreadable)? = elements;
        Ok(())
    }
}
