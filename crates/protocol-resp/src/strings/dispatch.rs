// SPDX-License-Identifier: Apache-2.0
//! The supported commands of the table, each with its function.

use super::store_call::StoreCall;
use super::{config, info, keys, walk};
use crate::commands::dispatch as containers;
use crate::commands::{connection, generic, server, strings};
use crate::engine::unknown::no_such_subcommand;
use crate::engine::unknown::unknown;
use crate::table::{self, COUNT, Catalogue, CommandId};
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use storage::Scan;

/// Makes [`Op`], [`OPS`] and [`run`] from lines of command and function. The table has all other facts about
/// the commands.
macro_rules! commands {
    ($($op:ident => $module:ident :: $function:ident),+ $(,)?) => {
        /// A command that there is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Op { $($op),+ }

        /// The commands by their index in the table.
        static OPS: [Option<Op>; COUNT] = {
            let mut ops = [None; COUNT];
            $( ops[CommandId::$op.index()] = Some(Op::$op); )+
            ops
        };

        /// Carries out a command.
        #[inline]
        pub(super) fn run<S: Scan + 'static>(op: Op, call: &mut StoreCall<'_, S>) -> Done {
            match op { $( Op::$op => $module::$function(call) ),+ }
        }
    };
}

commands! {
    Get => strings::get,
    Set => strings::set,
    Incr => strings::incr,
    Mget => strings::mget,
    Del => generic::del,
    Exists => generic::exists,
    Expire => generic::expire,
    Ttl => generic::ttl,
    Setex => strings::setex,
    Setnx => strings::setnx,

    Append => strings::append,
    Decr => strings::decr,
    Decrby => strings::decrby,
    Delex => strings::delex,
    Delifeq => strings::delifeq,
    Digest => strings::digest,
    Getdel => strings::getdel,
    Getex => strings::getex,
    Getrange => strings::getrange,
    Getset => strings::getset,
    Incrby => strings::incrby,
    Incrbyfloat => strings::incrbyfloat,
    Increx => strings::increx,
    Mset => strings::mset,
    Msetex => strings::msetex,
    Msetnx => strings::msetnx,
    Psetex => strings::psetex,
    Setrange => strings::setrange,
    Strlen => strings::strlen,
    Substr => strings::getrange,

    Dbsize => keys::dbsize,
    Expireat => generic::expireat,
    Expiretime => generic::expiretime,
    Flushall => keys::flush,
    Flushdb => keys::flush,
    Keys => walk::keys,
    Persist => generic::persist,
    Pexpire => generic::pexpire,
    Pexpireat => generic::pexpireat,
    Pexpiretime => generic::pexpiretime,
    Pttl => generic::pttl,
    Scan => walk::scan,
    Touch => generic::touch,
    Type => generic::type_of,
    Unlink => generic::unlink,

    Auth => connection::auth,
    Client => containers::unknown_subcommand,
    ClientCapa => connection::client_capa,
    ClientGetname => connection::client_getname,
    ClientHelp => containers::help,
    ClientImportSource => connection::client_import_source,
    ClientId => connection::client_id,
    ClientInfo => connection::client_info,
    ClientKill => connection::client_kill,
    ClientList => connection::client_list,
    ClientNoEvict => connection::client_no_evict,
    ClientNoTouch => connection::client_no_touch,
    ClientReply => connection::client_reply,
    ClientSetinfo => connection::client_setinfo,
    ClientSetname => connection::client_setname,
    Echo => connection::echo,
    Hello => connection::hello,
    Ping => connection::ping,
    Quit => connection::quit,
    Reset => connection::reset_session,
    Select => connection::select,

    Command => server::command,
    CommandCount => server::command_count,
    CommandDocs => server::command_docs,
    CommandHelp => containers::help,
    CommandInfo => server::command_info,
    CommandList => server::command_list,
    Config => containers::unknown_subcommand,
    ConfigGet => config::config_get,
    ConfigHelp => containers::help,
    Info => info::info,
    Time => server::time,
}

/// The commands that there are, for `COMMAND` and for tests.
pub const CATALOGUE: Catalogue = Catalogue::of(|id| OPS[id.index()].is_some());

/// The command that `args` mean, which may be a sub-command of `id`; they are as many as it takes.
#[inline]
pub(super) fn resolve(id: Option<CommandId>, args: Args<'_>) -> Result<(Op, CommandId), Fault> {
    let found = id.and_then(|id| OPS[id.index()].map(|op| (op, id)));
    let Some((op, id)) = found else { return Err(unknown(args)) };
    let (op, id) = match args.get(1) {
        Some(name) if id.is_container() => subcommand(id, name)?,
        _ => (op, id),
    };
    let spec = id.spec();
    if spec.accepts(args.len()) { Ok((op, id)) } else { Err(Fault::arity(spec.name)) }
}

fn subcommand(container: CommandId, name: &[u8]) -> Result<(Op, CommandId), Fault> {
    let found = table::find_sub(container, name);
    let found = found.and_then(|id| OPS[id.index()].map(|op| (op, id)));
    found.ok_or_else(|| no_such_subcommand(container, name))
}
