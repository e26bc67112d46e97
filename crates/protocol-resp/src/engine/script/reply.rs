// SPDX-License-Identifier: Apache-2.0
//! [`Reply`]: writes what a script returns.

use crate::host::stats::Stats;
use crate::wire::fault;
use crate::wire::reply::{Version, Writer};
use script::Sink;

/// The reply to the client that runs the script.
pub(super) struct Reply<'a, 'c> {
    pub(super) out: &'a mut Writer<'c>,
    pub(super) stats: &'a Stats,
    /// There is an error in it.
    pub(super) has_failed: bool,
}

/// A text up to its first NUL, where it ends for Redis.
fn to_nul(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// A line of this type, with spaces for the line ends in it.
fn line(mark: u8, text: &[u8]) -> Vec<u8> {
    let text = to_nul(text);
    let without_ends = text.iter().map(|&byte| if b"\r\n".contains(&byte) { b' ' } else { byte });
    std::iter::once(mark).chain(without_ends).chain(*b"\r\n").collect()
}

impl Sink for Reply<'_, '_> {
    fn null(&mut self) {
        self.out.null();
    }

    fn boolean(&mut self, value: bool) {
        self.out.boolean(value);
    }

    fn integer(&mut self, value: i64) {
        self.out.integer(value);
    }

    fn double(&mut self, value: f64) {
        self.out.double(value);
    }

    fn bulk(&mut self, text: &[u8]) {
        self.out.bulk(text);
    }

    fn status(&mut self, text: &[u8]) {
        self.out.raw(&line(b'+', text));
    }

    fn error(&mut self, text: &[u8], is_counted: bool) {
        if is_counted {
            self.stats.error(fault::code_of(text));
        }
        self.has_failed = true;
        self.out.error(to_nul(text));
    }

    fn array(&mut self, len: usize) {
        self.out.array(len);
    }

    fn map(&mut self, len: usize) {
        self.out.map(len);
    }

    fn set(&mut self, len: usize) {
        self.out.set(len);
    }

    fn big_number(&mut self, digits: &[u8]) {
        let line = line(b'(', digits);
        match self.out.version() {
            Version::Resp2 => self.out.bulk(&line[1..line.len() - 2]),
            Version::Resp3 => self.out.raw(&line),
        }
    }

    fn verbatim(&mut self, format: &[u8], text: &[u8]) {
        let mut short = *b"   ";
        for (to, from) in short.iter_mut().zip(format) {
            *to = *from;
        }
        self.out.verbatim(&short, text);
    }
}
