// SPDX-License-Identifier: Apache-2.0
//! Recorded sessions: what a client sent, what the server answered.
//!
//! A file in `sessions` holds many, each on a connection of its own:
//!
//! ```text
//! # a comment
//! == name
//! > bytes that are sent
//! < bytes that are answered to all `>` lines since the last `<`, completely
//! ! closed                       the server closes the connection
//! ```
//!
//! In bytes, `\r`, `\n`, `\t`, `\\` and `\xHH` are escapes; `{text*N}` is N times the text. A `>` that
//! is followed by neither `<` nor `!` is answered nothing.

/// One session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
}

/// One line of a session.
#[derive(Debug)]
pub(crate) enum Step {
    Send(Vec<u8>),
    Expect(Vec<u8>),
    Closed,
}

/// The sessions that Redis answers the same.
pub(crate) const OPEN: [&str; 3] = [
    include_str!("sessions/inline.txt"),
    include_str!("sessions/limits.txt"),
    include_str!("sessions/multibulk.txt"),
];

/// Those with a server that wants a password.
pub(crate) const UNAUTHENTICATED: &str = include_str!("sessions/unauthenticated.txt");

/// Those that Redis answers otherwise.
pub(crate) const DIFFERS: &str = include_str!("sessions/differs.txt");

/// Reads the sessions of one file.
pub(crate) fn read(text: &str) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    for line in text.lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix("== ") {
            sessions.push(Session { name: name.to_owned(), steps: Vec::new() });
            continue;
        }
        let rest = line.get(2..).unwrap_or_default();
        let step = match line.as_bytes()[0] {
            b'>' => Step::Send(bytes(rest)),
            b'<' => Step::Expect(bytes(rest)),
            b'!' => Step::Closed,
            _ => panic!("not a step: {line}"),
        };
        sessions.last_mut().expect("a name comes first").steps.push(step);
    }
    assert!(!sessions.is_empty());
    sessions
}

impl Session {
    /// All that the client sends.
    pub(crate) fn sent(&self) -> Vec<u8> {
        let sent = self.steps.iter().filter_map(|step| match step {
            Step::Send(bytes) => Some(&bytes[..]),
            _ => None,
        });
        sent.collect::<Vec<_>>().concat()
    }

    /// Whether the server closes the connection.
    pub(crate) fn closes(&self) -> bool {
        matches!(self.steps.last(), Some(Step::Closed))
    }
}

/// The bytes that `written` means.
fn bytes(mut written: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !written.is_empty() {
        written = take(written, &mut bytes);
    }
    bytes
}

/// Appends the bytes that the start of `written` means; returns what is left of it.
fn take<'a>(written: &'a str, out: &mut Vec<u8>) -> &'a str {
    if let Some(rest) = written.strip_prefix('{') {
        let (inside, rest) = rest.split_once('}').expect("a closing brace");
        let (text, times) = inside.rsplit_once('*').expect("text*times");
        out.extend(bytes(text).repeat(times.parse().expect("times")));
        return rest;
    }
    let Some(rest) = written.strip_prefix('\\') else {
        out.push(written.as_bytes()[0]);
        return &written[1..];
    };
    match rest.as_bytes()[0] {
        b'r' => out.push(b'\r'),
        b'n' => out.push(b'\n'),
        b't' => out.push(b'\t'),
        b'\\' => out.push(b'\\'),
        b'x' => {
            out.push(u8::from_str_radix(&rest[1..3], 16).expect("two hex digits"));
            return &rest[3..];
        }
        other => panic!("no escape: {}", other as char),
    }
    &rest[1..]
}
