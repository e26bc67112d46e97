// SPDX-License-Identifier: Apache-2.0
//! [`Runner`]: the commands of a script.
//!
//! A script begins with the locks of the keys that it has declared. It needs all locks when it uses another key, and on
//! probation before its first effect, because it may use others later. They are added if nobody holds any of them.
//! If somebody does, a script without an effect so far begins again with all locks. One that has had an effect was
//! trusted; its locks are released and all are taken, so it is not atomic at this point, which is counted.

use super::Script;
use crate::cluster::slots::slot_of;
use crate::engine::execution::{Execution, Origin};
use crate::engine::function::Commands;
use crate::engine::rights;
use crate::engine::run::scope_of;
use crate::host::acl_log::Where;
use crate::host::scripts::{Running, RunningFunction};
use crate::session::connection::Resp;
use crate::session::marks::Marks;
use crate::session::transaction::WRITES;
use crate::table::{self, CommandId, Flags, keys};
use crate::wire::parse::Args;
use crate::wire::reply::Version;
use clock::Timer;
use keyspace::{Scope, View};
use script::{Go, Level, Server, Texts};
use std::io::IoSlice;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// A script that has run for longer can be ended by SCRIPT KILL.
const LONG: Duration = Duration::from_millis(5);

/// A script that has written is ended after so many times `busy-reply-threshold`.
const PATIENCE: u32 = 10;

/// How many words of a command FUNCTION STATS shows, and how many bytes of each.
const WORDS_MAX: usize = 128;
const WORD_MAX: usize = 1024;

const KILLED: &str = "ERR Script killed by user with SCRIPT KILL...";
/// Nobody sees it: what the script makes of it is dropped.
const BEGINS_AGAIN: &str = "ERR the script begins again";
const TOO_LONG: &str = "ERR Script ended because it ran for longer than busy-reply-threshold.";

/// What there is to know of a script that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// It has used keys that it had not declared.
    pub(super) has_wandered: bool,
    /// It has had no effect, and begins again with all locks.
    pub(super) begins_again: bool,
}

/// What the commands of a script run in.
pub(super) struct Runner<'r, 'x, C, V> {
    execution: Execution<'r, 'x, V>,
    conn: &'r mut Resp,
    script: &'r Script<'r>,
    /// The shards of the keys that the script has declared.
    declared: Scope,
    /// The slot of its keys, if it may only use keys of one.
    slot: Option<u16>,
    /// Memory was short when the script began.
    lacks_memory: bool,
    has_written: bool,
    /// It has run a command that others may notice.
    has_effects: bool,
    has_wandered: bool,
    /// Its first effect needs no more locks than its keys.
    is_contained: bool,
    begins_again: bool,
    /// Since it was first looked at the time.
    timer: Option<Timer>,
    /// The script's entry among those that take long.
    running: Option<Arc<Running>>,
    is_busy: bool,
    /// The log says that it is ended.
    is_told_of: bool,
    functions: PhantomData<C>,
}

impl<'r, 'x, C: Commands, V: View> Runner<'r, 'x, C, V> {
    pub(super) fn new(
        execution: Execution<'r, 'x, V>,
        conn: &'r mut Resp,
        declared: Scope,
        script: &'r Script<'r>,
        lacks_memory: bool,
    ) -> Self {
        let slot = script.keys.get(0).filter(|_| !script.crosses_slots).map(slot_of);
        Runner {
            execution,
            conn,
            script,
            declared,
            slot,
            lacks_memory,
            has_written: false,
            has_effects: false,
            has_wandered: false,
            is_contained: script.probation.is_contained(),
            begins_again: false,
            timer: None,
            running: None,
            is_busy: false,
            is_told_of: false,
            functions: PhantomData,
        }
    }

    /// Ends the script.
    pub(super) fn end(self) -> End {
        if let Some(running) = &self.running {
            self.execution.host.scripts().leave_long(running);
        }
        End { has_wandered: self.has_wandered, begins_again: self.begins_again }
    }

    /// Says in the log that it is ended. It may be told so several times until it is.
    #[cold]
    fn tell_end(&mut self, elapsed: Duration, how: &str) {
        if !std::mem::replace(&mut self.is_told_of, true) {
            self.warn(elapsed, how);
        }
    }

    /// Says something of it in the log.
    #[cold]
    fn warn(&self, elapsed: Duration, what: &str) {
        log::warn!(
            "{} {} of client {}: {what}, after {} ms; it has {}",
            if self.script.command.is_some() { "function" } else { "script" },
            self.script.name.escape_ascii(),
            self.conn.client.as_ref().map_or(0, |client| client.id.serial()),
            elapsed.as_millis(),
            if self.has_written { "written" } else { "written nothing" },
        );
    }

