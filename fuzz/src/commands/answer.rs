// SPDX-License-Identifier: Apache-2.0
//! [`Answer`]: a reply without what differs between the versions of the protocol.

use protocol_resp::client::Value;

/// A reply as a client of either version understands it.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(crate) enum Answer {
    /// Nothing.
    Nil,
    /// An integer.
    Integer(i64),
    /// A text, or a floating-point number in digits.
    Text(Vec<u8>),
    /// Elements; keys and values of a map take turns.
    List(Vec<Answer>),
    /// The code of an error.
    Error(Vec<u8>),
}

impl Answer {
    /// `OK`.
    pub(crate) fn ok() -> Self {
        Answer::Text(b"OK".to_vec())
    }

    /// A number.
    pub(crate) fn count(number: usize) -> Self {
        Answer::Integer(number as i64)
    }

    /// 1 or 0.
    pub(crate) fn flag(is: bool) -> Self {
        Answer::Integer(is.into())
    }

    /// A text.
    pub(crate) fn text(text: &[u8]) -> Self {
        Answer::Text(text.to_vec())
    }

    /// A text, or nothing.
    pub(crate) fn maybe(text: Option<&[u8]>) -> Self {
        text.map_or(Answer::Nil, Answer::text)
    }

    /// Texts.
    pub(crate) fn texts<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Answer::List(texts.into_iter().map(Answer::text).collect())
    }

    /// An error of any code.
    pub(crate) fn is_error(&self) -> bool {
        matches!(self, Answer::Error(_))
    }
}

impl From<&Value> for Answer {
    fn from(value: &Value) -> Self {
        let list = |items: &[Value]| Answer::List(items.iter().map(Answer::from).collect());
        match value {
            Value::Error(text) => {
                let code = text.split(|&byte| byte == b' ').next();
                Answer::Error(code.unwrap_or_default().to_vec())
            }
            Value::Integer(number) => Answer::Integer(*number),
            Value::Boolean(is) => Answer::flag(*is),
            Value::Double(number) => Answer::Text(number.to_string().into_bytes()),
            Value::Array(items) | Value::Set(items) | Value::Push(items) => list(items),
            Value::Map(pairs) | Value::Attribute(pairs) => {
                let flat = pairs.iter().flat_map(|(key, value)| [key.into(), value.into()]);
                Answer::List(flat.collect())
            }
            other => other.as_bytes().map_or(Answer::Nil, Answer::text),
        }
    }
}
