// SPDX-License-Identifier: Apache-2.0
//! [`Encode`] and [`Decode`]: how keys and values become bytes, and values of bytes again.

use std::borrow::Borrow;

/// A key or a value as bytes.
///
/// Implemented for bytes, text, integers, floating-point numbers and `bool`. An implementation for a type of
/// your own is a line; two keys are the same if their bytes are.
///
/// ```
/// use cache::{Cache, Encode};
///
/// struct Page {
///     site: u32,
///     number: u32,
/// }
///
/// impl Encode for Page {
///     fn encode(&self) -> impl AsRef<[u8]> {
///         (u64::from(self.site) << 32 | u64::from(self.number)).to_le_bytes()
///     }
/// }
///
/// let cache: Cache<Page, str> = Cache::builder().memory(1 << 20).build()?;
/// cache.insert(&Page { site: 1, number: 2 }, "text")?;
/// assert_eq!(cache.get(&Page { site: 1, number: 2 }).as_deref(), Some("text"));
/// assert_eq!(cache.get(&Page { site: 2, number: 1 }), None);
/// # Ok::<(), cache::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a key or a value of a cache",
    note = "implement `cache::Encode` for it, and `cache::Decode` if it is a value"
)]
pub trait Encode {
    /// The bytes: borrowed, an array, a `Vec`, or whatever gives them.
    fn encode(&self) -> impl AsRef<[u8]>;
}

/// A value that can be made of its bytes again.
///
/// A value is written as `&Self` and read as [`Decode::Owned`]: a `Cache<_, str>` takes `&str` and gives `String`.
/// For most types both are the same.
///
/// ```
/// use cache::{Cache, Decode, Encode};
///
/// #[derive(Debug, PartialEq)]
/// struct Point(i32, i32);
///
/// impl Encode for Point {
///     fn encode(&self) -> impl AsRef<[u8]> {
///         [self.0.to_le_bytes(), self.1.to_le_bytes()].concat()
///     }
/// }
///
/// impl Decode for Point {
///     type Owned = Self;
///
///     fn decode(bytes: &[u8]) -> Option<Self> {
///         let (x, y) = bytes.split_at_checked(4)?;
///         Some(Point(i32::decode(x)?, i32::decode(y)?))
///     }
/// }
///
/// let cache: Cache<str, Point> = Cache::builder().memory(1 << 20).build()?;
/// cache.insert("here", &Point(3, -4))?;
/// assert_eq!(cache.get("here"), Some(Point(3, -4)));
/// # Ok::<(), cache::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a value of a cache",
    note = "implement `cache::Encode` and `cache::Decode` for it"
)]
pub trait Decode: Encode {
    /// What is read.
    type Owned: Borrow<Self>;

    /// The value that these bytes are, as [`Encode::encode`] has made them; `None` if they are none.
    fn decode(bytes: &[u8]) -> Option<Self::Owned>;
}

impl Encode for [u8] {
    fn encode(&self) -> impl AsRef<[u8]> {
        self
    }
}

impl Decode for [u8] {
    type Owned = Vec<u8>;

    fn decode(bytes: &[u8]) -> Option<Vec<u8>> {
        Some(bytes.to_vec())
    }
}

impl Encode for str {
    fn encode(&self) -> impl AsRef<[u8]> {
        self.as_bytes()
    }
}

impl Decode for str {
    type Owned = String;

    fn decode(bytes: &[u8]) -> Option<String> {
        std::str::from_utf8(bytes).ok().map(str::to_owned)
    }
}

impl Encode for Vec<u8> {
    fn encode(&self) -> impl AsRef<[u8]> {
        self
    }
}

impl Decode for Vec<u8> {
    type Owned = Self;

    fn decode(bytes: &[u8]) -> Option<Self> {
        Some(bytes.to_vec())
    }
}

impl Encode for String {
    fn encode(&self) -> impl AsRef<[u8]> {
        self.as_bytes()
    }
}

impl Decode for String {
    type Owned = Self;

    fn decode(bytes: &[u8]) -> Option<Self> {
        str::decode(bytes)
    }
}

impl<const LEN: usize> Encode for [u8; LEN] {
    fn encode(&self) -> impl AsRef<[u8]> {
        self
    }
}

impl<const LEN: usize> Decode for [u8; LEN] {
    type Owned = Self;

    fn decode(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok()
    }
}

/// Numbers are their bytes in little-endian order.
macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Encode for $number {
            fn encode(&self) -> impl AsRef<[u8]> {
                self.to_le_bytes()
            }
        }

        impl Decode for $number {
            type Owned = Self;

            fn decode(bytes: &[u8]) -> Option<Self> {
                Some(<$number>::from_le_bytes(bytes.try_into().ok()?))
            }
        }
    )*};
}

numbers! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 }

impl Encode for bool {
    fn encode(&self) -> impl AsRef<[u8]> {
        [u8::from(*self)]
    }
}

impl Decode for bool {
    type Owned = Self;

    fn decode(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn is_the_same<T: Decode<Owned = T> + PartialEq>(value: &T) -> bool {
        T::decode(value.encode().as_ref()).is_some_and(|decoded| decoded == *value)
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        assert!(is_the_same(&0_u8) && is_the_same(&u128::MAX) && is_the_same(&i64::MIN));
        assert!(is_the_same(&usize::MAX) && is_the_same(&-1.5_f64) && is_the_same(&true));
        assert!(is_the_same(&"straße".to_owned()) && is_the_same(&vec![0, 255]));
        assert!(is_the_same(b"1234") && is_the_same(&Vec::new()));
        assert_eq!(str::decode("a".encode().as_ref()).as_deref(), Some("a"));
        assert_eq!(<[u8]>::decode(b"a"[..].encode().as_ref()), Some(b"a".to_vec()));
    }

    #[test]
    fn other_bytes_are_no_value() {
        assert_eq!(u32::decode(b"123"), None);
        assert_eq!(bool::decode(&[2]), None);
        assert_eq!(str::decode(&[0xff]), None);
        assert_eq!(<[u8; 2]>::decode(b"123"), None);
    }
}
