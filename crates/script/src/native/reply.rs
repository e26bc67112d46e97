// SPDX-License-Identifier: Apache-2.0
//! Replies of commands to values of Lua. The replies are ours, so what is malformed becomes nil.
//!
//! All of this runs under INV-PLAIN: there is nothing to drop, and nothing panics.

use mlua::ffi::{self, lua_State};
use std::ffi::CStr;

/// How deep replies are nested at most.
const DEPTH_MAX: usize = 64;

/// Values that one level has on the stack, and one to spare.
const LEVEL: i32 = 4;

/// Pushes the value of a whole reply.
///
/// # Safety
///
/// The state is that of a function that Lua has called. It may raise an error, see INV-PLAIN.
pub(super) unsafe fn push(state: *mut lua_State, reply: &[u8]) {
    // SAFETY: as of this function.
    unsafe { Reader { state, rest: reply }.value(0) }
}

/// Pushes a text.
///
/// # Safety
///
/// As [`push`], and there is room on the stack.
pub(super) unsafe fn push_text(state: *mut lua_State, text: &[u8]) {
    // SAFETY: Lua copies the text, whose length is right.
    unsafe { ffi::lua_pushlstring_(state, text.as_ptr().cast(), text.len()) }
}

/// Sets a field of the table below the value on top, which is removed.
///
/// # Safety
///
/// As [`push_text`], and there are a table and a value.
pub(super) unsafe fn set_field(state: *mut lua_State, name: &CStr) {
    // SAFETY: as of this function; the name goes below the value.
    unsafe {
        push_text(state, name.to_bytes());
        ffi::lua_insert(state, -2);
        ffi::lua_rawset(state, -3);
    }
}

