// SPDX-License-Identifier: Apache-2.0
//! Our answers, and what values are made of.

use protocol_resp::client::{self, Value};
use protocol_resp::{Version, Writer};

/// What `write` writes, as a value.
pub(crate) fn ours(version: Version, write: impl FnOnce(&mut Writer<'_, Vec<u8>>)) -> Value {
    let mut out = Vec::new();
    write(&mut Writer::new(&mut out, version));
    let (reply, consumed) = client::parse(&out).expect("a reply").expect("all of it");
    let value = reply.into();
    assert_eq!(consumed, out.len(), "one reply");
    value
}

/// The text of a string.
pub(crate) fn text(value: &Value) -> &str {
    std::str::from_utf8(value.as_bytes().expect("a text")).expect("UTF-8")
}

/// The elements of an array or set.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_items().expect("an array or a set")
}

/// The keys and values of a map, which RESP2 has as an array.
pub(crate) fn pairs(value: &Value) -> Vec<(&str, &Value)> {
    match value {
        Value::Map(pairs) => pairs.iter().map(|(key, value)| (text(key), value)).collect(),
        flat => items(flat).chunks(2).map(|pair| (text(&pair[0]), &pair[1])).collect(),
    }
}

/// What a map has under a key.
pub(crate) fn get<'v>(map: &'v Value, key: &str) -> Option<&'v Value> {
    pairs(map).into_iter().find(|(known, _)| *known == key).map(|(_, value)| value)
}
