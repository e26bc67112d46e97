// SPDX-License-Identifier: Apache-2.0
//! What one side writes the other reads, whatever it is and however it is cut.

use proptest::prelude::*;
use protocol::{Parsed, Protocol};
use protocol_resp::client::{self, Encoder, Scanner, Value};
use protocol_resp::parse::Cursor;
use protocol_resp::{Codec, Version, Writer};

/// Texts of lengths around those at which headers grow.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let len = prop_oneof![0_usize..12, 95_usize..105, 9995_usize..10_005];
    len.prop_flat_map(|len| prop::collection::vec(any::<u8>(), len))
}

/// A word as an inline request has it, and what it means.
fn word() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    (prop::collection::vec(any::<u8>(), 1..12), 0..3).prop_map(|(word, quotes)| match quotes {
        0 => (double_quoted(&word), word),
        1 => {
            let word: Vec<u8> = word.into_iter().filter(|byte| !b"\\\n".contains(byte)).collect();
            (single_quoted(&word), word)
        }
        _ => {
            let plain: Vec<u8> = word.iter().map(|byte| b'a' + byte % 26).collect();
            (plain.clone(), plain)
        }
    })
}

fn double_quoted(word: &[u8]) -> Vec<u8> {
    let mut quoted = b"\"".to_vec();
    for &byte in word {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', byte]),
            b'\n' => quoted.extend(b"\\n"),
            b'\r' => quoted.extend(b"\\r"),
            0x80.. => quoted.extend(format!("\\x{byte:02x}").bytes()),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'"');
    quoted
}

fn single_quoted(word: &[u8]) -> Vec<u8> {
    let mut quoted = b"'".to_vec();
    for &byte in word {
        if byte == b'\'' {
            quoted.push(b'\\');
        }
        quoted.push(byte);
    }
    quoted.push(b'\'');
    quoted
}

/// Text that fits on a line.
fn line() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(
        any::<u8>().prop_filter("no line end", |byte| !b"\r\n".contains(byte)),
        0..9,
    )
}

/// Any reply but an attribute, which within others is left out.
fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        "[A-Z ]{0,9}".prop_map(|text| Value::Simple(text.into_bytes())),
        line().prop_map(Value::Error),
        any::<i64>().prop_map(Value::Integer),
        (-20_i64..120).prop_map(Value::Integer),
        bytes().prop_map(Value::Bulk),
        Just(Value::Null),
        any::<f64>()
            .prop_filter("it equals itself", |number| !number.is_nan())
            .prop_map(Value::Double),
        any::<bool>().prop_map(Value::Boolean),
        "-?[0-9]{1,30}".prop_map(|digits| Value::BigNumber(digits.into_bytes())),
        (any::<[u8; 3]>(), bytes()).prop_map(|(format, text)| Value::Verbatim { format, text }),
    ];
    scalar.prop_recursive(4, 40, 8, |inner| {
        let items = || prop::collection::vec(inner.clone(), 0..12);
        prop_oneof![
            items().prop_map(Value::Array),
            items().prop_map(Value::Set),
            items().prop_map(Value::Push),
            prop::collection::vec((inner.clone(), inner.clone()), 0..6).prop_map(Value::Map),
        ]
    })
}

