// SPDX-License-Identifier: Apache-2.0
//! [`Guard`]: asks now and then whether the script may go on, see RULE-STOP.
//!
//! Lua calls a hook every [`STEP`] instructions. Once the server has refused, the hook is called at each
//! instruction and fails each time: whatever catches the error fails at its own next instruction.

use crate::base;
use crate::server::Go;
use crate::slot::Slot;
use mlua::{Error, HookTriggers, Lua, Result, VmState};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// How many instructions of a script pass before it is asked for whether it may go on.
pub const STEP: u32 = 10_000;

/// How many commands of a script pass before it is asked for.
const CALLS: u32 = 32;

/// Why a script was ended, and where: the chunk and the line.
pub(crate) type Stop = (&'static str, Option<(Vec<u8>, i64)>);

/// Ends scripts that may not go on.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    pub(crate) slot: Slot,
    /// Why the script was ended.
    stopped: Cell<Option<&'static str>>,
    /// Commands that were run, by which it is asked, too: they may take longer than instructions.
    calls: Cell<u32>,
    /// The chunk and the line in which it was ended.
    place: RefCell<Option<(Vec<u8>, i64)>>,
}

impl Guard {
    /// Sets the hook of the VM's main thread; threads of scripts inherit it.
    pub(crate) fn watch(self: &Rc<Self>, lua: &Lua) -> Result<()> {
        self.hook(lua, STEP)
    }

    fn hook(self: &Rc<Self>, lua: &Lua, every: u32) -> Result<()> {
        let guard = Rc::clone(self);
        // The hook of one step is set for each thread when it runs into it.
        lua.set_global_hook(HookTriggers::new().every_nth_instruction(every), move |lua, _| {
            let is_new = guard.stopped.get().is_none();
            if guard.may_go_on() {
                return Ok(VmState::Continue);
            }
            if is_new {
                let place = base::place(lua).map(|(source, line)| (source.into_bytes(), line));
                *guard.place.borrow_mut() = place;
            }
            guard.hook(lua, 1)?;
            Err(Error::runtime("the script was ended"))
        })
    }

    /// Ends the script: whatever it does next, it fails.
    pub(crate) fn stop(&self, why: &'static str) {
        self.stopped.set(Some(why));
    }

    /// Whether the script was ended.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.get().is_some()
    }

    /// Whether the script may go on. Functions that may take long ask, too.
    pub(crate) fn may_go_on(&self) -> bool {
        if self.stopped.get().is_none()
            && let Some(Go::Stop(why)) = self.slot.with(|server| server.go_on())
        {
            self.stopped.set(Some(why));
        }
        self.stopped.get().is_none()
    }

    /// The same, asked at some of the calls only.
    #[inline]
    pub(crate) fn may_go_on_after_call(&self) -> bool {
        let calls = self.calls.get().wrapping_add(1);
        self.calls.set(calls);
        if calls.is_multiple_of(CALLS) { self.may_go_on() } else { !self.is_stopped() }
    }

    /// After a run: why the script was ended and where, if it was. The VM can run others then.
    pub(crate) fn take_stop(self: &Rc<Self>, lua: &Lua) -> Option<Stop> {
        let why = self.stopped.take()?;
        // Without it the VM fails at the first instruction of the next script, and is given up then.
        let _ = self.watch(lua);
        Some((why, self.place.take()))
    }
}
