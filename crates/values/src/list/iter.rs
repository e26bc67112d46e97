// SPDX-License-Identifier: Apache-2.0
//! [`ListIter`]: elements of a list in their order.

use std::collections::VecDeque;
use std::iter::FusedIterator;

use super::chunk::Chunk;
use super::code::Code;
use super::large::LargeList;
use super::pack::ListPack;
use crate::Text;

/// Elements of a list, from both ends.
///
/// It knows how many there are, and an end is looked for when the first element is taken from it.
#[derive(Clone, Debug)]
pub struct ListIter<'a>(pub(super) Codes<'a>);

impl<'a> Iterator for ListIter<'a> {
    type Item = Text<'a>;

    #[inline]
    fn next(&mut self) -> Option<Text<'a>> {
        self.0.next().map(Code::text)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }

    #[inline]
    fn fold<B, F: FnMut(B, Text<'a>) -> B>(self, init: B, mut visit: F) -> B {
        self.0.fold(init, |result, code| visit(result, code.text()))
    }
}

impl<'a> DoubleEndedIterator for ListIter<'a> {
    #[inline]
    fn next_back(&mut self) -> Option<Text<'a>> {
        self.0.next_back().map(Code::text)
    }
}

impl ExactSizeIterator for ListIter<'_> {}

impl FusedIterator for ListIter<'_> {}

/// What the elements of a [`ListIter`] are stored as.
#[derive(Clone, Debug)]
pub(super) struct Codes<'a> {
    form: Form<'a>,
    /// The index of the next element from the front.
    start: usize,
    /// One more than the index of the next element from the back.
    end: usize,
    front: Option<Run<'a>>,
    back: Option<Run<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Form<'a> {
    Packed(&'a [u8]),
    Large(&'a LargeList),
}

/// An end of the range: what is left of a chunk towards the other end.
#[derive(Clone, Copy, Debug)]
struct Run<'a> {
    chunk: usize,
    bytes: &'a [u8],
}

impl<'a> Codes<'a> {
    /// The elements with these indices, all of which are there.
    pub(super) fn new(form: Form<'a>, start: usize, end: usize) -> Self {
        Codes { form, start, end, front: None, back: None }
    }

    /// The bytes from the element of this index on; or those up to its end.
    fn run(&self, index: usize, is_front: bool) -> Option<Run<'a>> {
        let (chunk, bytes, start, end) = match self.form {
            Form::Packed(bytes) => {
                let element = ListPack::new(bytes).nth(index)?;
                (0, bytes, element.start, element.end())
            }
            Form::Large(list) => {
                let place = list.locate(index);
                (place.chunk, list.chunks()[place.chunk].as_bytes(), place.start, place.end)
            }
        };
        Some(Run { chunk, bytes: if is_front { &bytes[start..] } else { &bytes[..end] } })
    }

    fn chunks(&self) -> Option<&'a VecDeque<Chunk>> {
        match self.form {
            Form::Packed(_) => None,
            Form::Large(list) => Some(list.chunks()),
        }
    }
}

impl<'a> Iterator for Codes<'a> {
    type Item = Code<'a>;

    #[inline]
    fn next(&mut self) -> Option<Code<'a>> {
        if self.start == self.end {
            return None;
        }
        let mut run = match self.front {
            Some(run) => run,
            None => self.run(self.start, true)?,
        };
        if run.bytes.is_empty() {
            let chunk = run.chunk + 1;
            run = Run { chunk, bytes: self.chunks()?.get(chunk)?.as_bytes() };
        }
        let (code, bytes) = Code::split(run.bytes);
        self.front = Some(Run { bytes, ..run });
        self.start += 1;
        Some(code)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.end - self.start;
        (len, Some(len))
    }

    /// Less work for each element: nothing is written down between two of them.
    #[inline]
    fn fold<B, F: FnMut(B, Code<'a>) -> B>(mut self, init: B, mut visit: F) -> B {
        let Some(first) = self.next() else { return init };
        let mut result = visit(init, first);
        let Some(mut run) = self.front else { return result };
        for _ in self.start..self.end {
            if run.bytes.is_empty() {
                let chunk = run.chunk + 1;
                let Some(next) = self.chunks().and_then(|chunks| chunks.get(chunk)) else { break };
                run = Run { chunk, bytes: next.as_bytes() };
            }
            let (code, bytes) = Code::split(run.bytes);
            result = visit(result, code);
            run.bytes = bytes;
        }
        result
    }
}

impl<'a> DoubleEndedIterator for Codes<'a> {
    #[inline]
    fn next_back(&mut self) -> Option<Code<'a>> {
        if self.start == self.end {
            return None;
        }
        let mut run = match self.back {
            Some(run) => run,
            None => self.run(self.end - 1, false)?,
        };
        if run.bytes.is_empty() {
            let chunk = run.chunk.checked_sub(1)?;
            run = Run { chunk, bytes: self.chunks()?.get(chunk)?.as_bytes() };
        }
        let element = ListPack::new(run.bytes).before(run.bytes.len())?;
        self.back = Some(Run { bytes: &run.bytes[..element.start], ..run });
        self.end -= 1;
        Some(element.code())
    }
}

impl ExactSizeIterator for Codes<'_> {}

impl FusedIterator for Codes<'_> {}
