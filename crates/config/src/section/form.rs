// SPDX-License-Identifier: Apache-2.0
//! How values are written, and how their ranges are described.

use crate::{ByteSize, Span};
use std::fmt::Display;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// A type of values that a key can have.
pub trait Form {
    /// How its values are written, in a word or two, as in the table of types of
    /// `docs/configuration.md`.
    fn form() -> String;
}

/// A type whose values can be kept within bounds.
pub trait Bounded: PartialOrd + Sized {
    /// The range, as pages show it.
    fn told(range: &RangeInclusive<Self>) -> String;

    /// What is wrong with a value outside of the range.
    fn outside(&self, range: &RangeInclusive<Self>) -> String;
}

macro_rules! forms {
    ($($type:ty: $form:literal;)*) => {$(
        impl Form for $type {
            fn form() -> String {
                $form.to_owned()
            }
        }
    )*};
}

forms! {
    bool: "boolean";
    u16: "0 to 65535";
    u32: "integer";
    u64: "integer";
    usize: "integer";
    f64: "number";
    ByteSize: "size";
    Span: "duration";
    IpAddr: "address";
    PathBuf: "path";
    String: "text";
}

impl<T: Form> Form for Option<T> {
    fn form() -> String {
        T::form()
    }
}

impl<T: Form> Form for Vec<T> {
    fn form() -> String {
        format!("list of {}", T::form())
    }
}

fn not_between(value: impl Display, least: impl Display, most: impl Display) -> String {
    format!("{value} is not between {least} and {most}")
}

macro_rules! bounded {
    ($($type:ty)*) => {$(
        impl Bounded for $type {
            fn told(range: &RangeInclusive<Self>) -> String {
                format!("{} to {}", range.start(), range.end())
            }

            fn outside(&self, range: &RangeInclusive<Self>) -> String {
                not_between(self, range.start(), range.end())
            }
        }
    )*};
}

bounded! { u16 u32 u64 usize f64 }

impl Bounded for ByteSize {
    fn told(range: &RangeInclusive<Self>) -> String {
        format!("`\"{}\"` to `\"{}\"`", range.start(), range.end())
    }

    fn outside(&self, range: &RangeInclusive<Self>) -> String {
        not_between(self.0, range.start().0, range.end().0)
    }
}

impl Bounded for Span {
    fn told(range: &RangeInclusive<Self>) -> String {
        format!("`\"{}\"` to `\"{}\"`", range.start(), range.end())
    }

    fn outside(&self, range: &RangeInclusive<Self>) -> String {
        format!("is not between {} and {}", range.start(), range.end())
    }
}
