// SPDX-License-Identifier: Apache-2.0
//! Bytes as a quoted string that people can read and programs can parse back.

/// Appends `bytes` to `text` in double quotes: what cannot be printed as `\n`, `\r`, `\t`, `\a`,
/// `\b` or `\xHH`.
///
/// ```
/// let mut text = Vec::new();
/// protocol_resp::quote::append(&mut text, b"say \"hi\"\n\xff");
/// assert_eq!(text, br#""say \"hi\"\n\xff""#);
/// ```
pub fn append(text: &mut Vec<u8>, bytes: &[u8]) {
    text.push(b'"');
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', byte]),
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\r' => text.extend_from_slice(b"\\r"),
            b'\t' => text.extend_from_slice(b"\\t"),
            0x07 => text.extend_from_slice(b"\\a"),
            0x08 => text.extend_from_slice(b"\\b"),
            b' '..=b'~' => text.push(byte),
            other => text.extend_from_slice(format!("\\x{other:02x}").as_bytes()),
        }
    }
    text.push(b'"');
}