/// Raises an error with a text.
///
/// # Safety
///
/// As [`push_text`].
pub(super) unsafe fn raise(state: *mut lua_State, text: &[u8]) -> ! {
    // SAFETY: as of this function.
    unsafe {
        push_text(state, text);
        ffi::lua_error(state)
    }
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    state: *mut lua_State,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Pushes the next value.
    ///
    /// # Safety
    ///
    /// As [`push`].
    unsafe fn value(&mut self, depth: usize) {
        let state = self.state;
        let line = self.line();
        // SAFETY: as of this function. Each arm pushes one value; there is room, since it is asked for.
        unsafe {
            // A function of C has room for one level.
            if depth > 0 && ffi::lua_checkstack(state, LEVEL) == 0 {
                raise(state, b"stack overflow");
            }
            let Some((kind, text)) = line.split_first().filter(|_| depth < DEPTH_MAX) else {
                return ffi::lua_pushnil(state);
            };
            match kind {
                b'$' => match len_of(text) {
                    Some(len) => push_text(state, self.bulk(len)),
                    None => ffi::lua_pushboolean(state, 0),
                },
                b':' => ffi::lua_pushnumber(state, number(text) as f64),
                b'+' => self.field(c"ok", text),
                b'-' => self.field(c"err", text),
                b'*' | b'>' => match len_of(text) {
                    Some(len) => self.array(len, depth),
                    None => ffi::lua_pushboolean(state, 0),
                },
                b'%' => self.wrap(c"map", |reader| reader.map(len_of(text), depth)),
                b'~' => self.wrap(c"set", |reader| reader.set(len_of(text), depth)),
                b'#' => ffi::lua_pushboolean(state, i32::from(text == b"t")),
                b',' => {
                    let text = str::from_utf8(text).unwrap_or_default();
                    let number = text.parse().unwrap_or(f64::NAN);
                    self.wrap(c"double", |_| ffi::lua_pushnumber(state, number));
                }
                b'(' => self.field(c"big_number", text),
                b'=' => {
                    let text = self.bulk(len_of(text).unwrap_or(0));
                    self.wrap(c"verbatim_string", |_| verbatim(state, text));
                }
                b'|' => {
                    for _ in 0..len_of(text).unwrap_or(0).saturating_mul(2) {
                        self.value(depth + 1);
                        ffi::lua_settop(state, -2);
                    }
                    self.value(depth);
                }
                _ => ffi::lua_pushnil(state),
            }
        }
    }

    /// # Safety
    ///
    /// As [`Reader::value`], and there is room.
    unsafe fn array(&mut self, len: usize, depth: usize) {
        let expected = len.min(self.rest.len()).min(i32::MAX as usize);
        // SAFETY: as of this function; the table is below each value.
        unsafe {
            ffi::lua_createtable(self.state, expected as i32, 0);
            for at in 1..=len {
                self.value(depth + 1);
                ffi::lua_rawseti_(self.state, -2, at as i32);
            }
        }
    }

    /// # Safety
    ///
    /// As [`Reader::array`].
    unsafe fn map(&mut self, len: Option<usize>, depth: usize) {
        // SAFETY: as of this function; the table is below each pair.
        unsafe {
            ffi::lua_createtable(self.state, 0, 0);
            for _ in 0..len.unwrap_or(0) {
                self.value(depth + 1);
                self.value(depth + 1);
                if ffi::lua_type(self.state, -2) == ffi::LUA_TNIL {
                    ffi::lua_settop(self.state, -3);
                } else {
                    ffi::lua_rawset(self.state, -3);
                }
            }
        }
    }

    /// # Safety
    ///
    /// As [`Reader::array`].
    unsafe fn set(&mut self, len: Option<usize>, depth: usize) {
        // SAFETY: as of this function; the table is below each member.
        unsafe {
            ffi::lua_createtable(self.state, 0, 0);
            for _ in 0..len.unwrap_or(0) {
                self.value(depth + 1);
                if ffi::lua_type(self.state, -1) == ffi::LUA_TNIL {
                    ffi::lua_settop(self.state, -2);
                } else {
                    ffi::lua_pushboolean(self.state, 1);
                    ffi::lua_rawset(self.state, -3);
                }
            }
        }
    }

    /// A table with this field, a text.
    ///
    /// # Safety
    ///
    /// As [`Reader::array`].
    unsafe fn field(&mut self, name: &CStr, text: &[u8]) {
        // SAFETY: as of this function.
        unsafe { self.wrap(name, |reader| push_text(reader.state, text)) }
    }

    /// A table with this field, which `value` pushes.
    ///
    /// # Safety
    ///
    /// As [`Reader::array`].
    unsafe fn wrap(&mut self, name: &CStr, value: impl Fn(&mut Self) + Copy) {
        // SAFETY: as of this function; the value is above the table.
        unsafe {
            ffi::lua_createtable(self.state, 0, 1);
            value(self);
            set_field(self.state, name);
        }
    }

    /// The next line, without its end.
    fn line(&mut self) -> &'a [u8] {
        let end = memchr::memchr(b'\n', self.rest).unwrap_or(self.rest.len());
        let line = self.rest.get(..end).unwrap_or_default();
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// The next bytes, and the line end behind them.
    fn bulk(&mut self, len: usize) -> &'a [u8] {
        let (text, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, b""));
        self.rest = rest.get(2..).unwrap_or_default();
        text
    }
}

/// Pushes the table of a text with its format.
///
/// # Safety
///
/// As [`Reader::array`].
unsafe fn verbatim(state: *mut lua_State, text: &[u8]) {
    let (format, text) = text.split_at_checked(4).unwrap_or((b"txt:", text));
    // SAFETY: as of this function.
    unsafe {
        ffi::lua_createtable(state, 0, 2);
        push_text(state, text);
        set_field(state, c"string");
        push_text(state, format.get(..3).unwrap_or_default());
        set_field(state, c"format");
    }
}

/// A number; what is none is zero.
#[inline]
fn number(text: &[u8]) -> i64 {
    // Most are lengths of a few digits.
    let mut number = 0;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 || text.len() > SHORT {
            return any_number(text);
        }
        number = number * 10 + i64::from(digit);
    }
    number
}

/// Digits that cannot be too large a number.
const SHORT: usize = 9;

#[cold]
fn any_number(text: &[u8]) -> i64 {
    str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// A length; a negative one is that of no value.
fn len_of(text: &[u8]) -> Option<usize> {
    usize::try_from(number(text)).ok()
}
