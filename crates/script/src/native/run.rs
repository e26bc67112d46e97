// SPDX-License-Identifier: Apache-2.0
//! [`Machine`]: calls a script or a function, and finds where it fails.

use super::{Bridge, Stack, Where, call, reply};
use crate::globals::Globals;
use crate::texts::Texts;
use mlua::ffi::{self, lua_Debug, lua_State};
use mlua::{Function, Lua, Table, Value};
use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;
use std::panic::resume_unwind;
use std::rc::Rc;

/// What is at the bottom of the main thread's stack, INV-BASE. Behind it are the names of fields.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// Notes where an error was raised.
    Handler = 1,
    /// Sets KEYS and ARGV and calls a script.
    Start,
    /// Calls a function with its keys and arguments.
    Invoke,
    /// The scripts that are compiled, or the functions of libraries, by number.
    Scripts,
    /// The first of [`FieldName`](super::FieldName).
    Names,
}

/// What [`start`] has as its upvalues.
#[derive(Clone, Copy)]
enum Upvalue {
    /// That of all functions.
    Bridge = 1,
    /// The real table of globals.
    Globals,
    /// The name and the table of KEYS, and of ARGV. There is none before the first script.
    KeysName,
    Keys,
    ArgvName,
    Argv,
}

impl Upvalue {
    #[inline]
    fn at(self) -> c_int {
        ffi::lua_upvalueindex(self as c_int)
    }
}

/// The most keys or arguments for which a table is used again by the next run, and the places that it has.
const AGAIN_MAX: c_int = 8;

/// Calls scripts and functions in a VM.
#[derive(Debug)]
pub(crate) struct Machine {
    /// The main thread.
    state: *mut lua_State,
    bridge: Rc<Bridge>,
}

/// A function of C that reaches the bridge.
fn function(lua: &Lua, bridge: &Rc<Bridge>, body: ffi::lua_CFunction) -> mlua::Result<Function> {
    let bridge = Rc::as_ptr(bridge).cast_mut().cast::<c_void>();
    // SAFETY: the closure is made under a `lua_pcall` of `mlua`; its frame has nothing to drop, INV-PLAIN.
    unsafe {
        lua.exec_raw((), |state| {
            ffi::lua_pushlightuserdata(state, bridge);
            ffi::lua_pushcclosure(state, body, 1);
        })
    }
}

/// [`start`], which reaches the globals, too.
fn starter(lua: &Lua, bridge: &Rc<Bridge>, globals: &Table) -> mlua::Result<Function> {
    let bridge = Rc::as_ptr(bridge).cast_mut().cast::<c_void>();
    // SAFETY: as of `function`. There is room for this; the table is the only value on the stack.
    unsafe {
        lua.exec_raw(globals, |state| {
            ffi::lua_pushlightuserdata(state, bridge);
            ffi::lua_insert(state, -2);
            for name in [b"KEYS", b"ARGV"] {
                reply::push_text(state, name);
                ffi::lua_pushnil(state);
            }
            ffi::lua_pushcclosure(state, start, Upvalue::Argv as c_int);
        })
    }
}

/// `redis.call`, or `redis.pcall`.
pub(crate) fn caller(lua: &Lua, bridge: &Rc<Bridge>, raises: bool) -> mlua::Result<Function> {
    function(lua, bridge, if raises { call::call } else { call::pcall })
}

impl Machine {
    /// Prepares a VM that has no memory limit yet, and nothing on the stack of its main thread.
    pub(crate) fn new(
        lua: &Lua,
        bridge: Rc<Bridge>,
        globals: &Table,
        scripts: &Table,
    ) -> mlua::Result<Self> {
        let (handler, start) = (function(lua, &bridge, handler)?, starter(lua, &bridge, globals)?);
        let invoke = function(lua, &bridge, invoke)?;
        let state = lua.exec_raw_lua(|raw| -> mlua::Result<_> {
            let state = raw.state();
            // SAFETY: this is the main thread, outside of any call. Nothing raises an error here: there is no
            // limit yet, and without any memory the allocator ends the process.
            unsafe {
                assert_eq!(ffi::lua_gettop(state), 0, "INV-BASE");
                ffi::lua_checkstack(state, 2 * ffi::LUA_MINSTACK + super::stack::ROOM);
                raw.push(&handler)?;
                raw.push(&start)?;
                raw.push(&invoke)?;
                raw.push(scripts)?;
                assert_eq!(ffi::lua_gettop(state), Place::Scripts as c_int, "INV-BASE");
                for name in super::stack::NAMES {
                    reply::push_text(state, name.as_bytes());
                }
            }
            Ok(state)
        })?;
        Ok(Machine { state, bridge })
    }

