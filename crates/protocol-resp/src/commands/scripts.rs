// SPDX-License-Identifier: Apache-2.0
//! EVAL and its relatives, and SCRIPT. `engine/script.rs` runs scripts.

use crate::engine::call::Call;
#[cfg(feature = "scripts")]
use crate::engine::script::shebang;
#[cfg(feature = "scripts")]
use crate::host::scripts::CachedScript;
use crate::host::scripts::{Kind, NotKilled, Sha};
use crate::wire::fault::{Done, Fault};
#[cfg(feature = "scripts")]
use crate::wire::parse::Args;
use keyspace::View;
#[cfg(feature = "scripts")]
use std::sync::Arc;

/// The error if all that is in the cache stays there, and there is no room.
#[cfg(feature = "scripts")]
const FULL: Fault = Fault::new("ERR The cache of scripts is full, use SCRIPT FLUSH");

/// The error of a server that was built without Lua.
#[cfg(not(feature = "scripts"))]
pub(super) const NO_SCRIPTS: Fault = Fault::new("ERR This server was built without scripts");

/// Runs a script.
pub(crate) fn eval<V: View>(call: &mut Call<'_, V>) -> Done {
    run(call, Given::Text, false)
}

/// Runs a script that is in the cache.
pub(crate) fn evalsha<V: View>(call: &mut Call<'_, V>) -> Done {
    run(call, Given::Sha, false)
}

/// Runs a script that only reads.
pub(crate) fn eval_ro<V: View>(call: &mut Call<'_, V>) -> Done {
    run(call, Given::Text, true)
}

/// Runs a script that only reads and is in the cache.
pub(crate) fn evalsha_ro<V: View>(call: &mut Call<'_, V>) -> Done {
    run(call, Given::Sha, true)
}

/// What names the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    Text,
    Sha,
}

#[cfg(not(feature = "scripts"))]
fn run<V: View>(_: &mut Call<'_, V>, _: Given, _: bool) -> Done {
    Err(NO_SCRIPTS)
}

/// A digest that may be written in capitals.
fn sha_of(text: &[u8]) -> Option<Sha> {
    let sha: Sha = text.try_into().ok()?;
    Some(sha.map(|digit| digit.to_ascii_lowercase()))
}

