// SPDX-License-Identifier: Apache-2.0
//! The texts of libraries of functions, in the form of `FUNCTION DUMP`: a mark and a string for each.

use super::FormVersion;
use super::reader::Reader;
use super::write::Writer;

/// A library.
const LIBRARY: u8 = 245;

/// A library in the form of release candidates of Redis 7.0.
const LIBRARY_RC: u8 = 246;

/// Why the texts of libraries cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongLibrary {
    /// It is something else.
    Other,
    /// It has the form of a release candidate.
    ReleaseCandidate,
    /// Its text is malformed, or too long.
    Malformed,
}

/// Writes texts, and returns the version of their form.
///
/// ```
/// use values::serial;
///
/// let mut payload = Vec::new();
/// let version = serial::write_libraries([&b"a text"[..], b"another"], &mut payload);
/// serial::seal(&mut payload, version);
///
/// let (libraries, _) = serial::open(&payload).expect("the checksum is right");
/// let texts: Vec<_> = serial::read_libraries(libraries, 1_000).collect();
/// assert_eq!(texts, [Ok(b"a text".to_vec()), Ok(b"another".to_vec())]);
/// ```
pub fn write_libraries<'a>(
    texts: impl IntoIterator<Item = &'a [u8]>,
    out: &mut Vec<u8>,
) -> FormVersion {
    let mut writer = Writer::new(out);
    for text in texts {
        writer.out.push(LIBRARY);
        writer.string(text);
    }
    FormVersion::REDIS_7_0
}

/// Reads texts, of up to `bytes_max` bytes in all where they are compressed. An error is the last that it returns.
pub fn read_libraries(
    bytes: &[u8],
    bytes_max: usize,
) -> impl Iterator<Item = Result<Vec<u8>, WrongLibrary>> {
    let mut reader = Some(Reader::new(bytes, bytes_max));
    std::iter::from_fn(move || {
        let mut rest = reader.take()?;
        let text = match rest.byte() {
            Err(_) => return None,
            Ok(LIBRARY) => rest.string().map_err(|_| WrongLibrary::Malformed),
            Ok(LIBRARY_RC) => Err(WrongLibrary::ReleaseCandidate),
            Ok(_) => Err(WrongLibrary::Other),
        };
        if text.is_ok() {
            reader = Some(rest);
        }
        Some(text.map(|text| text.bytes().to_vec()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serial;

    #[test]
    fn libraries_are_those_of_redis_server() {
        // `FUNCTION DUMP` of redis-server 7.0.15.
        let dump = b"\xf5\xc3@\xa8@\xbc\x1f#!lua name=mylib\nredis.register_\x08function{\xc0\x08\x00_`+\x0c\
            \"f\",callback=\xc0\x1a\r() end,descrip@5\x04=\"my @\x0f\x1e\",flags={\"no-writes\",\"ALLOW-OOM \x0b \
            L\x07ow-stale \r %\x02clu@\x81 \x0c\x80\x1a\x11cross-slot-keys\"}}\n\x00\xa9\xff.\x1a\xf5\xff\xbd\x03";
        let (libraries, version) = serial::open(dump).expect("the checksum is right");
        assert_eq!(version, FormVersion::REDIS_7_0);
        let text = b"#!lua name=mylib\nredis.register_function{function_name=\"f\",\
            callback=function() end,description=\"my desc\",flags={\"no-writes\",\"ALLOW-OOM\",\
            \"allow-stale\",\"no-cluster\",\"allow-cross-slot-keys\"}}";
        let read: Vec<_> = read_libraries(libraries, 1_000).collect();
        assert_eq!(read, [Ok(text.to_vec())]);
        let mut ours = Vec::new();
        let version = write_libraries([&text[..]], &mut ours);
        serial::seal(&mut ours, version);
        assert_eq!(ours.len(), dump.len(), "compressed as well");
    }

    #[test]
    fn an_error_is_the_last() {
        for (bytes, wrong) in [
            (&b"\xf5\x01a\xf6\x01b\xf5\x01c"[..], WrongLibrary::ReleaseCandidate),
            (b"\xf5\x01a\x00\x01b", WrongLibrary::Other),
            (b"\xf5\x01a\xf5\x7f", WrongLibrary::Malformed),
            (b"\xf5\x01a\xf5\xc3\x03\x44\x00\x00a\x20", WrongLibrary::Malformed),
        ] {
            let read: Vec<_> = read_libraries(bytes, 100).collect();
            assert_eq!(read, [Ok(b"a".to_vec()), Err(wrong)]);
        }
        assert_eq!(read_libraries(b"", 100).count(), 0);
    }
}
