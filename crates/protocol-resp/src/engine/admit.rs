// SPDX-License-Identifier: Apache-2.0
//! The checks before a command runs, in Redis's order.

use crate::engine::rights;
#[cfg(feature = "scripts")]
use crate::engine::script::{needs_memory, writes_nothing};
use crate::engine::service::Engine;
use crate::engine::unknown::{no_such_subcommand, unknown};
use crate::host::Host;
use crate::host::protected::{DEBUG, DEBUG_REFUSED};
use crate::session::connection::Resp;
use crate::session::marks::Marks;
use crate::session::memory::estimate;
use crate::session::transaction::WRITES;
use crate::table::keys::Words;
use crate::table::{self, CommandId, Flags};
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use crate::wire::reply::Version;
use buffer::SendBuf;
use clock::Timer;
use keyspace::{Chore, Gone, Keyspace, Scope};
use protocol::Context;

/// What to do with a command that is not refused.
#[derive(Debug)]
pub(super) enum Admission {
    /// Run it. For a container, this is its sub-command.
    Run(CommandId),
    /// Queue it for EXEC.
    Queue(CommandId),
    /// Defer it until the pause of clients is over.
    Defer,
}

/// Flags of the commands after which the client holds state.
const KEEPS: Flags = Flags::HOLDS.with(Flags::BLOCKING);

/// Flags of the commands that may be refused for lack of memory.
const NEEDS_MEMORY: Flags = Flags::DENYOOM.with(Flags::RUNS_SCRIPT).with(KEEPS);

/// Approximate memory of an argument in a request besides its bytes.
const ARGUMENT_BYTES: u64 = 16;

impl<K: Keyspace> Engine<K> {
    /// Checks a command.
    #[inline]
    pub(super) fn admit(
        &mut self,
        conn: &mut Resp,
        id: Option<CommandId>,
        args: Args<'_>,
        context: &mut Context<'_>,
    ) -> Result<Admission, Fault> {
        let Some(id) = id else { return Err(unknown(args)) };
        let id = resolve(id, args)?;
        let spec = id.spec();
        if let Some(client) = &conn.client {
            client.sends(id.index() as u32, context.now.ticks);
        }
        if !conn.user.is_logged_in() && !spec.flags.has(Flags::NO_AUTH) {
            let must = self.host.asks_for_password();
            conn.user.set_stranger(must);
            // What no client may do is refused before what a stranger may not.
            self.admit_protected(id, context)?;
            if must {
                return Err(Fault::NO_AUTH);
            }
        }
        if conn.is_unusual() || self.host.is_unusual() {
            return self.admit_unusual(conn, id, args, context);
        }
        if spec.flags.meets(NEEDS_MEMORY) && self.may_lack_memory(spec.flags) {
            self.find_memory(spec.flags, args, context)?;
        }
        Ok(Admission::Run(id))
    }