#[cfg(feature = "scripts")]
pub(super) fn texts(args: Args<'_>) -> script::Texts<'_> {
    let (bytes, spans) = args.parts();
    script::Texts::new(bytes, spans)
}

/// The reply for a script or function with the flag `no-cluster`.
#[cfg(feature = "scripts")]
pub(super) const IN_CLUSTER: Fault =
    Fault::new("ERR Can not run script on cluster, 'no-cluster' flag is set.");

/// Whether what has these flags may run now, or as one of the commands that only read.
#[cfg(feature = "scripts")]
pub(super) fn admit_writes<V: View>(
    call: &Call<'_, V>,
    no_writes: bool,
    allow_oom: bool,
    is_readonly: bool,
) -> Done {
    if no_writes {
        return Ok(());
    }
    if call.worker.lacks_memory && call.has_memory_limit() && !allow_oom {
        return Err(Fault::OUT_OF_MEMORY);
    }
    if is_readonly {
        return Err(Fault::new("ERR Can not execute a script with write flag using *_ro command."));
    }
    Ok(())
}

#[cfg(feature = "scripts")]
fn run<V: View>(call: &mut Call<'_, V>, given: Given, is_readonly: bool) -> Done {
    use crate::commands::run::All;
    use crate::engine::any_call::AnyCall as _;
    use crate::engine::script::{Script, ScriptName, keep, recall, run};
    const NO_SCRIPT: Fault = Fault::new("NOSCRIPT No matching script. Please use EVAL.");

    let text = call.arg(1);
    let sha = match given {
        Given::Text => None,
        Given::Sha => Some(sha_of(text).ok_or(NO_SCRIPT)?),
    };
    let count = call.integer(2)?;
    let rest = call.args.tail(3);
    if count > rest.len() as i64 {
        return Err(Fault::new("ERR Number of keys can't be greater than number of args"));
    }
    let count =
        usize::try_from(count).map_err(|_| Fault::new("ERR Number of keys can't be negative"))?;
    let name = sha.as_ref().map_or(ScriptName::Text(text), ScriptName::Sha);
    let known = match recall(call.scripts(), name) {
        Some(known) => known,
        None => {
            let sha = sha.unwrap_or_else(|| script::sha1::hex(text));
            let source = match (call.scripts().find(&sha), given) {
                (Some(source), _) => source,
                (None, Given::Sha) => return Err(NO_SCRIPT),
                (None, Given::Text) => add(call, &sha, text)?,
            };
            keep(name, sha, source)
        }
    };
    let shebang = shebang::read(&known.source.text)?;
    if let Some(flags) = shebang.flags {
        if flags.no_cluster && call.is_in_cluster() {
            return Err(IN_CLUSTER);
        }
        admit_writes(call, flags.no_writes, flags.allow_oom, is_readonly)?;
    }
    let flags = shebang.flags.unwrap_or_default();
    let script = Script {
        name: &known.sha,
        probation: &known.source.probation,
        command: None,
        keys: texts(rest.head(count)),
        args: texts(rest.tail(count)),
        is_readonly: is_readonly || flags.no_writes,
        allows_oom: flags.allow_oom,
        // As Redis takes those of before there were flags.
        crosses_slots: shebang.flags.is_none() || flags.crosses_slots,
    };
    run::<All, V>(call, &known, shebang.code, &script)
}

/// Compiles a script that is evaluated for the first time, and puts it into the cache.
#[cfg(feature = "scripts")]
fn add<V: View>(
    call: &mut Call<'_, V>,
    sha: &Sha,
    text: &[u8],
) -> Result<Arc<CachedScript>, Fault> {
    let script = shebang::read(text)?;
    crate::engine::script::compile(call, sha, script.code)?;
    call.scripts().add(sha, text, false).ok_or(FULL)
}

/// Puts a script into the cache, where it stays.
#[cfg(feature = "scripts")]
pub(crate) fn load<V: View>(call: &mut Call<'_, V>) -> Done {
    let text = call.arg(2);
    let sha = script::sha1::hex(text);
    let code = shebang::read(text)?.code;
    crate::engine::script::compile(call, &sha, code)?;
    call.scripts().add(&sha, text, true).ok_or(FULL)?;
    call.out.bulk(&sha);
    Ok(())
}

/// Puts a script into the cache.
#[cfg(not(feature = "scripts"))]
pub(crate) fn load<V: View>(_: &mut Call<'_, V>) -> Done {
    Err(NO_SCRIPTS)
}

/// Tells which scripts are in the cache.
pub(crate) fn exists<V: View>(call: &mut Call<'_, V>) -> Done {
    let shas = call.args.tail(2);
    call.out.array(shas.len());
    for sha in shas.iter() {
        let is_there = sha_of(sha).is_some_and(|sha| call.scripts().find(&sha).is_some());
        call.out.integer(i64::from(is_there));
    }
    Ok(())
}

/// Returns the text of a script.
pub(crate) fn show<V: View>(call: &mut Call<'_, V>) -> Done {
    let source = sha_of(call.arg(2)).and_then(|sha| call.scripts().find(&sha));
    let source = source.ok_or(Fault::new("NOSCRIPT No matching script."))?;
    call.out.bulk(&source.text);
    Ok(())
}

/// Empties the cache.
pub(crate) fn flush<V: View>(call: &mut Call<'_, V>) -> Done {
    let is_known = match call.args.len() {
        2 => true,
        3 => [&b"sync"[..], b"async"].iter().any(|word| call.arg(2).eq_ignore_ascii_case(word)),
        _ => false,
    };
    if !is_known {
        return Err(Fault::new("ERR SCRIPT FLUSH only support SYNC|ASYNC option"));
    }
    call.scripts().flush();
    call.out.ok();
    Ok(())
}

/// Ends the scripts that take long and have written nothing.
pub(crate) fn kill<V: View>(call: &mut Call<'_, V>) -> Done {
    end_long(call, Kind::Script)
}

/// Ends what takes long and has written nothing.
pub(super) fn end_long<V: View>(call: &mut Call<'_, V>, kind: Kind) -> Done {
    call.scripts().kill(kind).map_err(|why| match why {
        NotKilled::None => Fault::new("NOTBUSY No scripts in execution right now."),
        NotKilled::Other if kind == Kind::Script => Fault::BUSY_FUNCTION,
        NotKilled::Other => Fault::BUSY,
        NotKilled::Written => Fault::new(
            "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait \
             the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.",
        ),
    })?;
    call.out.ok();
    Ok(())
}

/// There is no debugger.
pub(crate) fn debug<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.arg(2).eq_ignore_ascii_case(b"no") {
        call.out.ok();
        return Ok(());
    }
    let is_mode = [&b"yes"[..], b"sync"].iter().any(|mode| call.arg(2).eq_ignore_ascii_case(mode));
    Err(Fault::new(if is_mode {
        "ERR Scripts cannot be debugged on this server"
    } else {
        "ERR Use SCRIPT DEBUG YES/SYNC/NO"
    }))
}
