// SPDX-License-Identifier: Apache-2.0
//! Lua's C API, for what each run of a script does: to call the script (`native/run.rs`), to run commands
//! (`native/call.rs`), replies to Lua (`native/reply.rs`), and to look at what it returns (`native/stack.rs`).
//! All else goes through `mlua`, which allocates for each value that it hands out.
//!
//! # Invariants
//!
//! Lua raises an error by `longjmp`, from any function that may allocate memory of Lua, to the `lua_pcall` below.
//!
//! * INV-PLAIN: a frame of Rust between a function of Lua that may raise an error and its `lua_pcall` has nothing
//!   to drop, and lends out nothing. So the work of a command is done by a call that has returned, with all its
//!   values dropped, before its reply is made to values of Lua; what is kept in between belongs to [`Bridge`].
//! * INV-QUIET: what runs outside of a `lua_pcall`, or has something to drop, uses only functions of Lua that raise
//!   no error: they allocate nothing, convert nothing and call no metamethod.
//! * INV-CAUGHT: no panic crosses a frame of C. Code that may panic runs in [`Bridge::caught`]; the panic goes on
//!   when `lua_pcall` has returned.
//! * INV-BASE: the first values on the stack of the main thread are those of [`Place`], from when the VM is made
//!   to its end. What is above them is removed before the call that has put it there returns.
//! * INV-ALIVE: the [`Bridge`] that functions of C have as their upvalue lives as long as functions can be called:
//!   a VM drops it after Lua.
//! * INV-INPUT: texts of a run are reached through the bridge only during the call of [`run::call`] that has
//!   borrowed them.

mod call;
mod reply;
mod run;
mod stack;
#[cfg(test)]
mod tests;

pub(crate) use call::COMMAND_MAX;
pub(crate) use run::{Machine, caller};
pub(crate) use stack::{FieldName, Kind, Part, Stack};

use crate::globals::Globals;
use crate::guard::Guard;
use crate::server::ReplyVersion;
use crate::texts::{TextList, Texts};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// Where a script failed: the chunk and the line.
pub(crate) type Where = (Vec<u8>, i64);

/// What the functions of C reach.
pub(crate) struct Bridge {
    pub(crate) guard: Rc<Guard>,
    pub(crate) resp: Rc<Cell<ReplyVersion>>,
    /// Keys and arguments of the run, see INV-INPUT.
    inputs: Cell<[Texts<'static>; 2]>,
    /// What the script of the run does with globals.
    globals: Cell<Globals>,
    /// How many keys the last script that saw them has had, if the next one may take their table.
    keys_filled: Cell<Option<c_int>>,
    /// The same of arguments.
    args_filled: Cell<Option<c_int>>,
    /// The words of the present command; empty between commands.
    words: RefCell<TextList>,
    /// The reply of the last command.
    reply: RefCell<Vec<u8>>,
    /// Where the error was raised that ends the run.
    place: Cell<Option<Where>>,
    /// A panic that goes on when Lua has returned.
    panic: Cell<Option<Box<dyn Any + Send>>>,
}

impl Bridge {
    pub(crate) fn new(guard: Rc<Guard>, resp: Rc<Cell<ReplyVersion>>) -> Self {
        Bridge {
            guard,
            resp,
            inputs: Cell::default(),
            globals: Cell::new(Globals::ALL),
            keys_filled: Cell::default(),
            args_filled: Cell::default(),
            words: RefCell::default(),
            reply: RefCell::default(),
            place: Cell::default(),
            panic: Cell::default(),
        }
    }

    /// Does what may panic, INV-CAUGHT. After a panic the script is ended.
    #[inline]
    fn caught<R>(&self, work: impl FnOnce() -> R) -> Option<R> {
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(result) => Some(result),
            Err(panic) => {
                self.guard.stop("ERR the server has failed");
                self.panic.set(Some(panic));
                None
            }
        }
    }
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bridge").field("guard", &self.guard).finish_non_exhaustive()
    }
}
