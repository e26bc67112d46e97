// SPDX-License-Identifier: Apache-2.0
//! Libraries of functions in the VM of this thread that is theirs, which the first library makes.

use super::known::{KnownFunction, Memory};
use super::{Script, run_in};
use crate::engine::call::Call;
use crate::engine::function::Commands;
use crate::host::functions::Functions;
use crate::host::version::REDIS_VERSION;
use crate::wire::fault::{Done, Fault};
use clock::Timer;
use keyspace::View;
use script::{Compiled, Go, Level, LibraryVm, Registered, Server, Texts};
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

/// How long a library may take to register its functions, in nanoseconds.
const LOADING_NANOS_MAX: u64 = 500_000_000;

/// The VM of a thread.
struct ThreadVm {
    vm: LibraryVm,
    /// Changes of the libraries before it was used last.
    generation: u64,
    /// The memory that was reported of it.
    told: u64,
}

impl ThreadVm {
    /// Drops the libraries that are no more: whether any was removed since it was used last.
    fn catch_up(&mut self, functions: &Functions) -> bool {
        let generation = functions.generation();
        let is_behind = self.generation != generation;
        if is_behind {
            let ids: HashSet<u64> =
                functions.read(|all| all.iter().map(|library| library.id).collect());
            self.vm.retain(|id| ids.contains(&id));
            self.generation = generation;
        }
        is_behind
    }

    /// Reports its memory.
    fn report(&mut self, functions: &Functions) {
        functions.vm_memory().note(&mut self.told, self.vm.used_bytes() as u64);
    }
}

thread_local! {
    /// Made by the first library.
    static VM: RefCell<Option<ThreadVm>> = const { RefCell::new(None) };

    static MEMORY: RefCell<Memory<KnownFunction>> = RefCell::default();
}

/// The function with this name in any case, if there is one.
pub(crate) fn find_function(functions: &Functions, name: &[u8]) -> Option<Rc<KnownFunction>> {
    MEMORY.with_borrow_mut(|memory| memory.function(functions, name))
}

/// What a library runs in while it registers its functions: it has no commands, and little time.
#[derive(Debug)]
struct Loader {
    timer: Timer,
    /// What it logs is shown: it is loaded by a client, and not once more in another thread.
    is_first: bool,
}

impl Server for Loader {
    fn call(
        &mut self,
        _: Texts<'_>,
        _: script::ReplyVersion,
        _: &mut dyn FnMut(&[u8]),
    ) -> Result<(), String> {
        Err("ERR This Redis command is not allowed from script".to_owned())
    }

    fn may_run(&mut self, _: Texts<'_>) -> Result<bool, String> {
        Ok(false)
    }

    fn log(&mut self, level: Level, text: &[u8]) {
        if self.is_first {
            super::commands::log_line(level, text);
        }
    }

    fn go_on(&mut self) -> Go {
        if self.timer.nanos() < LOADING_NANOS_MAX {
            return Go::On;
        }
        Go::Stop("ERR FUNCTION LOAD timeout")
    }
}

/// Runs `work` with the VM of this thread, in which no library is left that is no more.
fn with_vm<V: View, R>(
    call: &mut Call<'_, V>,
    work: impl FnOnce(&mut Call<'_, V>, &mut LibraryVm) -> Result<R, Fault>,
) -> Result<R, Fault> {
    VM.with_borrow_mut(|slot| {
        let generation = call.functions().generation();
        if slot.is_none() {
            let vm = LibraryVm::new(REDIS_VERSION).map_err(|_| Fault::OUT_OF_MEMORY)?;
            *slot = Some(ThreadVm { vm, generation, told: 0 });
        }
        let Some(own) = slot else { return Err(Fault::OUT_OF_MEMORY) };
        own.catch_up(call.functions());
        let result = work(call, &mut own.vm);
        own.report(call.functions());
        result
    })
}

/// See [`super::drop_removed`].
pub(super) fn drop_removed(functions: &Functions) {
    VM.with_borrow_mut(|slot| {
        if let Some(own) = slot
            && own.catch_up(functions)
        {
            own.report(functions);
        }
    });
}

/// Loads a library that is to become one of this server's, and returns what it has registered.
pub(crate) fn load_library<V: View>(
    call: &mut Call<'_, V>,
    id: u64,
    code: &[u8],
) -> Result<Vec<Registered>, Fault> {
    with_vm(call, |_, vm| {
        let mut loader = Loader { timer: Timer::start(), is_first: true };
        vm.load(id, code, &mut loader).map_err(|error| Fault::made(format!("ERR {error}")))
    })
}

/// Drops a library that does not become one of this server's.
pub(crate) fn forget<V: View>(call: &mut Call<'_, V>, id: u64) {
    let _ = with_vm(call, |_, vm| {
        vm.retain(|other| other != id);
        Ok(())
    });
}

/// Calls a function of a library and writes its reply.
pub(crate) fn call_function<C: Commands, V: View>(
    call: &mut Call<'_, V>,
    known: &KnownFunction,
    script: &Script<'_>,
) -> Done {
    with_vm(call, |call, vm| {
        let function = match known.compiled.get().filter(|function| vm.keeps(*function)) {
            Some(function) => function,
            None => loaded(vm, known)?,
        };
        known.compiled.set(Some(function));
        run_in::<C, V>(call, script, |runner, reply| {
            vm.call_found(function, script.keys, script.args, runner, reply)
        })
    })
}

/// Finds a function in the VM, which loads its library if it has not yet.
fn loaded(vm: &mut LibraryVm, known: &KnownFunction) -> Result<Compiled, Fault> {
    let library = &known.library;
    if !vm.has(library.id) {
        let mut loader = Loader { timer: Timer::start(), is_first: false };
        vm.load(library.id, library.code(), &mut loader)
            .map_err(|error| Fault::made(format!("ERR {error}")))?;
    }
    // The library may register others the next time.
    vm.find(library.id, &known.function().name).ok_or(Fault::new("ERR Function not found"))
}
