// SPDX-License-Identifier: Apache-2.0
//! [`Reply`]: writes what a script returns.

use crate::host::stats::Stats;
use crate::wire::fault;
use crate::wire::reply::Writer;
use script::Sink;

/// The reply to the client that runs the script.
pub(super) struct Reply<'a, 'c> {
    pub(super) out: &'a mut Writer<'c>,
    pub(super) stats: &'a Stats,
}

/// A text without line ends.
fn line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).replace(['\r', '\n'], " ")
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
        self.out.simple(&line(text));
    }

    fn error(&mut self, text: &[u8], is_counted: bool) {
        if is_counted {
            self.stats.error(fault::code_of(text));
        }
        self.out.error(text);
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
        self.out.big_number(&line(digits));
    }

    fn verbatim(&mut self, format: &[u8], text: &[u8]) {
        let mut short = *b"   ";
        for (to, from) in short.iter_mut().zip(format) {
            *to = *from;
        }
        self.out.verbatim(&short, text);
    }
}