    /// The checks for connections in a special state, and for a server in one.
    #[cold]
    fn admit_unusual(
        &mut self,
        conn: &mut Resp,
        id: CommandId,
        args: Args<'_>,
        context: &mut Context<'_>,
    ) -> Result<Admission, Fault> {
        let spec = id.spec();
        let in_transaction = conn.transaction.is_some();
        if in_transaction {
            self.admit_protected(id, context)?;
        }
        if in_transaction && spec.flags.has(Flags::NO_MULTI) {
            return Err(Fault::new("ERR Command not allowed inside a transaction"));
        }
        if self.host.acl().is_used() {
            rights::check(&self.host, conn, id, args, context.now)?;
        }
        if conn.marks.has(Marks::CLUSTER) {
            self.route(conn, id, args, context.now)?;
        }
        if self.host.scripts().is_busy() && !spec.flags.has(Flags::ALLOW_BUSY) {
            self.check_busy(id, args)?;
        }
        // EXEC has the effects of its commands.
        let is_queued = in_transaction && !spec.flags.has(Flags::NEVER_QUEUED);
        let transaction = conn.transaction.as_ref().filter(|_| id == CommandId::Exec);
        let flags = transaction.map_or(spec.flags, |transaction| transaction.flags);
        let needs_memory = flags.has(Flags::DENYOOM)
            || (is_queued && flags.has(Flags::RUNS_SCRIPT) && needs_memory(&self.host, id, &args));
        if needs_memory
            && !self.has_room(context)
            && (in_transaction || !self.has_room_of_clients(context))
        {
            return Err(Fault::OUT_OF_MEMORY);
        }
        if flags.has(Flags::RUNS_SCRIPT) {
            self.worker.lacks_memory = !self.has_room(context);
        }
        if is_queued {
            let queued = args.iter().map(|arg| arg.len() as u64 + ARGUMENT_BYTES).sum();
            self.admit_memory(queued)?;
        } else if flags.meets(KEEPS) {
            self.admit_names(args)?;
        }
        if conn.is_subscriber()
            && conn.version == Version::Resp2
            && !spec.flags.has(Flags::FOR_SUBSCRIBERS)
        {
            return Err(Fault::made(format!(
                "ERR Can't execute '{}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / \
                 RESET are allowed in this context",
                spec.name
            )));
        }
        if conn.is_monitor() {
            // Redis treats a monitor as a kind of replica, so no pause holds it.
            if flags.meets(WRITES.with(Flags::READONLY)) {
                return Err(Fault::new("ERR Replica can't interact with the keyspace"));
            }
        } else if self.host.pause().is_set()
            && self.host.pause().holds(self.may_write(conn, id, args), context.now)
        {
            conn.held = self.host.pause().hold(context.connection, context.ticket, context.now);
            if conn.held.is_some() {
                conn.note_blocked(true);
                return Ok(Admission::Defer);
            }
        }
        Ok(if is_queued { Admission::Queue(id) } else { Admission::Run(id) })
    }

    /// Refuses what the configuration protects, before it is queued.
    #[cold]
    fn admit_protected(&self, id: CommandId, context: &Context<'_>) -> Result<(), Fault> {
        let is_refused =
            id == CommandId::Debug && !self.host.may(DEBUG, context.connection, context.directory);
        if is_refused { Err(DEBUG_REFUSED) } else { Ok(()) }
    }

    /// Whether a command may change data or tell others of something; EXEC, whether one of its commands may.
    fn may_write(&self, conn: &Resp, id: CommandId, args: Args<'_>) -> bool {
        match conn.transaction.as_ref().filter(|_| id == CommandId::Exec) {
            None => may_write(&self.host, id, &args),
            Some(transaction) => {
                let queue = &mut transaction.queue.iter();
                queue.any(|queued| may_write(&self.host, queued.id, &queued.request))
            }
        }
    }

    /// Whether a command with these flags may lack memory. Without a memory limit, one that only
    /// writes never does.
    #[inline]
    fn may_lack_memory(&self, flags: Flags) -> bool {
        flags.meets(KEEPS) || self.keyspace.settings().maxmemory() != 0
    }

    /// Makes room for a command: for the data it writes and for the state its client will hold. A
    /// separate function, so that commands that only read do not pay for it.
    #[inline(never)]
    fn find_memory(
        &mut self,
        flags: Flags,
        args: Args<'_>,
        context: &mut Context<'_>,
    ) -> Result<(), Fault> {
        if flags.has(Flags::DENYOOM)
            && !self.has_room(context)
            && !self.has_room_of_clients(context)
        {
            return Err(Fault::OUT_OF_MEMORY);
        }
        if flags.has(Flags::RUNS_SCRIPT) {
            self.worker.lacks_memory = !self.has_room(context);
        }
        if flags.meets(KEEPS) {
            return self.admit_names(args);
        }
        Ok(())
    }