/// Writes `value`, lengths first, or last.
fn write(writer: &mut Writer<'_, Vec<u8>>, value: &Value, late: bool) {
    let mark = writer.begin_array();
    let len = value.as_items().map_or(0, <[Value]>::len);
    match value {
        Value::Simple(text) => writer.simple(std::str::from_utf8(text).expect("ASCII")),
        Value::Error(text) => writer.error(text),
        Value::Integer(number) => writer.integer(*number),
        Value::Bulk(text) => writer.bulk(text),
        Value::Null => writer.null(),
        Value::Double(number) => writer.double(*number),
        Value::Boolean(value) => writer.boolean(*value),
        Value::BigNumber(digits) => {
            writer.big_number(std::str::from_utf8(digits).expect("digits"));
        }
        Value::Verbatim { format, text } => writer.verbatim(format, text),
        Value::Array(_) if !late => writer.array(len),
        Value::Set(_) if !late => writer.set(len),
        Value::Push(_) => writer.push(len),
        Value::Map(pairs) if !late => writer.map(pairs.len()),
        _ => {}
    }
    for item in value.as_items().unwrap_or_default() {
        write(writer, item, late);
    }
    if let Value::Map(pairs) = value {
        for (key, value) in pairs {
            write(writer, key, late);
            write(writer, value, late);
        }
    }
    match value {
        Value::Array(_) if late => writer.end_array(mark, len),
        Value::Set(_) if late => writer.end_set(mark, len),
        Value::Map(pairs) if late => writer.end_map(mark, pairs.len()),
        _ => {}
    }
}

/// What a client that knows only RESP2 reads in the place of `value`.
fn in_resp2(value: &Value) -> Value {
    match value {
        Value::Boolean(value) => Value::Integer((*value).into()),
        Value::BigNumber(text) | Value::Verbatim { text, .. } => Value::Bulk(text.clone()),
        Value::Double(number) => {
            Value::Bulk(protocol_resp::reply::Digits::new(*number).as_bytes().to_vec())
        }
        Value::Array(items) | Value::Set(items) | Value::Push(items) => {
            Value::Array(items.iter().map(in_resp2).collect())
        }
        Value::Map(pairs) => Value::Array(
            pairs.iter().flat_map(|(key, value)| [in_resp2(key), in_resp2(value)]).collect(),
        ),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn requests(
        requests in prop::collection::vec(prop::collection::vec(bytes(), 1..9), 1..4),
        piece in 1_usize..30_000,
    ) {
        let mut wire = Vec::new();
        for request in &requests {
            Encoder::new(&mut wire).request(request);
        }
        let (codec, mut cursor) = (Codec::default(), Cursor::default());
        let (mut at, mut end, mut found) = (0, 0, 0);
        while end < wire.len() {
            end = wire.len().min(end + piece);
            while let Ok(Parsed::Request { request, consumed }) =
                codec.parse(&mut cursor, &wire[at..end])
            {
                prop_assert!(request.iter().eq(requests[found].iter().map(Vec::as_slice)));
                (at, found) = (at + consumed, found + 1);
            }
        }
        prop_assert_eq!((at, found), (wire.len(), requests.len()));
    }

    #[test]
    fn lines(words in prop::collection::vec(word(), 1..9), space in "[ \t]{1,3}") {
        let mut line = Vec::new();
        for (written, _) in &words {
            line.extend_from_slice(written);
            line.extend_from_slice(space.as_bytes());
        }
        line.extend_from_slice(b"\r\n");
        let parsed = Codec::default().parse(&mut Cursor::default(), &line);
        let Ok(Parsed::Request { request, consumed }) = parsed else {
            panic!("{parsed:?} in {}", line.escape_ascii());
        };
        prop_assert_eq!(consumed, line.len());
        prop_assert!(request.iter().eq(words.iter().map(|(_, word)| word.as_slice())));
    }

    #[test]
    fn replies(value in value(), late in any::<bool>()) {
        for version in [Version::Resp2, Version::Resp3] {
            let mut wire = Vec::new();
            write(&mut Writer::new(&mut wire, version), &value, late);
            let expected = match version {
                Version::Resp2 => in_resp2(&value),
                Version::Resp3 => value.clone(),
            };
            let parsed = client::parse(&wire).expect("it is a reply");
            let (reply, consumed) = parsed.expect("it is whole");
            prop_assert_eq!((Value::from(reply), consumed), (expected, wire.len()));
            let mut scanner = Scanner::default();
            let step = wire.len().div_ceil(50);
            for end in (0..wire.len()).step_by(step) {
                prop_assert_eq!(scanner.scan(&wire[..end]), Ok(None));
            }
            prop_assert_eq!(scanner.scan(&wire), Ok(Some(wire.len())));
        }
    }
}