    /// Calls the script with a number. Returns whether it has succeeded; its result, or the error, is on the
    /// stack then, until it is taken or [`Machine::end`] is called.
    ///
    /// # Panics
    ///
    /// If the server has.
    #[inline]
    pub(crate) fn call(
        &mut self,
        script: i32,
        globals: Globals,
        keys: Texts<'_>,
        args: Texts<'_>,
    ) -> bool {
        self.bridge.globals.set(globals);
        self.enter(Place::Start, script, [keys, args])
    }

    /// Calls the function with a number, as [`Machine::call`] calls scripts. A function may keep the tables that
    /// it is given, so they are new.
    ///
    /// # Panics
    ///
    /// If the server has.
    #[inline]
    pub(crate) fn invoke(&mut self, function: i32, keys: Texts<'_>, args: Texts<'_>) -> bool {
        self.enter(Place::Invoke, function, [keys, args])
    }

    /// Calls what is at this place with a script or function.
    #[inline]
    fn enter(&mut self, place: Place, callee: i32, texts: [Texts<'_>; 2]) -> bool {
        // A panic may have left something there.
        self.end();
        self.bridge.place.set(None);
        // SAFETY: only the lifetime changes; by INV-INPUT nobody uses the texts after this function has taken
        // them back, and no panic gets past it before.
        let inputs = unsafe { transmute::<[Texts<'_>; 2], [Texts<'static>; 2]>(texts) };
        self.bridge.inputs.set(inputs);
        // SAFETY: INV-BASE, these are there, and there is room above them. All that may raise an error is called
        // by `lua_pcall`.
        let status = unsafe {
            let state = self.state;
            ffi::lua_pushvalue(state, place as c_int);
            ffi::lua_rawgeti_(state, Place::Scripts as c_int, callee);
            ffi::lua_pcall(state, 1, 1, Place::Handler as c_int)
        };
        self.bridge.inputs.take();
        if let Some(panic) = self.bridge.panic.take() {
            self.end();
            resume_unwind(panic);
        }
        status == ffi::LUA_OK
    }

    /// Where the last script has failed.
    pub(crate) fn take_place(&mut self) -> Option<Where> {
        self.bridge.place.take()
    }

    /// The error of the last script.
    pub(crate) fn take_error(&mut self, lua: &Lua) -> Value {
        // SAFETY: the error is above the values that are always there, on the main thread's stack.
        lua.exec_raw_lua(|raw| unsafe { raw.pop_value() })
    }

    /// The result of the last script.
    pub(crate) fn stack(&mut self) -> Stack<'_> {
        // SAFETY: INV-BASE: the result is above the values that are always there.
        unsafe { Stack::new(self.state) }
    }

    /// The next run makes tables for its keys and arguments: these may have become large.
    pub(crate) fn renew(&mut self) {
        self.bridge.keys_filled.take();
        self.bridge.args_filled.take();
    }

    /// Removes what a script has left on the stack.
    pub(crate) fn end(&mut self) {
        // SAFETY: INV-BASE; nothing is added.
        unsafe { ffi::lua_settop(self.state, Stack::BASE) }
    }
}

/// Sets KEYS and ARGV, as far as the script sees them, and calls it.
///
/// # Safety
///
/// [`Machine::call`] calls it, with its argument.
unsafe extern "C-unwind" fn start(state: *mut lua_State) -> c_int {
    // SAFETY: INV-ALIVE; INV-INPUT, the texts are there. INV-PLAIN: a slice of bytes is all there is.
    unsafe {
        let bridge = ffi::lua_touserdata(state, Upvalue::Bridge.at()).cast::<Bridge>();
        let ([keys, args], globals) = ((*bridge).inputs.get(), (*bridge).globals.get());
        if globals.sees_keys {
            let before = (*bridge).keys_filled.take();
            let filled = set_texts(state, Upvalue::KeysName, Upvalue::Keys, keys, before);
            (*bridge).keys_filled.set(filled);
        }
        if globals.sees_args {
            let before = (*bridge).args_filled.take();
            let filled = set_texts(state, Upvalue::ArgvName, Upvalue::Argv, args, before);
            (*bridge).args_filled.set(filled);
        }
        ffi::lua_call(state, 0, 1);
        1
    }
}

/// Calls the function with tables of its keys and arguments.
///
/// # Safety
///
/// [`Machine::invoke`] calls it, with its argument.
unsafe extern "C-unwind" fn invoke(state: *mut lua_State) -> c_int {
    // SAFETY: INV-ALIVE; INV-INPUT, the texts are there. INV-PLAIN. A function of C has room for all of this.
    unsafe {
        let bridge = ffi::lua_touserdata(state, ffi::lua_upvalueindex(1)).cast::<Bridge>();
        let [keys, args] = (*bridge).inputs.get();
        ffi::lua_createtable(state, keys.len() as c_int, 0);
        fill(state, keys);
        ffi::lua_createtable(state, args.len() as c_int, 0);
        fill(state, args);
        ffi::lua_call(state, 2, 1);
        1
    }
}

