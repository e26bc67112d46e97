// SPDX-License-Identifier: Apache-2.0
//! `redis.call` and `redis.pcall`: from the arguments on Lua's stack to a [`Server`](crate::Server), and back.

use super::{Bridge, reply};
use crate::number;
use crate::texts::TextList;
use crate::vm::MEMORY_MAX;
use mlua::ffi::{self, lua_State};
use std::ffi::c_int;
use std::slice;

/// The most bytes of the arguments of one command. More is an error of the script.
pub(crate) const COMMAND_MAX: usize = MEMORY_MAX;

/// Capacity for a reply that is kept between commands, in bytes.
const REPLY_KEPT: usize = 64 << 10;

/// How a command has ended. What it has said is in [`Bridge::reply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// There is a reply, which is no error.
    Reply,
    /// There is the text of an error; `was_counted`: it is of the server, which has counted it.
    Error { was_counted: bool },
    /// The script may not go on.
    Stopped,
}

/// `redis.call(words...)`
///
/// # Safety
///
/// Lua calls it, and its upvalue is a bridge, INV-ALIVE.
pub(super) unsafe extern "C-unwind" fn call(state: *mut lua_State) -> c_int {
    // SAFETY: as of this function.
    unsafe { command(state, true) }
}

/// `redis.pcall(words...)`
///
/// # Safety
///
/// As [`call`].
pub(super) unsafe extern "C-unwind" fn pcall(state: *mut lua_State) -> c_int {
    // SAFETY: as of this function.
    unsafe { command(state, false) }
}

/// # Safety
///
/// As [`call`].
#[inline]
unsafe fn command(state: *mut lua_State, raises: bool) -> c_int {
    // SAFETY: INV-ALIVE. INV-PLAIN: `perform` has returned before anything here can raise an error, and the
    // reply, which is borrowed until Lua has made a value of it, stays where it is until the next command.
    // None can begin meanwhile: making values runs no script.
    unsafe {
        let bridge = ffi::lua_touserdata(state, ffi::lua_upvalueindex(1)).cast::<Bridge>();
        let end = (*bridge).caught(|| perform(&*bridge, state)).unwrap_or(End::Stopped);
        ffi::lua_settop(state, 0);
        let text = &*(*bridge).reply.as_ptr();
        match end {
            End::Reply => reply::push(state, text),
            End::Error { was_counted } => {
                ffi::lua_createtable(state, 0, 2);
                reply::push_text(state, text);
                reply::set_field(state, c"err");
                if was_counted {
                    ffi::lua_pushboolean(state, 1);
                    reply::set_field(state, c"ignore_error_stats_update");
                }
                if raises {
                    ffi::lua_error(state);
                }
            }
            End::Stopped => reply::raise(state, b"the script was ended"),
        }
        1
    }
}

/// Runs the command whose words are the arguments of the function that Lua has called.
///
/// # Safety
///
/// The state is that of this function. INV-QUIET.
unsafe fn perform(bridge: &Bridge, state: *mut lua_State) -> End {
    if !bridge.guard.may_go_on_after_call() {
        return End::Stopped;
    }
    let (mut words, mut reply) = (bridge.words.borrow_mut(), bridge.reply.borrow_mut());
    if reply.capacity() > REPLY_KEPT {
        *reply = Vec::new();
    }
    reply.clear();
    // SAFETY: as of this function.
    let collected = unsafe { collect(state, &mut words) };
    let done = collected.map(|()| {
        bridge.guard.slot.with(|server| {
            let resp = bridge.resp.get();
            server.call(words.texts(), resp, &mut |bytes| reply.extend_from_slice(bytes))
        })
    });
    words.clear();
    match done {
        Err(text) => refused(&mut reply, text, false),
        Ok(None) => refused(&mut reply, "ERR redis.call can only be called by a script", false),
        Ok(Some(Err(text))) => refused(&mut reply, &text, true),
        Ok(Some(Ok(()))) if reply.first() == Some(&b'-') => {
            reply.remove(0);
            if reply.ends_with(b"\r\n") {
                let len = reply.len().saturating_sub(2);
                reply.truncate(len);
            }
            End::Error { was_counted: true }
        }
        Ok(Some(Ok(()))) => End::Reply,
    }
}

/// A command that does not run.
#[cold]
fn refused(reply: &mut Vec<u8>, text: &str, was_counted: bool) -> End {
    reply.clear();
    reply.extend_from_slice(text.as_bytes());
    End::Error { was_counted }
}

/// Takes the words of a command from the stack. Numbers are written as Redis writes them.
///
/// # Safety
///
/// As [`perform`].
unsafe fn collect(state: *mut lua_State, words: &mut TextList) -> Result<(), &'static str> {
    words.clear();
    let mut is_right = true;
    // SAFETY: INV-QUIET. The stack has so many values. Only strings are taken as strings, which converts nothing;
    // they stay on the stack, and so alive and in their place, while they are copied.
    unsafe {
        let count = ffi::lua_gettop(state);
        if count == 0 {
            return Err("ERR Please specify at least one argument for this redis lib call");
        }
        for at in 1..=count {
            match ffi::lua_type(state, at) {
                ffi::LUA_TSTRING => {
                    let mut len = 0;
                    let text = ffi::lua_tolstring(state, at, &raw mut len);
                    if words.len_bytes().saturating_add(len) > COMMAND_MAX {
                        return Err("ERR not enough memory");
                    }
                    words.push(slice::from_raw_parts(text.cast(), len));
                }
                ffi::LUA_TNUMBER => words.push(&number::argument(ffi::lua_tonumber(state, at))),
                _ => is_right = false,
            }
        }
    }
    is_right.then_some(()).ok_or("ERR Lua redis lib command arguments must be strings or integers")
}
