// SPDX-License-Identifier: Apache-2.0
//! [`Reader`]: an input as a sequence of choices.

/// What is left of an input. Behind its end there are zeros.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// All of an input.
    pub(crate) fn new(input: &'a [u8]) -> Self {
        Reader { rest: input }
    }

    /// Whether the input has ended.
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next byte.
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        first
    }

    /// A number below `end`, from one byte, or from two if that is not enough.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let number = match end {
            0..=256 => usize::from(self.byte()),
            _ => usize::from(self.byte()) << 8 | usize::from(self.byte()),
        };
        number % end.max(1)
    }

    /// Whether a chance of one in `times` has come.
    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    /// One of several.
    pub(crate) fn choose<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.below(choices.len())]
    }

    /// So many bytes, or what is left.
    pub(crate) fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// A line of text if there is one next: bytes from the first printable one to a line feed.
    pub(crate) fn line(&mut self) -> Option<&'a [u8]> {
        let first = *self.rest.first()?;
        if !(b' '..=b'~').contains(&first) {
            return None;
        }
        let end = self.rest.iter().position(|&byte| byte == b'\n');
        let line = self.take(end.unwrap_or(self.rest.len()));
        self.take(1);
        Some(line)
    }
}
