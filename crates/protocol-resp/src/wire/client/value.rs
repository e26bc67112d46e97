// SPDX-License-Identifier: Apache-2.0
//! [`Value`]: a reply that owns what it holds.

use super::{Items, Pairs, Reply};
use std::fmt;

/// A [`Reply`] as a tree of its own, to keep and to compare.
///
/// It prints as one line: texts with their bytes escaped, errors as `error "..."`.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A short text.
    Simple(Vec<u8>),
    /// Why the request was refused.
    Error(Vec<u8>),
    /// An integer.
    Integer(i64),
    /// A string of any bytes.
    Bulk(Vec<u8>),
    /// Nothing.
    Null,
    /// A list.
    Array(Vec<Value>),
    /// Keys and values, in the order they came.
    Map(Vec<(Value, Value)>),
    /// A set, in the order it came.
    Set(Vec<Value>),
    /// A message that is no answer.
    Push(Vec<Value>),
    /// Says more about the reply behind it.
    Attribute(Vec<(Value, Value)>),
    /// A floating-point number.
    Double(f64),
    /// Yes or no.
    Boolean(bool),
    /// An integer of any size as its digits.
    BigNumber(Vec<u8>),
    /// A text for people to read.
    Verbatim {
        /// How it is written.
        format: [u8; 3],
        /// The text.
        text: Vec<u8>,
    },
}

impl Value {
    /// The bytes of a text of any type, or of an error.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Simple(text) | Value::Error(text) | Value::Bulk(text) => Some(text),
            Value::BigNumber(text) | Value::Verbatim { text, .. } => Some(text),
            Value::Integer(_) | Value::Double(_) | Value::Boolean(_) | Value::Null => None,
            Value::Array(_) | Value::Set(_) | Value::Push(_) => None,
            Value::Map(_) | Value::Attribute(_) => None,
        }
    }

    /// The elements of an array, a set or a message.
    pub fn as_items(&self) -> Option<&[Value]> {
        match self {
            Value::Array(items) | Value::Set(items) | Value::Push(items) => Some(items),
            Value::Map(_) | Value::Attribute(_) => None,
            Value::Integer(_) | Value::Double(_) | Value::Boolean(_) | Value::Null => None,
            Value::Simple(_) | Value::Error(_) | Value::Bulk(_) => None,
            Value::BigNumber(_) | Value::Verbatim { .. } => None,
        }
    }
}

impl From<Reply<'_>> for Value {
    /// Recursive; a reply that was parsed is never deeper than [`DEPTH_MAX`].
    ///
    /// [`DEPTH_MAX`]: super::DEPTH_MAX
    fn from(reply: Reply<'_>) -> Self {
        match reply {
            Reply::Simple(text) => Value::Simple(text.to_vec()),
            Reply::Error(text) => Value::Error(text.to_vec()),
            Reply::Integer(number) => Value::Integer(number),
            Reply::Bulk(text) => Value::Bulk(text.to_vec()),
            Reply::Null => Value::Null,
            Reply::Array(list) => Value::Array(items(list)),
            Reply::Map(map) => Value::Map(pairs(map)),
            Reply::Set(list) => Value::Set(items(list)),
            Reply::Push(list) => Value::Push(items(list)),
            Reply::Attribute(map) => Value::Attribute(pairs(map)),
            Reply::Double(number) => Value::Double(number),
            Reply::Boolean(value) => Value::Boolean(value),
            Reply::BigNumber(digits) => Value::BigNumber(digits.to_vec()),
            Reply::Verbatim { format, text } => Value::Verbatim { format, text: text.to_vec() },
        }
    }
}

fn items(items: Items<'_>) -> Vec<Value> {
    items.map(Value::from).collect()
}

fn pairs(pairs: Pairs<'_>) -> Vec<(Value, Value)> {
    pairs.map(|(key, value)| (key.into(), value.into())).collect()
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items = |f: &mut fmt::Formatter<'_>, name: &str, items: &[Value]| {
            f.write_str(name)?;
            f.debug_list().entries(items).finish()
        };
        let pairs = |f: &mut fmt::Formatter<'_>, name: &str, pairs: &[(Value, Value)]| {
            f.write_str(name)?;
            f.debug_map().entries(pairs.iter().map(|(key, value)| (key, value))).finish()
        };
        match self {
            Value::Simple(text) => write!(f, "+{}", text.escape_ascii()),
            Value::Error(text) => write!(f, "error \"{}\"", text.escape_ascii()),
            Value::Integer(number) => write!(f, "{number}"),
            Value::Bulk(text) => write!(f, "\"{}\"", text.escape_ascii()),
            Value::Null => f.write_str("null"),
            Value::Array(list) => items(f, "", list),
            Value::Map(map) => pairs(f, "", map),
            Value::Set(list) => items(f, "set ", list),
            Value::Push(list) => items(f, "push ", list),
            Value::Attribute(map) => pairs(f, "attribute ", map),
            Value::Double(number) => write!(f, "{number:?}"),
            Value::Boolean(value) => write!(f, "{value}"),
            Value::BigNumber(digits) => write!(f, "({}", digits.escape_ascii()),
            Value::Verbatim { format, text } => {
                write!(f, "{}:\"{}\"", format.escape_ascii(), text.escape_ascii())
            }
        }
    }
}
