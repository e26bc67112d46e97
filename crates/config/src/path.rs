// SPDX-License-Identifier: Apache-2.0
//! Where in the tree a value is, written the way the operator wrote it.

use crate::source::quoted;

/// The longest key shown, in characters.
const KEY_CHARS: usize = 40;
/// The longest path shown, in characters (the last key may end beyond it).
const PATH_CHARS: usize = 160;

/// One step from the top of the document to a value, linked to the steps before it.
///
/// Paths live on the stack while the tree is walked and are written out only for an error.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'a> {
    /// The document itself.
    Top,
    /// A key of a table.
    Key(&'a Path<'a>, &'a str),
    /// An element of an array, counted from 0.
    Index(&'a Path<'a>, usize),
}

impl Path<'_> {
    /// Steps from the top.
    pub(crate) fn depth(&self) -> usize {
        let mut depth = 0;
        let mut at = self;
        while let Path::Key(up, _) | Path::Index(up, _) = at {
            depth += 1;
            at = up;
        }
        depth
    }

    /// `server.listen[1].port`; empty at the top.
    pub(crate) fn key(&self) -> String {
        let mut steps = Vec::new();
        let mut at = self;
        while let Path::Key(up, _) | Path::Index(up, _) = at {
            steps.push(at);
            at = up;
        }
        let mut out = String::new();
        for step in steps.into_iter().rev() {
            if out.len() > PATH_CHARS {
                out.push('…');
                break;
            }
            match step {
                Path::Top => {}
                Path::Index(_, index) => out.push_str(&format!("[{index}]")),
                Path::Key(_, key) => {
                    if !out.is_empty() {
                        out.push('.');
                    }
                    out.push_str(&bare_or_quoted(key));
                }
            }
        }
        out
    }

    /// `in [server]`, `in listen[1]`, or `at the top level`.
    pub(crate) fn table(&self) -> String {
        let key = self.key();
        if key.is_empty() {
            "at the top level".to_owned()
        } else if key.contains('[') {
            format!("in {key}")
        } else {
            format!("in [{key}]")
        }
    }
}

fn bare_or_quoted(key: &str) -> String {
    let bare = !key.is_empty()
        && key.len() <= KEY_CHARS
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { key.to_owned() } else { quoted(key, KEY_CHARS) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_like_the_file() {
        let server = Path::Key(&Path::Top, "server");
        let listen = Path::Key(&server, "listen");
        let second = Path::Index(&listen, 1);
        let odd = Path::Key(&second, "a b");
        assert_eq!(Path::Top.table(), "at the top level");
        assert_eq!(listen.key(), "server.listen");
        assert_eq!(listen.table(), "in [server.listen]");
        assert_eq!(second.table(), "in server.listen[1]");
        assert_eq!(odd.key(), "server.listen[1].\"a b\"");
    }

    #[test]
    fn is_bounded_in_length() {
        fn deep(path: &Path<'_>, levels: usize) -> String {
            match levels {
                0 => path.key(),
                _ => deep(&Path::Key(path, "abcdefghijklmnop"), levels - 1),
            }
        }
        assert!(deep(&Path::Top, 80).chars().count() < 240);
        assert!(Path::Key(&Path::Top, &"x".repeat(1 << 20)).key().chars().count() < 60);
    }
}
