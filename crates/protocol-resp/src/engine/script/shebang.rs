// SPDX-License-Identifier: Apache-2.0
//! The first line of a script, which may say what the script does: `#!lua flags=no-writes,allow-oom`.

use crate::wire::fault::Fault;

/// A script's text, read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shebang<'a> {
    /// What the first line says; `None` if there is no such line.
    pub(crate) flags: Option<ScriptFlags>,
    /// The text for Lua. It has the line's end, so that lines are counted right.
    pub(crate) code: &'a [u8],
}

/// What a script says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScriptFlags {
    /// It writes nothing.
    pub(crate) no_writes: bool,
    /// It may write though memory is short.
    pub(crate) allow_oom: bool,
    /// It does not run in a cluster.
    pub(crate) no_cluster: bool,
    /// It may use keys of several slots.
    pub(crate) crosses_slots: bool,
}

/// Reads the first line.
pub(crate) fn read(text: &[u8]) -> Result<Shebang<'_>, Fault> {
    if !text.starts_with(b"#!") {
        return Ok(Shebang { flags: None, code: text });
    }
    let end = memchr::memchr(b'\n', text).ok_or(Fault::new("ERR Invalid script shebang"))?;
    let (line, code) = text.split_at(end);
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let engine = words.next().unwrap_or_default();
    if engine != b"#!lua" {
        return Err(fault("ERR Unexpected engine in script shebang: ", engine));
    }
    let mut flags = ScriptFlags::default();
    for word in words {
        let names = word
            .strip_prefix(b"flags=")
            .ok_or_else(|| fault("ERR Unknown lua shebang option: ", word))?;
        for name in names.split(|byte| *byte == b',') {
            match name {
                b"no-writes" => flags.no_writes = true,
                b"allow-oom" => flags.allow_oom = true,
                b"no-cluster" => flags.no_cluster = true,
                b"allow-cross-slot-keys" => flags.crosses_slots = true,
                b"" | b"allow-stale" => {}
                _ => return Err(fault("ERR Unexpected flag in script shebang: ", name)),
            }
        }
    }
    Ok(Shebang { flags: Some(flags), code })
}

fn fault(what: &str, word: &[u8]) -> Fault {
    Fault::made([what.as_bytes(), word].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read() {
        let script = read(b"#!lua  flags=no-writes,allow-oom \nreturn 1").expect("it is right");
        let (no_writes, allow_oom) = (true, true);
        assert_eq!(
            script.flags,
            Some(ScriptFlags { no_writes, allow_oom, ..ScriptFlags::default() })
        );
        let flags = read(b"#!lua flags=no-cluster\n").expect("it is right").flags;
        assert_eq!(flags, Some(ScriptFlags { no_cluster: true, ..ScriptFlags::default() }));
        let flags = read(b"#!lua flags=allow-cross-slot-keys\n").expect("it is right").flags;
        assert_eq!(flags, Some(ScriptFlags { crosses_slots: true, ..ScriptFlags::default() }));
        assert_eq!(script.code, b"\nreturn 1");
        assert_eq!(read(b"return 1").expect("it is right").flags, None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, error) in [
            ("#!lua", "ERR Invalid script shebang"),
            ("#!python\n", "ERR Unexpected engine in script shebang: #!python"),
            ("#!lua name=x\n", "ERR Unknown lua shebang option: name=x"),
            ("#!lua flags=no-writes,x\n", "ERR Unexpected flag in script shebang: x"),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap_err().text(), error.as_bytes());
        }
    }
}
