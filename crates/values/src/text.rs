// SPDX-License-Identifier: Apache-2.0
//! [`Text`]: bytes that are borrowed, or the digits of an integer that is stored in binary.

use std::ops::Deref;

use crate::Digits;

/// A string value, element or member, as a client sees it.
///
/// ```
/// use values::Text;
///
/// assert_eq!(&*Text::from(b"seven".as_slice()), b"seven");
/// assert_eq!(&*Text::from(7), b"7");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Text<'a>(Form<'a>);

#[derive(Clone, Copy, Debug)]
enum Form<'a> {
    Borrowed(&'a [u8]),
    Inline(Digits),
}

impl Deref for Text<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Form::Borrowed(bytes) => bytes,
            Form::Inline(digits) => digits.as_bytes(),
        }
    }
}

impl AsRef<[u8]> for Text<'_> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl<'a> From<&'a [u8]> for Text<'a> {
    #[inline]
    fn from(bytes: &'a [u8]) -> Self {
        Text(Form::Borrowed(bytes))
    }
}

impl From<i64> for Text<'_> {
    #[inline]
    fn from(value: i64) -> Self {
        let mut digits = Digits::new();
        digits.format(value);
        Text(Form::Inline(digits))
    }
}

/// By the bytes that a client sees, with whatever has some.
impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for Text<'_> {
    fn eq(&self, other: &T) -> bool {
        **self == *other.as_ref()
    }
}

impl Eq for Text<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_equals_its_digits() {
        assert_eq!(Text::from(-17), Text::from(b"-17".as_slice()));
        assert_ne!(Text::from(17), Text::from(b"017".as_slice()));
        assert_eq!(Text::from(i64::MIN).len(), 20);
        assert_eq!(Text::from(1), *b"1".as_slice());
    }
}
