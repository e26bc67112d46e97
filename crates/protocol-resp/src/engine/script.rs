// SPDX-License-Identifier: Apache-2.0
//! Runs a script: in the VM of this thread, which the first script makes, under the locks of the command that
//! runs it. `script/`: functions of libraries, which have a VM of their own; the commands of a script, and its reply;
//! the first line of a script, and which scripts say that they write nothing.
//!
//! A script is one command for the engine: its locks are held until it ends. It has declared its keys, and begins with
//! the locks of these. `script/commands.rs` says when it locks everything, and when it begins again for that.

mod commands;
mod functions;
mod known;
mod pledge;
mod reply;
pub(crate) mod shebang;

pub(crate) use self::known::{Known, ScriptName};
pub(super) use self::pledge::{needs_memory, writes_nothing};
pub(crate) use functions::{call_function, find_function, forget, load_library};

use self::commands::Runner;
use self::known::Memory;
use self::reply::Reply;
use crate::engine::call::Call;
use crate::engine::execution::Execution;
use crate::engine::function::Commands;
use crate::host::Host;
use crate::host::scripts::{CachedScript, Probation, Scripts, Sha};
use crate::host::version::REDIS_VERSION;
use crate::table;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::{Scope, View};
use protocol::Context;
use script::{Compiled, Raised, Server, Sink, Texts, Vm};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// A script or a function to be run.
#[derive(Debug)]
pub(crate) struct Script<'c> {
    /// Its name in messages: the digest of a script.
    pub(crate) name: &'c [u8],
    pub(crate) probation: &'c Probation,
    /// The command, if it is a function.
    pub(crate) command: Option<Args<'c>>,
    pub(crate) keys: Texts<'c>,
    pub(crate) args: Texts<'c>,
    /// It must not write.
    pub(crate) is_readonly: bool,
    /// It may write though memory is short.
    pub(crate) allows_oom: bool,
    /// It may use keys of several slots.
    pub(crate) crosses_slots: bool,
}

/// The VM of a thread.
struct ThreadVm {
    vm: Vm,
    /// Flushes of the cache before it was used last.
    generation: u64,
    /// The memory that was reported of it.
    told: u64,
}

impl ThreadVm {
    /// Drops the scripts if the cache was flushed since it was used last: whether it was.
    fn catch_up(&mut self, scripts: &Scripts) -> bool {
        let generation = scripts.generation();
        let is_behind = self.generation != generation;
        if is_behind {
            self.vm.forget_all();
            self.generation = generation;
        }
        is_behind
    }

    /// Reports its memory.
    fn report(&mut self, scripts: &Scripts) {
        scripts.vm_memory().note(&mut self.told, self.vm.used_bytes() as u64);
    }
}

thread_local! {
    /// Made by the first script.
    static VM: RefCell<Option<ThreadVm>> = const { RefCell::new(None) };

    static MEMORY: RefCell<Memory<Known>> = RefCell::default();
}

/// The script with this name, if this thread has run it and it is in the cache.
pub(crate) fn recall(scripts: &Scripts, name: ScriptName<'_>) -> Option<Rc<Known>> {
    MEMORY.with_borrow_mut(|memory| memory.recall(scripts, name))
}

/// Keeps a script that [`recall`] has just not found and that is in the cache.
pub(crate) fn keep(name: ScriptName<'_>, sha: Sha, source: Arc<CachedScript>) -> Rc<Known> {
    MEMORY.with_borrow_mut(|memory| memory.keep(name, sha, source))
}

