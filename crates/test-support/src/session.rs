// SPDX-License-Identifier: Apache-2.0
//! Recorded sessions: what a client sent, what the server answered.
//!
//! A file in `tests/sessions` holds many. Each starts with an empty store and one connection:
//!
//! ```text
//! # a comment
//! == name
//! > bytes that are sent
//! < bytes that are answered to all `>` lines since the last `<`, completely
//! ~ milliseconds that pass
//! ! closed                       the server closes the connection
//! ```
//!
//! In bytes, `\r`, `\n`, `\t`, `\\` and `\xHH` are escapes; `{text*N}` is N times the text;
//! `$name` in an answer is a CAS number: the same name always stands for the same number, different names
//! for different ones; in a request it is that number. `%unix+N` is the unix time N seconds
//! from now. A `>` that is followed by neither `<` nor `!` gets no answer.

/// One session.
#[derive(Debug)]
pub struct Session {
    /// Its name.
    pub name: String,
    /// Its lines, in order.
    pub steps: Vec<Step>,
}

/// One line of a session; bytes are still as written.
#[derive(Debug)]
pub enum Step {
    /// Bytes that are sent.
    Send(String),
    /// Bytes that are answered.
    Expect(String),
    /// Milliseconds that pass.
    Pass(u64),
    /// The server closes the connection.
    Closed,
}

/// Reads the sessions of one file.
pub fn read(text: &str) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    for line in text.lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix("== ") {
            let name = name.to_owned();
            let steps = Vec::new();
            sessions.push(Session { name, steps });
            continue;
        }
        let rest = line.get(2..).unwrap_or_default().to_owned();
        let step = match line.as_bytes()[0] {
            b'>' => Step::Send(rest),
            b'<' => Step::Expect(rest),
            b'~' => Step::Pass(rest.parse().expect("milliseconds")),
            b'!' => Step::Closed,
            _ => panic!("not a step: {line}"),
        };
        let session = sessions.last_mut().expect("a name comes first");
        session.steps.push(step);
    }
    sessions
}

/// A piece of a line's bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    /// As they are.
    Bytes(Vec<u8>),
    /// A CAS number by name.
    Cas(String),
    /// Seconds from now.
    Unix(u64),
}

/// Splits the bytes of a line into pieces.
pub fn pieces(written: &str) -> Vec<Piece> {
    let mut pieces = vec![Piece::Bytes(Vec::new())];
    let mut rest = written;
    while let Some(first) = rest.chars().next() {
        match first {
            '$' => {
                let end = rest[1..]
                    .find(|c: char| !c.is_ascii_alphanumeric())
                    .map_or(rest.len(), |end| end + 1);
                pieces.push(Piece::Cas(rest[1..end].to_owned()));
                pieces.push(Piece::Bytes(Vec::new()));
                rest = &rest[end..];
            }
            '%' if rest.starts_with("%unix+") => {
                let end =
                    rest[6..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |end| end + 6);
                pieces.push(Piece::Unix(rest[6..end].parse().expect("seconds")));
                pieces.push(Piece::Bytes(Vec::new()));
                rest = &rest[end..];
            }
            _ => {
                let Some(Piece::Bytes(bytes)) = pieces.last_mut() else {
                    unreachable!("bytes come last");
                };
                rest = take(rest, bytes);
            }
        }
    }
    pieces
}

/// Appends the bytes that the start of `written` stands for; returns the rest of it.
fn take<'a>(written: &'a str, bytes: &mut Vec<u8>) -> &'a str {
    if let Some(rest) = written.strip_prefix('{') {
        let (inside, rest) = rest.split_once('}').expect("a closing brace");
        let (text, times) = inside.rsplit_once('*').expect("text*times");
        let mut unit = Vec::new();
        let mut text = text;
        while !text.is_empty() {
            text = take(text, &mut unit);
        }
        bytes.extend(unit.repeat(times.parse().expect("times")));
        return rest;
    }
    let Some(rest) = written.strip_prefix('\\') else {
        bytes.push(written.as_bytes()[0]);
        return &written[1..];
    };
    match rest.as_bytes()[0] {
        b'r' => bytes.push(b'\r'),
        b'n' => bytes.push(b'\n'),
        b't' => bytes.push(b'\t'),
        b'\\' => bytes.push(b'\\'),
        b'x' => {
            bytes.push(u8::from_str_radix(&rest[1..3], 16).expect("two hex digits"));
            return &rest[3..];
        }
        other => panic!("no escape: {}", other as char),
    }
    &rest[1..]
}
