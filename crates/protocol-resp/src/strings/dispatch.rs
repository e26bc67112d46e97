// SPDX-License-Identifier: Apache-2.0
//! The supported commands of the table, each with its function.

use super::store_call::StoreCall;
use super::{connect, keys, server, walk};
use crate::commands::dispatch as containers;
use crate::commands::{connection, generic, server as command, strings};
use crate::engine::unknown::no_such_subcommand;
use crate::engine::unknown::unknown;
use crate::table::{self, COUNT, Catalogue, CommandId};
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use storage::Scan;

/// Makes [`Op`], [`OPS`] and [`run`] from lines of name and function. The names are those of rows of the
/// table, which has all other facts about the commands.
macro_rules! commands {
    ($($op:ident $name:literal => $module:ident :: $function:ident),+ $(,)?) => {
        /// A command that there is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Op { $($op),+ }

        /// The commands by their index in the table.
        static OPS: [Option<Op>; COUNT] = {
            let mut ops = [None; COUNT];
            $( ops[table::number_of($name) as usize] = Some(Op::$op); )+
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
    Get "get" => strings::get,
    Set "set" => strings::set,
    Incr "incr" => strings::incr,
    Mget "mget" => strings::mget,
    Del "del" => generic::del,
    Exists "exists" => generic::exists,
    Expire "expire" => generic::expire,
    Ttl "ttl" => generic::ttl,
    Setex "setex" => strings::setex,
    Setnx "setnx" => strings::setnx,

    Append "append" => strings::append,
    Decr "decr" => strings::decr,
    Decrby "decrby" => strings::decrby,
    Getdel "getdel" => strings::getdel,
    Getex "getex" => strings::getex,
    Getrange "getrange" => strings::getrange,
    Getset "getset" => strings::getset,
    Incrby "incrby" => strings::incrby,
    Incrbyfloat "incrbyfloat" => strings::incrbyfloat,
    Mset "mset" => strings::mset,
    Msetnx "msetnx" => strings::msetnx,
    Psetex "psetex" => strings::psetex,
    Setrange "setrange" => strings::setrange,
    Strlen "strlen" => strings::strlen,
    Substr "substr" => strings::getrange,

    Dbsize "dbsize" => keys::dbsize,
    Expireat "expireat" => generic::expireat,
    Expiretime "expiretime" => generic::expiretime,
    Flushall "flushall" => keys::flush,
    Flushdb "flushdb" => keys::flush,
    Keys "keys" => walk::keys,
    Persist "persist" => generic::persist,
    Pexpire "pexpire" => generic::pexpire,
    Pexpireat "pexpireat" => generic::pexpireat,
    Pexpiretime "pexpiretime" => generic::pexpiretime,
    Pttl "pttl" => generic::pttl,
    Scan "scan" => walk::scan,
    Touch "touch" => generic::touch,
    Type "type" => generic::type_of,
    Unlink "unlink" => generic::unlink,

    Auth "auth" => connection::auth,
    Client "client" => containers::unknown_subcommand,
    ClientGetname "client|getname" => connection::client_getname,
    ClientHelp "client|help" => containers::help,
    ClientId "client|id" => connection::client_id,
    ClientInfo "client|info" => connection::client_info,
    ClientKill "client|kill" => connection::client_kill,
    ClientList "client|list" => connection::client_list,
    ClientNoEvict "client|no-evict" => connection::client_no_evict,
    ClientNoTouch "client|no-touch" => connection::client_no_touch,
    ClientReply "client|reply" => connection::client_reply,
    ClientSetinfo "client|setinfo" => connection::client_setinfo,
    ClientSetname "client|setname" => connection::client_setname,
    Echo "echo" => connection::echo,
    Hello "hello" => connection::hello,
    Ping "ping" => connect::ping,
    Quit "quit" => connection::quit,
    Reset "reset" => connect::reset,
    Select "select" => connect::select,

    Command "command" => command::command,
    CommandCount "command|count" => command::command_count,
    CommandDocs "command|docs" => command::command_docs,
    CommandHelp "command|help" => containers::help,
    CommandInfo "command|info" => command::command_info,
    CommandList "command|list" => command::command_list,
    Config "config" => containers::unknown_subcommand,
    ConfigGet "config|get" => server::config_get,
    ConfigHelp "config|help" => containers::help,
    Info "info" => server::info,
    Time "time" => server::time,
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
