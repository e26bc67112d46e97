// SPDX-License-Identifier: Apache-2.0
//! [`Stack`]: looks at what a script has returned.

use super::run::Place;
use mlua::ffi::{self, lua_State};
use std::ffi::c_int;
use std::marker::PhantomData;
use std::slice;

/// Values that can be pushed on top of a result without asking for more room.
pub(super) const ROOM: c_int = 16;

/// Room is asked for in pieces of so many values.
const PIECE: c_int = 1024;

/// A field that says what kind of reply a table is, or more about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldName {
    Err,
    Ok,
    Double,
    Map,
    Set,
    BigNumber,
    VerbatimString,
    String,
    Format,
    IgnoreErrorStatsUpdate,
}

/// Their names, in the same order.
pub(super) const NAMES: [&str; 10] = [
    "err",
    "ok",
    "double",
    "map",
    "set",
    "big_number",
    "verbatim_string",
    "string",
    "format",
    "ignore_error_stats_update",
];

const _: () = assert!(FieldName::IgnoreErrorStatsUpdate as usize + 1 == NAMES.len());

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind<'a> {
    Nil,
    Boolean(bool),
    Number(f64),
    Text(&'a [u8]),
    Table,
    Other,
}

/// The result of a script and what has been taken out of it. All of this is INV-QUIET.
#[derive(Debug)]
pub(crate) struct Stack<'m> {
    state: *mut lua_State,
    /// Values on top of the result.
    height: c_int,
    /// How many there may be.
    room: c_int,
    machine: PhantomData<&'m mut ()>,
}

impl Stack<'_> {
    /// Values at the bottom that are always there, INV-BASE.
    pub(super) const BASE: c_int = Place::Names as c_int + NAMES.len() as c_int - 1;

    /// # Safety
    ///
    /// Outside of any call, with a result on the stack of the main thread and nothing above it, and nobody else
    /// changes it as long as the new value lives.
    pub(super) unsafe fn new(state: *mut lua_State) -> Self {
        Stack { state, height: 0, room: ROOM, machine: PhantomData }
    }

    /// The value on top. Its text stays until it is removed.
    #[inline]
    pub(crate) fn top(&self) -> Kind<'_> {
        // SAFETY: there is a value. A string is not converted, and it is alive while it is on the stack.
        unsafe {
            match ffi::lua_type(self.state, -1) {
                ffi::LUA_TNIL => Kind::Nil,
                ffi::LUA_TBOOLEAN => Kind::Boolean(ffi::lua_toboolean(self.state, -1) != 0),
                ffi::LUA_TNUMBER => Kind::Number(ffi::lua_tonumber(self.state, -1)),
                ffi::LUA_TSTRING => {
                    let mut len = 0;
                    let text = ffi::lua_tolstring(self.state, -1, &raw mut len);
                    Kind::Text(slice::from_raw_parts(text.cast(), len))
                }
                ffi::LUA_TTABLE => Kind::Table,
                _ => Kind::Other,
            }
        }
    }

    /// Whether there is room for so many values more.
    pub(crate) fn has_room(&mut self, more: c_int) -> bool {
        if self.height.saturating_add(more) <= self.room {
            return true;
        }
        let mut wanted = PIECE.max(more);
        // SAFETY: the function gets a pointer to a number that is there until it returns. What it may raise ends
        // at this call. When it has made the stack large enough, to take a part of that raises nothing.
        unsafe {
            let status = ffi::lua_cpcall(self.state, grow, (&raw mut wanted).cast());
            if status != ffi::LUA_OK {
                ffi::lua_settop(self.state, -2);
                return false;
            }
            if wanted == 0 || ffi::lua_checkstack(self.state, wanted) == 0 {
                return false;
            }
        }
        self.room = self.height.saturating_add(wanted);
        true
    }

    /// Pushes a field of the table on top, past its metatable; nil if it is no table.
    #[inline]
    pub(crate) fn push_field(&mut self, name: FieldName) {
        let is_table = self.top() == Kind::Table;
        self.rise(1);
        // SAFETY: there is room, and the name is there by INV-BASE. A name that was on the stack is one of a table.
        unsafe {
            if is_table {
                ffi::lua_pushvalue(self.state, Place::Names as c_int + name as c_int);
                ffi::lua_rawget_(self.state, -2);
            } else {
                ffi::lua_pushnil(self.state);
            }
        }
    }

    /// Pushes an element of the table on top, past its metatable; nil if it is no table.
    #[inline]
    pub(crate) fn push_element(&mut self, at: usize) {
        let is_table = self.top() == Kind::Table;
        self.rise(1);
        // SAFETY: there is room, and what is below it is a table.
        unsafe {
            match c_int::try_from(at) {
                Ok(at) if is_table => ffi::lua_rawgeti_(self.state, -1, at),
                _ => ffi::lua_pushnil(self.state),
            }
        }
    }

    /// Removes the value on top; the result stays.
    #[inline]
    pub(crate) fn pop(&mut self) {
        assert!(self.height > 0, "the result stays");
        self.cut(self.height - 1);
    }

    /// Walks over the table on top: `each` is called with a key on top, and then with its value. It leaves the stack
    /// as it was. Needs room for three values.
    pub(crate) fn each_pair(&mut self, mut each: impl FnMut(&mut Self, Part)) {
        if self.top() != Kind::Table {
            return;
        }
        let height = self.height;
        self.rise(3);
        // SAFETY: there is room, and a table. Nobody changes it meanwhile, so the key is one of it, INV-QUIET.
        unsafe {
            ffi::lua_pushnil(self.state);
            while ffi::lua_next(self.state, -2) != 0 {
                ffi::lua_pushvalue(self.state, -2);
                each(self, Part::Key);
                assert_eq!(self.height, height + 3);
                self.cut(height + 2);
                each(self, Part::Value);
                assert_eq!(self.height, height + 2);
                self.cut(height + 1);
                self.height = height + 3;
            }
        }
        self.height = height;
    }

    /// Counts values that are pushed.
    #[inline]
    fn rise(&mut self, more: c_int) {
        self.height += more;
        assert!(self.height <= self.room, "room has been asked for");
    }

    /// Removes what is above a height.
    #[inline]
    fn cut(&mut self, height: c_int) {
        self.height = height;
        // SAFETY: nothing is added, and what is below the result stays.
        unsafe { ffi::lua_settop(self.state, Self::BASE + 1 + height) }
    }
}

/// What [`Stack::each_pair`] is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Key,
    Value,
}

/// Makes the stack larger than by as many values as the number says to which it is given a pointer, or makes it
/// zero if that would be too large.
///
/// # Safety
///
/// `lua_cpcall` calls it, with a pointer to a number. It may raise an error; INV-PLAIN.
unsafe extern "C-unwind" fn grow(state: *mut lua_State) -> c_int {
    // SAFETY: as of this function.
    unsafe {
        let wanted = ffi::lua_touserdata(state, 1).cast::<c_int>();
        if ffi::lua_checkstack(state, *wanted + 2 * ffi::LUA_MINSTACK) == 0 {
            *wanted = 0;
        }
        0
    }
}
