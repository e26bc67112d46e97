// SPDX-License-Identifier: Apache-2.0
//! Replies and their bytes.

use super::*;

/// What `write` writes in both versions.
fn both(write: impl Fn(&mut Writer<'_>)) -> [String; 2] {
    [Version::Resp2, Version::Resp3].map(|version| {
        let mut out = SendBuf::new();
        write(&mut Writer::new(&mut out, version));
        out.front().escape_ascii().to_string()
    })
}

/// A name, what is written, and its bytes in RESP2 and in RESP3.
type Case = (&'static str, fn(&mut Writer<'_>), &'static str, &'static str);

const CASES: &[Case] = &[
    ("ok", |w| w.ok(), r"+OK\r\n", r"+OK\r\n"),
    ("simple", |w| w.simple("QUEUED"), r"+QUEUED\r\n", r"+QUEUED\r\n"),
    ("error", |w| w.error("ERR no"), r"-ERR no\r\n", r"-ERR no\r\n"),
    ("error of bytes", |w| w.error(b"ERR \xff"), r"-ERR \xff\r\n", r"-ERR \xff\r\n"),
    ("error with lines", |w| w.error("\r\nA\r\nB\n\nC\n\r"), r"-A  B  C\r\n", r"-A  B  C\r\n"),
    ("error of lines", |w| w.error("\r\n"), r"-\r\n", r"-\r\n"),
    ("integer", |w| w.integer(-15), r":-15\r\n", r":-15\r\n"),
    ("small integer", |w| w.integer(9), r":9\r\n", r":9\r\n"),
    ("integer of two digits", |w| w.integer(10), r":10\r\n", r":10\r\n"),
    ("count", |w| w.count(123), r":123\r\n", r":123\r\n"),
    ("bulk", |w| w.bulk(b"a\r\nb"), r"$4\r\na\r\nb\r\n", r"$4\r\na\r\nb\r\n"),
    ("empty bulk", |w| w.bulk(b""), r"$0\r\n\r\n", r"$0\r\n\r\n"),
    ("some bulk", |w| w.bulk_or_null(Some(b"x")), r"$1\r\nx\r\n", r"$1\r\nx\r\n"),
    ("no bulk", |w| w.bulk_or_null(None), r"$-1\r\n", r"_\r\n"),
    ("null", |w| w.null(), r"$-1\r\n", r"_\r\n"),
    ("null array", |w| w.null_array(), r"*-1\r\n", r"_\r\n"),
    ("array", |w| w.array(12), r"*12\r\n", r"*12\r\n"),
    ("empty array", |w| w.array(0), r"*0\r\n", r"*0\r\n"),
    ("map", |w| w.map(12), r"*24\r\n", r"%12\r\n"),
    ("set", |w| w.set(3), r"*3\r\n", r"~3\r\n"),
    ("push", |w| w.push(3), r"*3\r\n", r">3\r\n"),
    ("attribute", |w| assert_eq!(w.attribute(1), w.version().number() == 3), r"", r"|1\r\n"),
    ("double", |w| w.double(1.5), r"$3\r\n1.5\r\n", r",1.5\r\n"),
    ("whole double", |w| w.double(-3.0), r"$2\r\n-3\r\n", r",-3\r\n"),
    ("infinity", |w| w.double(f64::INFINITY), r"$3\r\ninf\r\n", r",inf\r\n"),
    ("yes", |w| w.boolean(true), r":1\r\n", r"#t\r\n"),
    ("no", |w| w.boolean(false), r":0\r\n", r"#f\r\n"),
    ("verbatim", |w| w.verbatim(b"txt", b"Hi"), r"$2\r\nHi\r\n", r"=6\r\ntxt:Hi\r\n"),
    ("big number", |w| w.big_number("123"), r"$3\r\n123\r\n", r"(123\r\n"),
    ("raw", |w| w.raw(b"+A\r\n+B\r\n"), r"+A\r\n+B\r\n", r"+A\r\n+B\r\n"),
];

#[test]
fn each_reply_has_its_bytes_in_both_versions() {
    for (name, write, resp2, resp3) in CASES {
        assert_eq!(both(write), [*resp2, *resp3], "{name}");
    }
}

#[test]
fn aggregates_whose_length_is_known_last_nest() {
    let written = both(|w| {
        let outer = w.begin_array();
        w.integer(1);
        let map = w.begin_map();
        w.bulk(b"k");
        let set = w.begin_set();
        for number in 0..11 {
            w.integer(number);
        }
        w.end_set(set, 11);
        w.end_map(map, 1);
        let gone = w.begin_array();
        w.bulk_pinned(Bytes::from_static(b"gone"));
        w.undo(gone);
        w.end_array(outer, 2);
    });
    let numbers: String = (0..11).map(|number| format!(r":{number}\r\n")).collect();
    assert_eq!(written[0], format!(r"*2\r\n:1\r\n*2\r\n$1\r\nk\r\n*11\r\n{numbers}"));
    assert_eq!(written[1], format!(r"*2\r\n:1\r\n%1\r\n$1\r\nk\r\n~11\r\n{numbers}"));
}

#[test]
fn a_value_by_reference_stays_in_its_place() {
    let mut out = SendBuf::new();
    let mut vector = Vec::new();
    fn write<O: Output>(mut writer: Writer<'_, O>) {
        writer.ok();
        let mark = writer.begin_array();
        writer.bulk_pinned(Bytes::from_static(b"pinned"));
        writer.bulk(b"copied");
        writer.end_array(mark, 2);
    }
    write(Writer::new(&mut out, Version::Resp2));
    write(Writer::new(&mut vector, Version::Resp2));
    let mut slices = [std::io::IoSlice::new(&[]); 8];
    let filled = out.slices(&mut slices);
    let sent: Vec<u8> = slices[..filled].iter().flat_map(|slice| slice.to_vec()).collect();
    let expected = b"+OK\r\n*2\r\n$6\r\npinned\r\n$6\r\ncopied\r\n";
    assert_eq!(sent.escape_ascii().to_string(), expected.escape_ascii().to_string());
    assert_eq!(vector, expected);
    assert_eq!(filled, 3, "the value was not copied");
}

#[test]
fn a_version_can_be_changed_between_replies() {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, Version::Resp2);
    writer.null();
    writer.set_version(Version::Resp3);
    writer.null();
    assert_eq!((writer.version(), writer.out().len()), (Version::Resp3, 8));
}
