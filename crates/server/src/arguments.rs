// SPDX-License-Identifier: Apache-2.0
//! The command line as other users of the machine see it (`ps`, `/proc/PID/cmdline`).
//!
//! The kernel shows the memory into which it wrote the arguments when the program began. The process
//! changes that memory through `/proc/self/mem`, as a debugger would, because it has no pointer to it.
//! Each word keeps its place and does not get longer.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

/// Blanks the secrets in the words of the command line. `secret` is given all words and the number of one
/// of them, and returns from which byte on that word is secret, if it is. Call it when nobody reads the
/// arguments any more.
///
/// # Errors
///
/// When the system does not let the process change them.
pub fn hide(secret: impl Fn(&[&[u8]], usize) -> Option<usize>) -> io::Result<()> {
    let mut shown = fs::read("/proc/self/cmdline")?;
    let words: Vec<&[u8]> = shown.split(|byte| *byte == 0).collect();
    let (mut begin, mut hidden) = (0, Vec::new());
    for (number, word) in words.iter().enumerate() {
        if let Some(place) = secret(&words, number).filter(|place| *place < word.len()) {
            hidden.push(begin + place..begin + word.len());
        }
        begin += word.len() + 1;
    }
    if hidden.is_empty() {
        return Ok(());
    }
    for range in hidden {
        shown[range.clone()].fill(0);
        shown[range.start] = b'*';
    }
    let start = arguments_start(&fs::read_to_string("/proc/self/stat")?).ok_or_else(|| {
        io::Error::new(io::ErrorKind::PermissionDenied, "the system does not say where they are")
    })?;
    OpenOptions::new().write(true).open("/proc/self/mem")?.write_all_at(&shown, start)
}

/// Where the arguments begin: the 48th field of `/proc/self/stat`, which is 0 without the permission to
/// see it.
fn arguments_start(stat: &str) -> Option<u64> {
    // The second field is the program's name in parentheses, and may contain anything.
    let (_, rest) = stat.rsplit_once(')')?;
    let field = rest.split_ascii_whitespace().nth(48 - 3)?;
    field.parse().ok().filter(|start| *start != 0)
}