    /// Refuses a command that needs what a script that takes too long has locked.
    #[cold]
    fn check_busy(&self, id: CommandId, args: Args<'_>) -> Result<(), Fault> {
        let runs_many = id == CommandId::Exec || id.spec().flags.has(Flags::RUNS_SCRIPT);
        let scope = if runs_many { Scope::ALL } else { self.scope(id, args) };
        match self.host.scripts().holder(scope) {
            Some(kind) => Err(kind.busy()),
            None => Ok(()),
        }
    }

    /// Whether a client may hold the names and keys of a command.
    #[cold]
    fn admit_names(&mut self, args: Args<'_>) -> Result<(), Fault> {
        self.admit_memory(estimate(args))
    }

    /// Whether a client may hold this many bytes more.
    #[cold]
    fn admit_memory(&mut self, more: u64) -> Result<(), Fault> {
        self.count_memory();
        self.host.client_memory().admit(more, self.keyspace.used_bytes(), self.host.settings())
    }

    /// Whether there is room for a write, after closing clients that hold more than their share.
    #[cold]
    fn has_room_of_clients(&mut self, context: &mut Context<'_>) -> bool {
        let used = self.keyspace.used_bytes();
        let me = Some(context.connection);
        self.host.relieve(context.now.ticks, used, me, context.outbox);
        self.has_room(context)
    }

    /// Whether there is room for a write, after evictions.
    #[inline]
    fn has_room(&mut self, context: &mut Context<'_>) -> bool {
        let Engine { keyspace, host, worker, .. } = self;
        if keyspace.settings().maxmemory() == 0 {
            return true;
        }
        let (pending, outbox) = (&mut worker.pending, &mut *context.outbox);
        let mut tell = |gone: Gone<'_>| host.key_events().tell_gone(gone, pending, outbox);
        let timer = host.latency().is_on().then(Timer::start);
        let has_room = keyspace.make_room(context.now.unix_ms, &mut tell);
        if let Some(timer) = timer {
            let second = context.now.unix_seconds();
            host.latency().note_chore(Chore::Evict, timer.nanos(), second);
        }
        has_room
    }

    /// Replies to a refused command, if there is such a command. If it belongs to a transaction, EXEC will execute
    /// nothing.
    #[cold]
    pub(super) fn refuse(
        &mut self,
        conn: &mut Resp,
        id: Option<CommandId>,
        fault: &Fault,
        out: &mut SendBuf,
    ) {
        if let Some(id) = id {
            self.worker.counts.of(id.index()).rejected.add(1);
        }
        if id == Some(CommandId::Exec) {
            return self.refuse_exec(conn, fault, out);
        }
        if let Some(transaction) = &mut conn.transaction {
            transaction.is_spoilt = true;
        }
        self.fail(fault.text(), conn, out);
    }
}

/// Whether a command may change data or tell others of something. A script may, unless it says that it does not.
fn may_write<W: Words + ?Sized>(host: &Host, id: CommandId, args: &W) -> bool {
    id.spec().flags.meets(WRITES) && !writes_nothing(host, id, args)
}

/// Without Lua no script runs at all.
#[cfg(not(feature = "scripts"))]
fn needs_memory<W: Words + ?Sized>(_: &Host, _: CommandId, _: &W) -> bool {
    false
}

/// Without Lua no script runs at all.
#[cfg(not(feature = "scripts"))]
fn writes_nothing<W: Words + ?Sized>(_: &Host, _: CommandId, _: &W) -> bool {
    false
}

/// The command that `args` mean, which may be a sub-command of `id`, after a check of its arity.
#[inline]
fn resolve(id: CommandId, args: Args<'_>) -> Result<CommandId, Fault> {
    let id = table::meant(id, args.get(1))
        .ok_or_else(|| no_such_subcommand(id, args.get(1).unwrap_or_default()))?;
    let spec = id.spec();
    if spec.accepts(args.len()) { Ok(id) } else { Err(Fault::arity(spec.name)) }
}
