// SPDX-License-Identifier: Apache-2.0
//! [`Reply`]: a server's reply, with a variant for each type of RESP2 and RESP3.

use std::fmt;

/// A reply. The order is any total one: it serves to sort elements whose order means nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reply {
    Simple(Vec<u8>),
    Error(Vec<u8>),
    Integer(i64),
    Bulk(Vec<u8>),
    /// `$-1`, RESP2's missing value.
    NullBulk,
    /// `*-1`, RESP2's missing array.
    NullArray,
    /// `_`, RESP3's null.
    Null,
    Array(Vec<Reply>),
    Set(Vec<Reply>),
    Push(Vec<Reply>),
    /// Keys and values, in the order they came.
    Map(Vec<(Reply, Reply)>),
    /// As it was written: `1e3` is not `1000`.
    Double(Vec<u8>),
    Boolean(bool),
    BigNumber(Vec<u8>),
    /// With its format: `txt:…`.
    Verbatim(Vec<u8>),
}

impl Reply {
    pub(crate) fn is_error(&self) -> bool {
        matches!(self, Reply::Error(_))
    }

    pub(crate) fn is_simple(&self, text: &[u8]) -> bool {
        matches!(self, Reply::Simple(found) if found == text)
    }

    /// How many errors it is or has among its elements.
    pub(crate) fn errors(&self) -> usize {
        let among = |elements: &[Reply]| elements.iter().map(Reply::errors).sum();
        usize::from(self.is_error()) + self.elements().map_or(0, among)
    }

    /// The text or number, without its type; `None` of what has elements or is missing.
    pub(crate) fn text(&self) -> Option<Vec<u8>> {
        match self {
            Reply::Simple(text)
            | Reply::Bulk(text)
            | Reply::Double(text)
            | Reply::BigNumber(text)
            | Reply::Verbatim(text) => Some(text.clone()),
            Reply::Integer(number) => Some(number.to_string().into_bytes()),
            _ => None,
        }
    }

    /// The elements of whatever has some.
    pub(crate) fn elements(&self) -> Option<&[Reply]> {
        match self {
            Reply::Array(elements) | Reply::Set(elements) | Reply::Push(elements) => Some(elements),
            _ => None,
        }
    }

    /// All texts and numbers, in order, however deep: the same for a flat list of pairs, a list of
    /// pairs and a map.
    pub(crate) fn leaves(&self) -> Vec<Vec<u8>> {
        fn gather(reply: &Reply, into: &mut Vec<Vec<u8>>) {
            if let Reply::Map(pairs) = reply {
                for (key, value) in pairs {
                    gather(key, into);
                    gather(value, into);
                }
            } else if let Some(elements) = reply.elements() {
                elements.iter().for_each(|element| gather(element, into));
            } else {
                into.extend(reply.text());
            }
        }
        let mut leaves = Vec::new();
        gather(self, &mut leaves);
        leaves
    }
}

/// As redis-cli would, on one line.
impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, name: &str, elements: &[Reply]| {
            write!(f, "{name}[")?;
            for (index, element) in elements.iter().enumerate() {
                let comma = if index == 0 { "" } else { ", " };
                write!(f, "{comma}{element}")?;
            }
            f.write_str("]")
        };
        match self {
            Reply::Simple(text) => write!(f, "+{}", shown(text)),
            Reply::Error(text) => write!(f, "-{}", shown(text)),
            Reply::Integer(number) => write!(f, "{number}"),
            Reply::Bulk(text) => write!(f, "\"{}\"", shown(text)),
            Reply::NullBulk => f.write_str("(nil)"),
            Reply::NullArray => f.write_str("(nil array)"),
            Reply::Null => f.write_str("(null)"),
            Reply::Array(elements) => list(f, "", elements),
            Reply::Set(elements) => list(f, "set", elements),
            Reply::Push(elements) => list(f, "push", elements),
            Reply::Map(pairs) => {
                f.write_str("{")?;
                for (index, (key, value)) in pairs.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{key}: {value}")?;
                }
                f.write_str("}")
            }
            Reply::Double(text) => write!(f, "double({})", shown(text)),
            Reply::Boolean(value) => write!(f, "{value}"),
            Reply::BigNumber(text) => write!(f, "big({})", shown(text)),
            Reply::Verbatim(text) => write!(f, "verbatim({})", shown(text)),
        }
    }
}

/// Bytes as a line of a report.
pub(crate) fn shown(bytes: &[u8]) -> String {
    if bytes.len() <= 600 {
        return bytes.escape_ascii().to_string();
    }
    let (head, tail) = (&bytes[..200], &bytes[bytes.len() - 40..]);
    format!("{}<{} bytes>{}", head.escape_ascii(), bytes.len() - 240, tail.escape_ascii())
}
