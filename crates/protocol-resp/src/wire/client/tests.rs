// SPDX-License-Identifier: Apache-2.0
//! Replies in bytes, and what is read.

use super::*;

fn text(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

fn bulk(bytes: &str) -> Value {
    Value::Bulk(text(bytes))
}

#[test]
fn every_type_is_read_only_when_it_is_whole() {
    let number = Value::Integer;
    let replies: Vec<(&[u8], Value)> = vec![
        (b"+OK\r\n", Value::Simple(text("OK"))),
        (b"+\r\n", Value::Simple(text(""))),
        (b"-ERR no\r\n", Value::Error(text("ERR no"))),
        (b"!6\r\nERR\r\nx\r\n", Value::Error(text("ERR\r\nx"))),
        (b":-9223372036854775808\r\n", number(i64::MIN)),
        (b"$0\r\n\r\n", bulk("")),
        (b"$4\r\n\r\n\r\n\r\n", bulk("\r\n\r\n")),
        (b"$-1\r\n", Value::Null),
        (b"*-1\r\n", Value::Null),
        (b"_\r\n", Value::Null),
        (b"*0\r\n", Value::Array(vec![])),
        (b"*2\r\n:1\r\n$1\r\nx\r\n", Value::Array(vec![number(1), bulk("x")])),
        (b"*1\r\n*1\r\n*0\r\n", Value::Array(vec![Value::Array(vec![Value::Array(vec![])])])),
        (b"~1\r\n#t\r\n", Value::Set(vec![Value::Boolean(true)])),
        (b">1\r\n#f\r\n", Value::Push(vec![Value::Boolean(false)])),
        (b"%1\r\n+k\r\n~0\r\n", Value::Map(vec![(Value::Simple(text("k")), Value::Set(vec![]))])),
        (b"|1\r\n+k\r\n:1\r\n", Value::Attribute(vec![(Value::Simple(text("k")), number(1))])),
        (b"*1\r\n|1\r\n+k\r\n*1\r\n:7\r\n:1\r\n", Value::Array(vec![number(1)])),
        (b",1.5\r\n", Value::Double(1.5)),
        (b",-inf\r\n", Value::Double(f64::NEG_INFINITY)),
        (b",1e+20\r\n", Value::Double(1e20)),
        (b"(-123456789012345678901\r\n", Value::BigNumber(text("-123456789012345678901"))),
        (b"=6\r\ntxt:Hi\r\n", Value::Verbatim { format: *b"txt", text: text("Hi") }),
    ];
    for (wire, value) in replies {
        let mut scanner = Scanner::default();
        for end in 0..wire.len() {
            assert_eq!(parse(&wire[..end]), Ok(None), "{value:?} at {end}");
            assert_eq!(scanner.scan(&wire[..end]), Ok(None), "{value:?} at {end}");
        }
        let longer = [wire, b":5\r\n"].concat();
        assert_eq!(scanner.scan(&longer), Ok(Some(wire.len())), "{value:?}");
        let (reply, consumed) = parse(&longer).unwrap().expect("it is whole");
        assert_eq!((Value::from(reply), consumed), (value, wire.len()));
        assert_eq!(scanner.scan(&longer[wire.len()..]), Ok(Some(4)), "it starts anew");
    }
}

#[test]
fn what_is_no_reply_is_an_error() {
    let replies: [&[u8]; 24] = [
        b"\r\n",
        b"OK\r\n",
        b"+OK\n",
        b":\r\n",
        b":1a\r\n",
        b":9223372036854775808\r\n",
        b"$-2\r\n",
        b"$a\r\n",
        b"$?\r\n",
        b"$1\r\nxyz",
        b"!-1\r\n",
        b"=3\r\ntxt\r\n",
        b"=4\r\ntxt.\r\n",
        b"*-2\r\n",
        b"*?\r\n",
        b"%-1\r\n",
        b"_x\r\n",
        b"#\r\n",
        b"#true\r\n",
        b",\r\n",
        b",1,5\r\n",
        b"(\r\n",
        b"(1.5\r\n",
        b"*2\r\n:1\r\n?\r\n",
    ];
    for reply in replies {
        assert_eq!(parse(reply), Err(Unreadable), "{}", reply.escape_ascii());
    }
    assert_eq!(parse(&vec![b'+'; 1 << 20]), Err(Unreadable));
}

#[test]
fn a_claimed_length_is_only_waited_for() {
    for claim in ["$9223372036854775000", "*9223372036854775807", "%9223372036854775807"] {
        assert_eq!(parse(format!("{claim}\r\n:1\r\n").as_bytes()), Ok(None), "{claim}");
        assert_eq!(parse(format!("*1\r\n{claim}\r\n").as_bytes()), Ok(None), "{claim}");
    }
}

#[test]
fn aggregates_nest_up_to_a_limit() {
    let deep = [&b"*1\r\n".repeat(DEPTH_MAX)[..], b":1\r\n"].concat();
    let (reply, consumed) = parse(&deep).unwrap().expect("it is whole");
    assert_eq!(consumed, deep.len());
    assert_eq!(format!("{reply:?}"), format!("{}1{}", "[".repeat(32), "]".repeat(32)));
    let deeper = b"*1\r\n".repeat(DEPTH_MAX + 1);
    assert_eq!(parse(&deeper), Err(Unreadable));
    // Attributes count as well.
    assert_eq!(parse(&b"|1\r\n+k\r\n".repeat(DEPTH_MAX + 1)), Err(Unreadable));
}

#[test]
fn elements_are_read_as_they_are_asked_for() {
    let wire = b"*3\r\n$1\r\na\r\n%2\r\n+x\r\n:1\r\n+y\r\n*1\r\n:2\r\n:3\r\n";
    let (Reply::Array(mut items), _) = parse(wire).unwrap().expect("it is whole") else { panic!() };
    assert_eq!((items.len(), items.is_empty()), (3, false));
    assert_eq!(items.next(), Some(Reply::Bulk(b"a")));
    let Some(Reply::Map(mut pairs)) = items.next() else { panic!() };
    assert_eq!(pairs.len(), 2);
    assert_eq!(pairs.next(), Some((Reply::Simple(b"x"), Reply::Integer(1))));
    assert_eq!(format!("{:?}", pairs.next()), "Some((+y, [2]))");
    assert!(pairs.next().is_none() && pairs.is_empty());
    assert_eq!((items.next(), items.next()), (Some(Reply::Integer(3)), None));
}

#[test]
fn a_value_prints_as_a_line() {
    let wire = b"%2\r\n+a\r\n$2\r\n\"\n\r\n-E x\r\n*2\r\n,1\r\n_\r\n";
    let (reply, _) = parse(wire).unwrap().expect("it is whole");
    assert_eq!(format!("{reply:?}"), r#"{+a: "\"\n", error "E x": [1.0, null]}"#);
}