    /// Whether a command may run, in Redis's order.
    fn admit(&mut self, id: CommandId, args: Args<'_>) -> Result<(), String> {
        let flags = id.spec().flags;
        if flags.has(Flags::NEEDS_STATS) || flags.has(Flags::NOSCRIPT) {
            return Err("ERR This Redis command is not allowed from script".to_owned());
        }
        if self.execution.host.acl().is_used() {
            let (host, now) = (self.execution.host, self.execution.context.now);
            rights::check_at(host, self.conn, id, args, Where::Script, now).map_err(|fault| {
                let text = String::from_utf8_lossy(fault.text()).into_owned();
                format!("ERR ACL failure in script: {}", text.trim_start_matches("NOPERM "))
            })?;
        }
        if self.conn.marks.has(Marks::CLUSTER) {
            self.route(id, args)?;
        }
        if self.script.is_readonly && flags.meets(WRITES) {
            return Err("ERR Write commands are not allowed from read-only scripts.".to_owned());
        }
        if self.lacks_memory && !self.has_written && flags.has(Flags::DENYOOM) {
            return Err("OOM command not allowed when used memory > 'maxmemory'.".to_owned());
        }
        if flags.has(Flags::WRITE) && !self.has_written {
            self.has_written = true;
            if let Some(running) = &self.running {
                running.has_written.store(true, Relaxed);
            }
        }
        Ok(())
    }

    /// Whether this node of a cluster may hold all keys of a command, these are of one slot, and the script may use that.
    #[cold]
    fn route(&mut self, id: CommandId, args: Args<'_>) -> Result<(), String> {
        const FOREIGN: &str = "ERR Script attempted to access a non local key in a cluster node";
        const SEVERAL: &str =
            "ERR Script attempted to access keys that do not hash to the same slot";
        let host = self.execution.host;
        let topology = self.execution.worker.topology.latest(host.cluster());
        let (mut of_command, mut is_here, mut is_one) = (None, true, true);
        let _ = keys::visit_routed(id.spec(), &args, |at, is_key| {
            let slot = slot_of(args.arg(at));
            is_one &= *of_command.get_or_insert(slot) == slot;
            is_here &= if is_key { topology.may_hold(slot) } else { topology.has_channel(slot) };
        });
        if !is_one {
            let name = id.spec().name;
            return Err(format!(
                "ERR Command '{name}' in script attempted to access keys that don't hash to the same slot"
            ));
        }
        if !is_here {
            return Err(FOREIGN.to_owned());
        }
        if let Some(slot) = of_command
            && !self.script.crosses_slots
            && *self.slot.get_or_insert(slot) != slot
        {
            return Err(SEVERAL.to_owned());
        }
        Ok(())
    }

    /// The entry of a function among those that take long.
    fn function(&self, timer: Timer) -> Option<RunningFunction> {
        let command = self.script.command?;
        let kept = |word: &[u8]| word[..word.len().min(WORD_MAX)].into();
        let command = command.iter().take(WORDS_MAX).map(kept).collect();
        Some(RunningFunction { name: self.script.name.into(), command, timer })
    }

    /// Sees to it that the shards of a command are locked; `false`: the script must begin again. The top of the file
    /// has the rules.
    fn lock(&mut self, id: CommandId, args: Args<'_>) -> bool {
        let Execution { view, host, scope: held, .. } = &mut self.execution;
        let scope = scope_of(host, id, args, |key| view.scope_of(key));
        self.has_wandered |= !self.declared.contains(scope);
        let is_first = !self.has_effects && id.spec().flags.meets(WRITES);
        if (!held.contains(scope) || (is_first && !self.is_contained)) && *held != Scope::ALL {
            // Before it has the locks, so that nobody begins to wait for them.
            if let Some(running) = self.running.as_ref().filter(|_| self.is_busy) {
                host.scripts().make_busy(running, Scope::ALL);
            }
            if !view.extend(Scope::ALL) {
                if !self.has_effects {
                    self.begins_again = true;
                    return false;
                }
                view.relock(Scope::ALL);
                host.scripts().count_interruption();
            }
            *held = Scope::ALL;
        }
        self.has_effects |= is_first;
        true
    }

