// SPDX-License-Identifier: Apache-2.0
//! [`show`]: a reply as one line of text, from which its bytes can be derived.

use super::script::Order;

/// Shows a whole reply.
///
/// It does not use `client::Value`, because it must show the exact bytes, and the two nulls of RESP2 are
/// one value there.
pub(crate) fn show(reply: &[u8], order: Order) -> String {
    let mut reader = Reader { rest: reply, order };
    let shown = reader.show();
    assert_eq!(reader.rest, b"", "more than one reply: {}", reply.escape_ascii());
    shown
}

/// A line of MONITOR without the time and the address, which differ each time.
fn monitored(line: &str) -> Option<String> {
    let (time, rest) = line.split_once(" [")?;
    let (origin, command) = rest.split_once("] ")?;
    let (db, _) = origin.split_once(' ')?;
    time.parse::<f64>().ok()?;
    Some(format!("monitor {db} {command}"))
}

/// Bytes as text in double quotes.
fn escaped(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string().replace("\\'", "'")
}

struct Reader<'a> {
    rest: &'a [u8],
    order: Order,
}

impl<'a> Reader<'a> {
    fn show(&mut self) -> String {
        let (kind, text) = self.line();
        let text = escaped(text).replace("\\\"", "\"");
        let len = || text.parse::<usize>().expect("a length");
        match (kind, text.as_str()) {
            (b'$', "-1") | (b'_', "") => "nil".to_owned(),
            (b'*', "-1") => "nil-array".to_owned(),
            (b'+', _) => monitored(&text).unwrap_or(text),
            (b':', _) => text,
            (b'-', _) => format!("-{text}"),
            (b',', _) => format!(",{text}"),
            (b'(', _) => format!("({text}"),
            (b'#', "t") => "true".to_owned(),
            (b'#', "f") => "false".to_owned(),
            (b'$', _) => format!("\"{}\"", escaped(self.take(len()))),
            (b'=', _) => {
                let verbatim = escaped(self.take(len()));
                let (format, text) = verbatim.split_at(4);
                format!("{format}\"{text}\"")
            }
            (b'*', _) => format!("[{}]", self.items(len(), self.order == Order::SortedPairs)),
            (b'~', _) => format!("{{{}}}", self.items(len(), false)),
            (b'>', _) => format!("push [{}]", self.items(len(), false)),
            (b'%', "0") => "{:}".to_owned(),
            (b'%', _) => format!("{{{}}}", self.pairs(len())),
            (b'|', _) => {
                let pairs = self.pairs(len());
                format!("attribute {{{pairs}}} {}", self.show())
            }
            _ => panic!("no reply: {}{text}", char::from(kind)),
        }
    }

    fn items(&mut self, len: usize, in_pairs: bool) -> String {
        let items: Vec<String> = (0..len).map(|_| self.show()).collect();
        let units =
            if in_pairs { items.chunks(2).map(|pair| pair.join(", ")).collect() } else { items };
        self.join(units)
    }

    fn pairs(&mut self, len: usize) -> String {
        let pairs = (0..len).map(|_| format!("{}: {}", self.show(), self.show())).collect();
        self.join(pairs)
    }

    fn join(&self, mut units: Vec<String>) -> String {
        if self.order != Order::AsTheyCame {
            units.sort_unstable();
        }
        units.join(", ")
    }

    /// The kind of the next line, and what is behind it.
    fn line(&mut self) -> (u8, &'a [u8]) {
        let end = self.rest.windows(2).position(|end| end == b"\r\n").expect("a line");
        let line = &self.rest[..end];
        self.rest = &self.rest[end + 2..];
        (line[0], &line[1..])
    }

    /// The next `len` bytes, behind which a line ends.
    fn take(&mut self, len: usize) -> &'a [u8] {
        let (text, rest) = self.rest.split_at(len);
        self.rest = rest.strip_prefix(b"\r\n").expect("a line end");
        text
    }
}

#[test]
fn replies_are_shown_as_told() {
    let cases: [(&[u8], &str); 14] = [
        (b"+OK\r\n", "OK"),
        (b"-ERR no\r\n", "-ERR no"),
        (b"-ERR 'a' \"b\"\r\n", "-ERR 'a' \"b\""),
        (b":-7\r\n", "-7"),
        (b"$3\r\na\"\n\r\n", r#""a\"\n""#),
        (b"*2\r\n$-1\r\n*-1\r\n", "[nil, nil-array]"),
        (b"_\r\n", "nil"),
        (b"%1\r\n:2\r\n:1\r\n", "{2: 1}"),
        (b"%0\r\n", "{:}"),
        (b"~2\r\n,inf\r\n#t\r\n", "{,inf, true}"),
        (b"=5\r\ntxt:a\r\n", "txt:\"a\""),
        (b">1\r\n(123\r\n", "push [(123]"),
        (b"*0\r\n", "[]"),
        (b"+1700000000.123456 [3 [::1]:99] \"GET\" \"a\"\r\n", r#"monitor 3 "GET" "a""#),
    ];
    for (reply, expected) in cases {
        assert_eq!(show(reply, Order::AsTheyCame), expected);
    }
}

#[test]
fn elements_are_sorted_where_their_order_means_nothing() {
    let reply = b"*4\r\n:2\r\n:1\r\n:1\r\n*2\r\n:4\r\n:3\r\n";
    assert_eq!(show(reply, Order::AsTheyCame), "[2, 1, 1, [4, 3]]");
    assert_eq!(show(reply, Order::Sorted), "[1, 1, 2, [3, 4]]");
    assert_eq!(show(reply, Order::SortedPairs), "[1, [4, 3], 2, 1]");
}
