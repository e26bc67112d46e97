// SPDX-License-Identifier: Apache-2.0
//! [`Globals`]: what a compiled script does with globals, as its byte code says.
//!
//! Two things follow from that, without which each run of each script would pay for what few scripts do:
//!
//! * A script that does not see KEYS or ARGV need not be given them. It sees a global if it names it, or if it can
//!   get at globals by a name that is made when it runs: by `_G`, `load` and `loadstring`.
//! * A script that assigns to no global needs no table in front of the globals that refuses assignments.
//!
//! The byte code is what Lua itself has made of a text just now (`lua_dump`); none is ever loaded, see RULE-TEXT.
//! Should it not look as expected, a script is taken to do everything.

/// What a script does with globals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Globals {
    pub(crate) sees_keys: bool,
    pub(crate) sees_args: bool,
    /// It assigns to one, which is an error when it happens.
    pub(crate) assigns: bool,
}

/// What lets a script get at all globals.
const DOORS: [&[u8]; 3] = [b"_G", b"load", b"loadstring"];

/// `ESC Lua`, version 5.1, its own format, little endian, and the sizes of an int, a size, an instruction and a
/// number, which is no integer.
const HEADER: [u8; 12] = [0x1b, b'L', b'u', b'a', 0x51, 0, 1, 4, 8, 4, 8, 0];

/// How deep functions are nested at most; Lua's parser has a limit that is not higher.
const DEPTH_MAX: usize = 200;

const GET_GLOBAL: u32 = 5;
const SET_GLOBAL: u32 = 7;

impl Globals {
    /// It may do everything.
    pub(crate) const ALL: Self = Globals { sees_keys: true, sees_args: true, assigns: true };
    const NONE: Self = Globals { sees_keys: false, sees_args: false, assigns: false };

    /// Reads the byte code of a whole script.
    pub(crate) fn of(code: &[u8]) -> Self {
        let mut globals = Globals::NONE;
        let mut read = || {
            let mut reader = Reader(code.strip_prefix(&HEADER)?);
            reader.function(&mut globals, 0)?;
            reader.0.is_empty().then_some(())
        };
        if read().is_some() { globals } else { Globals::ALL }
    }

    fn note_name(&mut self, name: &[u8]) {
        let is_door = DOORS.contains(&name);
        self.sees_keys |= is_door || name == b"KEYS";
        self.sees_args |= is_door || name == b"ARGV";
    }
}

/// What is left of the byte code.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// A function, and those within it.
    fn function(&mut self, globals: &mut Globals, depth: usize) -> Option<()> {
        self.text()?;
        self.take(4 + 4)?; // Its lines.
        self.take(4)?; // Counts of its variables.
        let code = self.list(4)?;
        let constants = self.constants()?;
        for instruction in code.as_chunks::<4>().0 {
            let instruction = u32::from_le_bytes(*instruction);
            match instruction & 0x3f {
                GET_GLOBAL => globals.note_name(constants.get((instruction >> 14) as usize)?),
                SET_GLOBAL => globals.assigns = true,
                _ => {}
            }
        }
        for _ in 0..self.count()? {
            if depth >= DEPTH_MAX {
                return None;
            }
            self.function(globals, depth + 1)?;
        }
        self.list(4)?; // The line of each instruction.
        for _ in 0..self.count()? {
            self.text()?;
            self.take(4 + 4)?; // Where a variable begins and ends.
        }
        for _ in 0..self.count()? {
            self.text()?; // The name of a variable of the function around.
        }
        Some(())
    }

    /// The constants that are texts; others are empty.
    fn constants(&mut self) -> Option<Vec<&'a [u8]>> {
        let mut constants = Vec::new();
        for _ in 0..self.count()? {
            let kind = self.take(1)?.first()?;
            constants.push(match kind {
                0 => &[][..],
                1 => self.take(1).map(|_| &[][..])?,
                3 => self.take(8).map(|_| &[][..])?,
                4 => self.text()?,
                _ => return None,
            });
        }
        Some(constants)
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn count(&mut self) -> Option<usize> {
        let count = u32::from_le_bytes(self.take(4)?.try_into().ok()?);
        usize::try_from(count).ok()
    }

    /// Elements of so many bytes, their count first.
    fn list(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let len = self.count()?.checked_mul(bytes)?;
        self.take(len)
    }

    /// A text without the zero at its end, its length first; one without a length is none.
    fn text(&mut self) -> Option<&'a [u8]> {
        let len = u64::from_le_bytes(self.take(8)?.try_into().ok()?);
        let text = self.take(usize::try_from(len).ok()?)?;
        Some(text.split_last().map_or(&[], |(_, text)| text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlua::Lua;

    fn code(source: &str, strips: bool) -> Vec<u8> {
        Lua::new().load(source).into_function().expect("it is Lua").dump(strips)
    }

    #[test]
    fn what_a_script_names_it_sees() {
        for (source, keys, args, assigns) in [
            ("return redis.call('get', KEYS[1])", true, false, false),
            ("return ARGV[1]", false, true, false),
            ("local x = {1.5, true, nil, 'KEYS', ARGV = 1} return x.KEYS", false, false, false),
            ("return function(a) return function() return a, #KEYS end end", true, false, false),
            ("return _G.x", true, true, false),
            ("return loadstring('return KE' .. 'YS')()", true, true, false),
            ("return load(function() end)", true, true, false),
            ("KEYS = 1", false, false, true),
            ("local function f() ARGV = KEYS end function g() end", true, false, true),
            ("for i = 1, 3 do local x = i + 1 end", false, false, false),
            ("", false, false, false),
        ] {
            let expected = Globals { sees_keys: keys, sees_args: args, assigns };
            assert_eq!(Globals::of(&code(source, false)), expected, "{source}");
            assert_eq!(Globals::of(&code(source, true)), expected, "{source}");
        }
    }

    #[test]
    fn what_is_no_byte_code_does_everything() {
        let code = code("local function f(a) return a, 'text', 1 end return f(KEYS)", false);
        for len in 0..code.len() {
            assert_eq!(Globals::of(&code[..len]), Globals::ALL, "{len}");
        }
        for at in 0..HEADER.len() {
            let mut other = code.clone();
            other[at] ^= 0x40;
            assert_eq!(Globals::of(&other), Globals::ALL, "{at}");
        }
        assert_eq!(Globals::of(&[&code[..], b"x"].concat()), Globals::ALL);
    }
}
