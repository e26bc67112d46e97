// SPDX-License-Identifier: Apache-2.0
//! [`Encoder`]: requests to bytes.

use crate::wire::reply::Header;

/// Appends requests to a vector.
#[derive(Debug)]
pub struct Encoder<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Encoder<'a> {
    /// An encoder that appends to `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Encoder { out }
    }

    /// A whole request: its name and its other arguments.
    pub fn request<A: AsRef<[u8]>>(
        &mut self,
        args: impl IntoIterator<Item = A, IntoIter: ExactSizeIterator>,
    ) {
        let args = args.into_iter();
        self.begin(args.len());
        for arg in args {
            self.arg(arg.as_ref());
        }
    }

    /// Begins a request of `count` arguments, its name among them: so many calls of
    /// [`Encoder::arg`] follow.
    #[inline]
    pub fn begin(&mut self, count: usize) {
        self.out.extend_from_slice(Header::of(b'*', count).as_bytes());
    }

    /// The next argument.
    #[inline]
    pub fn arg(&mut self, arg: &[u8]) {
        self.out.extend_from_slice(Header::of(b'$', arg.len()).as_bytes());
        self.out.extend_from_slice(arg);
        self.out.extend_from_slice(b"\r\n");
    }

    /// The next argument, of `len` bytes that `write` appends: one that is made where it is sent
    /// from, without a copy.
    ///
    /// # Panics
    ///
    /// In debug builds, when `write` appends another number of bytes.
    #[inline]
    pub fn arg_with(&mut self, len: usize, write: impl FnOnce(&mut Vec<u8>)) {
        self.out.extend_from_slice(Header::of(b'$', len).as_bytes());
        let start = self.out.len();
        write(self.out);
        debug_assert_eq!(self.out.len() - start, len, "the argument is as long as announced");
        self.out.extend_from_slice(b"\r\n");
    }

    /// The next argument, a number.
    #[inline]
    pub fn number(&mut self, number: i64) {
        self.arg(itoa::Buffer::new().format(number).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_look_as_in_the_book() {
        let mut wire = Vec::new();
        let mut encoder = Encoder::new(&mut wire);
        encoder.request(["PING"]);
        encoder.begin(4);
        encoder.arg(b"EXPIRE");
        encoder.arg_with(2, |out| out.extend_from_slice(b"me"));
        encoder.arg(b"");
        encoder.number(-60);
        let expected =
            "*1\r\n$4\r\nPING\r\n*4\r\n$6\r\nEXPIRE\r\n$2\r\nme\r\n$0\r\n\r\n$3\r\n-60\r\n";
        assert_eq!(String::from_utf8_lossy(&wire), expected);
    }
}