    fn run(&mut self, id: CommandId, args: Args<'_>, reply: &mut dyn FnMut(&[u8])) {
        if !self.execution.host.monitors().is_empty() {
            let context = &mut *self.execution.context;
            self.execution.host.monitors().show(id.spec(), args, self.conn, context, true);
        }
        let mark = self.execution.out.mark();
        self.execution.run::<C>(self.conn, id, args, Origin::Script);
        self.execution.note_effects(self.conn, id.spec(), args);
        let out = &*self.execution.out;
        if out.is_contiguous() {
            reply(out.front());
        } else {
            let mut left = out.waiting();
            let mut slices = vec![IoSlice::new(&[]); SLICES_MAX];
            let count = out.slices(&mut slices);
            for slice in &slices[..count] {
                left -= slice.len();
                reply(slice);
            }
            debug_assert_eq!(left, 0, "a reply has few pieces");
        }
        self.execution.out.truncate(mark);
    }
}

/// The most pieces of a reply: values that are sent without a copy are large, and a reply of more of them than
/// this is beyond the memory of a VM.
const SLICES_MAX: usize = 1 << 14;

/// The command that a script names.
fn command(args: Args<'_>) -> Result<CommandId, &'static str> {
    const UNKNOWN: &str = "ERR Unknown Redis command called from script";
    let id = table::find(args.arg(0)).ok_or(UNKNOWN)?;
    let id = match args.get(1) {
        Some(name) if id.is_container() => table::find_sub(id, name).ok_or(UNKNOWN)?,
        _ => id,
    };
    let is_right = id.spec().accepts(args.len());
    is_right.then_some(id).ok_or("ERR Wrong number of args calling Redis command from script")
}

/// Words as the arguments of a request.
fn args(words: Texts<'_>) -> Args<'_> {
    let (bytes, spans) = words.parts();
    Args::new(bytes, spans)
}

impl<C: Commands, V: View> Server for Runner<'_, '_, C, V> {
    fn call(
        &mut self,
        words: Texts<'_>,
        resp: script::ReplyVersion,
        reply: &mut dyn FnMut(&[u8]),
    ) -> Result<(), String> {
        if self.begins_again {
            return Err(BEGINS_AGAIN.to_owned());
        }
        self.conn.version = match resp {
            script::ReplyVersion::Two => Version::Resp2,
            script::ReplyVersion::Three => Version::Resp3,
        };
        let args = args(words);
        let done = command(args).map_err(str::to_owned).and_then(|id| {
            if let Err(text) = self.admit(id, args) {
                self.execution.worker.counts.of(id.index()).rejected.add(1);
                return Err(text);
            }
            if !self.lock(id, args) {
                return Err(BEGINS_AGAIN.to_owned());
            }
            self.run(id, args, reply);
            Ok(())
        });
        if let Err(text) = &done
            && !self.begins_again
        {
            let code = text.split(' ').next().unwrap_or_default();
            self.execution.host.stats().error(code.as_bytes());
        }
        done
    }

    fn may_run(&mut self, words: Texts<'_>) -> Result<bool, String> {
        let args = args(words);
        // How many arguments there are does not matter.
        let id = table::resolve(args.arg(0), args.get(1))
            .ok_or_else(|| "ERR Invalid command passed to redis.acl_check_cmd()".to_owned())?;
        Ok(rights::find(self.execution.host, self.conn, id, args).is_ok())
    }

    fn log(&mut self, level: Level, text: &[u8]) {
        if !self.begins_again {
            log_line(level, text);
        }
    }

    fn go_on(&mut self) -> Go {
        if self.begins_again {
            return Go::Stop(BEGINS_AGAIN);
        }
        let timer = *self.timer.get_or_insert_with(Timer::start);
        let elapsed = Duration::from_nanos(timer.nanos());
        if elapsed < LONG {
            return Go::On;
        }
        let scripts = self.execution.host.scripts();
        let has_written = self.has_written;
        if self.running.is_none() {
            self.running = Some(scripts.enter_long(has_written, self.function(timer)));
        }
        let Some(running) = self.running.clone() else { return Go::On };
        if running.is_killed.load(Relaxed) {
            self.tell_end(elapsed, "ended by a client");
            return Go::Stop(KILLED);
        }
        if let Some(threshold) = scripts.threshold()
            && elapsed >= threshold
        {
            if !self.is_busy {
                self.is_busy = true;
                scripts.make_busy(&running, self.execution.scope);
                self.warn(elapsed, "still runs, and clients that need its keys are refused");
            }
            if !has_written || elapsed >= threshold.saturating_mul(PATIENCE) {
                self.tell_end(elapsed, "ended because it ran for too long");
                return Go::Stop(TOO_LONG);
            }
        }
        Go::On
    }
}

/// Writes a line of a script to the log.
pub(super) fn log_line(level: Level, text: &[u8]) {
    let level = match level {
        Level::Debug => log::Level::Trace,
        Level::Verbose => log::Level::Debug,
        Level::Notice => log::Level::Info,
        Level::Warning => log::Level::Warn,
    };
    log::log!(level, "{}", text.escape_ascii());
}