/// Runs `work` with the VM of this thread.
fn with_vm<V: View, R>(
    call: &mut Call<'_, V>,
    work: impl FnOnce(&mut Call<'_, V>, &mut Vm) -> Result<R, Fault>,
) -> Result<R, Fault> {
    VM.with_borrow_mut(|slot| {
        let generation = call.scripts().generation();
        if slot.is_none() {
            let vm = Vm::new(REDIS_VERSION).map_err(|_| Fault::OUT_OF_MEMORY)?;
            *slot = Some(ThreadVm { vm, generation, told: 0 });
        }
        let Some(own) = slot else { return Err(Fault::OUT_OF_MEMORY) };
        own.catch_up(call.scripts());
        let result = work(call, &mut own.vm);
        own.report(call.scripts());
        result
    })
}

/// Drops from the VMs of this thread the scripts and libraries that were removed. Each worker does so, since their
/// memory is told of until then; two loads if none was removed since the numbers `followed`, which are updated.
#[inline]
pub(crate) fn drop_removed(host: &Host, followed: &mut [u64; 2]) {
    let latest = [host.scripts().generation(), host.functions().generation()];
    if *followed != latest {
        *followed = latest;
        drop_now(host);
    }
}

#[cold]
fn drop_now(host: &Host) {
    VM.with_borrow_mut(|slot| {
        if let Some(own) = slot
            && own.catch_up(host.scripts())
        {
            own.report(host.scripts());
        }
    });
    functions::drop_removed(host.functions());
}

/// Compiles a script.
pub(crate) fn compile<V: View>(call: &mut Call<'_, V>, sha: &Sha, code: &[u8]) -> Done {
    with_vm(call, |_, vm| compile_in(vm, sha, code).map(drop))
}

fn compile_in(vm: &mut Vm, sha: &Sha, code: &[u8]) -> Result<Compiled, Fault> {
    if let Some(script) = vm.find(sha) {
        return Ok(script);
    }
    vm.compile(sha, code)
        .map_err(|error| Fault::made(format!("ERR Error compiling script (new function): {error}")))
}

/// Runs a script and writes its reply. `code` is what Lua compiles of its text.
pub(crate) fn run<C: Commands, V: View>(
    call: &mut Call<'_, V>,
    known: &Known,
    code: &[u8],
    script: &Script<'_>,
) -> Done {
    with_vm(call, |call, vm| {
        let compiled = match known.compiled.get().filter(|compiled| vm.keeps(*compiled)) {
            Some(compiled) => compiled,
            None => compile_in(vm, &known.sha, code)?,
        };
        known.compiled.set(Some(compiled));
        run_in::<C, V>(call, script, |runner, reply| {
            vm.run_compiled(compiled, script.keys, script.args, runner, reply)
        })
    })
}

/// Lets `work` run a script or a function; writes its reply.
fn run_in<C: Commands, V: View>(
    call: &mut Call<'_, V>,
    script: &Script<'_>,
    mut work: impl FnMut(&mut dyn Server, &mut dyn Sink) -> Result<(), Raised>,
) -> Done {
    let declared = call.scope;
    let mut scope = lock(call, script);
    if !call.in_transaction {
        call.worker.unit_micros = None;
    }
    let (version, db) = (call.conn.version, call.conn.db);
    let fieldsets = std::mem::take(&mut call.conn.fieldsets);
    let mut replies = call.worker.script_replies.take().unwrap_or_default();
    let mut context = Context::new(call.now, call.id, &mut *call.outbox, call.directory);
    context.ticket = call.ticket;
    if !call.host.monitors().is_empty() {
        call.host.monitors().show(call.spec, call.args, call.conn, &mut context, false);
    }
    let lacks_memory =
        call.worker.lacks_memory && call.host.settings().maxmemory() != 0 && !script.allows_oom;
    let (mut has_wandered, mut has_selected) = (false, false);
    let (done, has_failed) = loop {
        let execution = Execution {
            view: &mut *call.keys.view,
            host: call.host,
            worker: &mut *call.worker,
            scope,
            limits: call.keys.limits,
            stats: None,
            out: &mut replies,
            context: &mut context,
        };
        let mut runner =
            Runner::<C, V>::new(execution, &mut *call.conn, declared, script, lacks_memory);
        let mark = call.out.out().mark();
        let mut reply = Reply { out: &mut call.out, stats: call.host.stats(), has_failed: false };
        let done = work(&mut runner, &mut reply);
        let has_failed = reply.has_failed;
        let end = runner.end();
        has_wandered |= end.has_wandered;
        call.conn.version = version;
        call.conn.fieldsets.discard_all();
        if !end.begins_again {
            break (done, has_failed);
        }
        // It has changed nothing, and its reply so far is nothing. Its commands stay counted, and shown to MONITOR.
        call.out.out().truncate(mark);
        has_selected |= call.conn.db != db;
        call.conn.db = db;
        call.host.scripts().count_restart();
        call.keys.view.relock(Scope::ALL);
        scope = Scope::ALL;
    };
    call.conn.fieldsets = fieldsets;
    call.conn.note_fieldsets();
    if has_selected || call.conn.db != db {
        crate::engine::any_call::AnyCall::select(call, db);
    }
    if replies.capacity() <= REPLIES_KEPT {
        call.worker.script_replies = Some(replies);
    }
    if declared != Scope::ALL {
        script.probation.note_run(has_wandered);
        if has_wandered {
            call.scripts().count_wandering();
        }
    }
    report(call, script, done, has_failed)
}

/// Locks what a script begins with: its keys, or everything if it is known to use others, or must not begin again.
fn lock<V: View>(call: &mut Call<'_, V>, script: &Script<'_>) -> Scope {
    // Variables of a library keep what a function that begins again has made of them.
    let is_stateful = script.command.is_some() && !script.probation.is_contained();
    if call.scope != Scope::ALL && (script.probation.wanders() || is_stateful) {
        call.keys.view.relock(Scope::ALL);
        return Scope::ALL;
    }
    call.scope
}

/// Counts how a script has ended, and writes its error if that has been counted before.
fn report<V: View>(
    call: &mut Call<'_, V>,
    script: &Script<'_>,
    done: Result<(), Raised>,
    has_failed: bool,
) -> Done {
    match done {
        Ok(()) if has_failed => note_failed(call),
        Ok(()) => {}
        Err(raised) => {
            let was_counted = raised.was_counted;
            let fault = fault_of(raised, script);
            if !was_counted {
                return Err(fault);
            }
            call.out.error(fault.text());
            note_failed(call);
        }
    }
    Ok(())
}

/// Counts a command as failed that replies with an error which it must not return, since it has been counted among
/// the errors.
#[cold]
fn note_failed<V: View>(call: &mut Call<'_, V>) {
    if let Some(id) = table::find(call.spec.name.as_bytes()) {
        call.worker.counts.of(id.index()).failed.add(1);
    }
}

/// The error of a script, with the place where it was raised.
#[cold]
fn fault_of(raised: Raised, script: &Script<'_>) -> Fault {
    let mut text = raised.text;
    if let Some((source, line)) = raised.place {
        text.extend_from_slice(b" script: ");
        text.extend_from_slice(script.name);
        text.extend_from_slice(b", on ");
        text.extend_from_slice(&source);
        text.extend_from_slice(format!(":{line}.").as_bytes());
    }
    Fault::made(text)
}

/// Capacity for replies that is kept between scripts, in bytes.
const REPLIES_KEPT: usize = 64 << 10;