/// Sets the global with this name to a table of texts. `before`: how many the last run has put into the table that
/// is there, which is taken again if it is as good as new. Returns how many there are now.
///
/// # Safety
///
/// As [`start`], of which this is a part.
unsafe fn set_texts(
    state: *mut lua_State,
    name: Upvalue,
    table: Upvalue,
    texts: Texts<'_>,
    before: Option<c_int>,
) -> Option<c_int> {
    let count = texts.len() as c_int;
    // SAFETY: as of this function. A function of C has room for all of this. INV-PLAIN.
    unsafe {
        ffi::lua_pushvalue(state, table.at());
        if count > AGAIN_MAX || !before.is_some_and(|before| is_as_new(state, before, count)) {
            ffi::lua_settop(state, -2);
            ffi::lua_pushvalue(state, name.at());
            ffi::lua_createtable(state, count.max(AGAIN_MAX), 0);
            ffi::lua_pushvalue(state, -1);
            ffi::lua_replace(state, table.at());
            ffi::lua_rawset(state, Upvalue::Globals.at());
            ffi::lua_pushvalue(state, table.at());
        }
        fill(state, texts);
        ffi::lua_settop(state, -2);
    }
    (count <= AGAIN_MAX).then_some(count)
}

/// Puts texts into the table on top.
///
/// # Safety
///
/// As [`start`]; what is on top is a table.
unsafe fn fill(state: *mut lua_State, texts: Texts<'_>) {
    // SAFETY: as of this function, and there is room. INV-PLAIN.
    unsafe {
        for (at, text) in (1..).zip(texts.iter()) {
            reply::push_text(state, text);
            ffi::lua_rawseti_(state, -2, at);
        }
    }
}

/// Empties the table on top, into which so many texts were put, and tells whether nothing of what a script may have
/// done to it can be seen: it has no metatable and no other keys, and if several texts are put into it they will be
/// in its array, so in order.
///
/// # Safety
///
/// As [`set_texts`].
unsafe fn is_as_new(state: *mut lua_State, before: c_int, count: c_int) -> bool {
    // SAFETY: as of this function; what was put on top is the table.
    unsafe {
        if ffi::lua_getmetatable(state, -1) != 0 {
            ffi::lua_settop(state, -2);
            return false;
        }
        for at in 1..=before {
            ffi::lua_pushnil(state);
            ffi::lua_rawseti_(state, -2, at);
        }
        ffi::lua_pushnil(state);
        if ffi::lua_next(state, -2) != 0 {
            ffi::lua_settop(state, -3);
            return false;
        }
        if count <= 1 {
            return true;
        }
        // The length of a table is that of its array if the last place of this is taken.
        ffi::lua_pushboolean(state, 1);
        ffi::lua_rawseti_(state, -2, AGAIN_MAX);
        let has_array = ffi::lua_objlen(state, -1) == AGAIN_MAX as usize;
        ffi::lua_pushnil(state);
        ffi::lua_rawseti_(state, -2, AGAIN_MAX);
        has_array
    }
}

/// Notes where an error was raised; the error stays as it is.
///
/// # Safety
///
/// Lua calls it with an error.
unsafe extern "C-unwind" fn handler(state: *mut lua_State) -> c_int {
    // SAFETY: INV-ALIVE; the state is that of a function.
    unsafe {
        let bridge = ffi::lua_touserdata(state, ffi::lua_upvalueindex(1)).cast::<Bridge>();
        (*bridge).caught(|| (*bridge).place.set(place(state)));
        ffi::lua_settop(state, 1);
        1
    }
}

/// The chunk and line of the script that runs now: the first function that is neither C nor the prelude.
///
/// # Safety
///
/// A function runs in the thread. INV-QUIET.
unsafe fn place(state: *mut lua_State) -> Option<Where> {
    // SAFETY: these are pointers and numbers, for all of which zero is a value.
    let mut debug: lua_Debug = unsafe { std::mem::zeroed() };
    for level in 0.. {
        // SAFETY: Lua sets what is asked for, texts that end with zero and are alive while the function runs.
        let (what, source) = unsafe {
            if ffi::lua_getstack(state, level, &raw mut debug) == 0 {
                return None;
            }
            ffi::lua_getinfo(state, c"Sl".as_ptr(), &raw mut debug);
            (CStr::from_ptr(debug.what), CStr::from_ptr(debug.source))
        };
        if what != c"C" && what != c"tail" && source != c"=prelude" {
            return Some((source.to_bytes().to_vec(), i64::from(debug.currentline)));
        }
    }
    None
}
