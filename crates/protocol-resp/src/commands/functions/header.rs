// SPDX-License-Identifier: Apache-2.0
//! The first line of a library: `#!lua name=mylib`.

use crate::wire::fault::Fault;
use crate::wire::parse::{self, Cursor, Framing};
use protocol::Parsed;

/// What the first line says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) name: Vec<u8>,
    /// Where the text for Lua begins. It has the line's end, so that lines are counted right.
    pub(super) code_at: usize,
}

/// Reads the first line.
pub(super) fn read(text: &[u8]) -> Result<Header, Fault> {
    const INVALID: Fault = Fault::new("ERR Invalid library metadata");
    if !text.starts_with(b"#!") {
        return Err(Fault::new("ERR Missing library metadata"));
    }
    let end = memchr::memchr(b'\n', text).ok_or(INVALID)?;
    // Its words are written as those of a request that is a line.
    let framing = Framing { restricted: false, bulk_max: usize::MAX };
    let parsed = parse::parse(&framing, &mut Cursor::default(), &text[..=end]);
    let Ok(Parsed::Request { request, .. }) = parsed else { return Err(INVALID) };
    let mut spans = Vec::new();
    let words = request.args(&mut spans);
    let mut name = None;
    for word in words.tail(1).iter() {
        match word.split_at_checked(5) {
            Some((option, given)) if option.eq_ignore_ascii_case(b"name=") => {
                if name.replace(given.to_vec()).is_some() {
                    let text = "ERR Invalid metadata value, name argument was given multiple times";
                    return Err(Fault::new(text));
                }
            }
            _ => return Err(Fault::made([b"ERR Invalid metadata value given: ", word].concat())),
        }
    }
    let name = name.ok_or(Fault::new("ERR Library name was not given"))?;
    if name.is_empty() || !name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
        return Err(Fault::new(
            "ERR Library names can only contain letters, numbers, or underscores(_) and must be at least one \
             character long",
        ));
    }
    let engine = words.arg(0).get(2..).unwrap_or_default();
    if !engine.eq_ignore_ascii_case(b"lua") {
        return Err(Fault::made([b"ERR Engine '", engine, b"' not found"].concat()));
    }
    Ok(Header { name, code_at: end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        for (text, name) in [
            ("#!lua name=a_1\nx", "a_1"),
            ("#!LUA   NAME=\"b\"  \r\nx", "b"),
            ("#!lua\tname='c'\n", "c"),
        ] {
            let header = read(text.as_bytes()).expect("it is right");
            assert_eq!(header.name, name.as_bytes(), "{text:?}");
            assert_eq!(text.as_bytes()[header.code_at], b'\n');
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, error) in [
            ("", "Missing library metadata"),
            ("#!lua name=a", "Invalid library metadata"),
            ("#!lua name=\"a\n", "Invalid library metadata"),
            ("#!lua\n", "Library name was not given"),
            ("#!\n", "Library name was not given"),
            ("#!lua name\n", "Invalid metadata value given: name"),
            (
                "#!lua name=a name=b\n",
                "Invalid metadata value, name argument was given multiple times",
            ),
            ("#!js name=a\n", "Engine 'js' not found"),
        ] {
            let fault = read(text.as_bytes()).expect_err(text);
            assert_eq!(fault.text(), format!("ERR {error}").as_bytes(), "{text:?}");
        }
    }
}
