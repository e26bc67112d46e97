// SPDX-License-Identifier: Apache-2.0
//! Libraries of functions, and their calls. `header.rs` reads the first line of a library, `serial.rs` has FUNCTION
//! DUMP and RESTORE. `engine/script.rs` runs functions.

mod header;
mod serial;

pub(crate) use serial::{dump, restore};

use super::scripts::{self, texts};
use crate::commands::run::All;
use crate::engine::any_call::AnyCall;
use crate::engine::call::Call;
use crate::engine::script::{Script, call_function, find_function, forget, load_library};
use crate::host::functions::{Functions, Library, LibraryFunction, NotLinked};
use crate::host::scripts::Kind;
use crate::wire::fault::{Done, Fault};
use crate::wire::glob;
use crate::wire::parse::Args;
use keyspace::View;
use script::FunctionFlags;
use std::sync::Arc;
use values::parse_i64;

/// The engine, the only one.
const ENGINE: &str = "LUA";

/// Calls a function.
pub(crate) fn fcall<V: View>(call: &mut Call<'_, V>) -> Done {
    run(call, false)
}

/// Calls a function that only reads.
pub(crate) fn fcall_ro<V: View>(call: &mut Call<'_, V>) -> Done {
    run(call, true)
}

fn run<V: View>(call: &mut Call<'_, V>, is_readonly: bool) -> Done {
    let known = find_function(call.functions(), call.arg(1));
    let known = known.ok_or(Fault::new("ERR Function not found"))?;
    let function = known.function();
    let count = parse_i64(call.arg(2)).ok_or(Fault::new("ERR Bad number of keys provided"))?;
    let rest = call.args.tail(3);
    if count > rest.len() as i64 {
        return Err(Fault::new("ERR Number of keys can't be greater than number of args"));
    }
    let count =
        usize::try_from(count).map_err(|_| Fault::new("ERR Number of keys can't be negative"))?;
    admit(call, function.flags, is_readonly)?;
    let script = Script {
        name: &function.name,
        probation: &function.probation,
        command: Some(call.args),
        keys: texts(rest.head(count)),
        args: texts(rest.tail(count)),
        is_readonly: is_readonly || function.flags.has(FunctionFlags::NO_WRITES),
        allows_oom: function.flags.has(FunctionFlags::ALLOW_OOM),
        crosses_slots: function.flags.has(FunctionFlags::ALLOW_CROSS_SLOT_KEYS),
    };
    call_function::<All, V>(call, &known, &script)
}

/// Whether a function with these flags may run now.
fn admit<V: View>(call: &Call<'_, V>, flags: FunctionFlags, is_readonly: bool) -> Done {
    if flags.has(FunctionFlags::NO_CLUSTER) && call.is_in_cluster() {
        return Err(super::scripts::IN_CLUSTER);
    }
    let has = |flag| flags.has(flag);
    let (no_writes, allow_oom) = (has(FunctionFlags::NO_WRITES), has(FunctionFlags::ALLOW_OOM));
    super::scripts::admit_writes(call, no_writes, allow_oom, is_readonly)
}

/// Loads a library.
pub(crate) fn load<V: View>(call: &mut Call<'_, V>) -> Done {
    let (options, text) = (call.args.head(call.args.len() - 1), call.arg(call.args.len() - 1));
    let replaces = options.tail(2).iter().try_fold(false, |_, option| {
        let is_replace = option.eq_ignore_ascii_case(b"replace");
        let unknown = || Fault::made([b"ERR Unknown option given: ", option].concat());
        is_replace.then_some(true).ok_or_else(unknown)
    })?;
    let taken = |name: &[u8]| Fault::made([b"ERR Library '", name, b"' already exists"].concat());
    let may_take = |name: &[u8]| match call.functions().has(name) && !replaces {
        true => Err(taken(name)),
        false => Ok(()),
    };
    let header = header::read(text)?;
    may_take(&header.name)?;
    let library = made(call, text, &header)?;
    let linked = call.functions().change(|all| match replaces {
        true => all.replace(&library),
        false => all.link(&library),
    });
    if let Err(why) = linked {
        forget(call, library.id);
        return Err(match why {
            NotLinked::Library(name) => taken(&name),
            other => refused(&other),
        });
    }
    call.out.bulk(&library.name);
    Ok(())
}

/// Loads a library into the VM of this thread.
fn made<V: View>(
    call: &mut Call<'_, V>,
    text: &[u8],
    header: &header::Header,
) -> Result<Arc<Library>, Fault> {
    let id = Functions::next_id();
    let registered = load_library(call, id, &text[header.code_at..])?;
    if registered.is_empty() {
        forget(call, id);
        return Err(Fault::new("ERR No functions registered"));
    }
    Ok(Arc::new(Library::new(id, &header.name, text, header.code_at, registered)))
}

/// The error for a library that does not fit the others.
fn refused(why: &NotLinked) -> Fault {
    let (what, name) = match why {
        NotLinked::Library(name) => ("Library", name),
        NotLinked::Function(name) => ("Function", name),
        NotLinked::Full => {
            return Fault::new("ERR The libraries take too much memory, use FUNCTION DELETE");
        }
    };
    Fault::made([b"ERR ", what.as_bytes(), b" ", name, b" already exists"].concat())
}

/// Deletes a library.
pub(crate) fn delete<V: View>(call: &mut Call<'_, V>) -> Done {
    let name = call.arg(2);
    let deleted = call.functions().change(|all| all.unlink(name));
    deleted.ok_or(Fault::new("ERR Library not found"))?;
    call.out.ok();
    Ok(())
}

/// Deletes all libraries.
pub(crate) fn flush<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.args.len() > 3 {
        return Err(super::dispatch::wrong_arguments(call));
    }
    let is_known =
        |word: &[u8]| [&b"sync"[..], b"async"].iter().any(|mode| word.eq_ignore_ascii_case(mode));
    if !call.args.tail(2).iter().all(is_known) {
        return Err(Fault::new("ERR FUNCTION FLUSH only supports SYNC|ASYNC option"));
    }
    call.functions().change(|all| *all = all.without_all());
    call.out.ok();
    Ok(())
}

/// The options of FUNCTION LIST: a pattern of names, and whether texts are shown.
fn list_options<'a>(words: Args<'a>) -> Result<(Option<&'a [u8]>, bool), Fault> {
    let (mut pattern, mut with_code) = (None, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !with_code && word.eq_ignore_ascii_case(b"withcode") {
            with_code = true;
        } else if pattern.is_none() && word.eq_ignore_ascii_case(b"libraryname") {
            let given = words.next();
            pattern = Some(given.ok_or(Fault::new("ERR library name argument was not given"))?);
        } else {
            return Err(Fault::made([b"ERR Unknown argument ", word].concat()));
        }
    }
    Ok((pattern, with_code))
}

/// Lists libraries.
pub(crate) fn list<V: View>(call: &mut Call<'_, V>) -> Done {
    let (pattern, with_code) = list_options(call.args.tail(2))?;
    let is_meant = |library: &&Arc<Library>| {
        pattern.is_none_or(|pattern| glob::matches_with(pattern, &library.name, true))
    };
    let libraries: Vec<_> =
        call.functions().read(|all| all.iter().filter(is_meant).cloned().collect());
    call.out.array(libraries.len());
    for library in libraries {
        let out = &mut call.out;
        out.map(if with_code { 4 } else { 3 });
        out.bulk(b"library_name");
        out.bulk(&library.name);
        out.bulk(b"engine");
        out.bulk(ENGINE.as_bytes());
        out.bulk(b"functions");
        out.array(library.functions.len());
        library.functions.iter().for_each(|function| show(call, function));
        if with_code {
            call.out.bulk(b"library_code");
            call.out.bulk(&library.text);
        }
    }
    Ok(())
}

fn show<V: View>(call: &mut Call<'_, V>, function: &LibraryFunction) {
    let out = &mut call.out;
    out.map(3);
    out.bulk(b"name");
    out.bulk(&function.name);
    out.bulk(b"description");
    out.bulk_or_null(function.description.as_deref());
    out.bulk(b"flags");
    let flags = function.flags.names();
    out.set(flags.clone().count());
    flags.for_each(|flag| out.simple(flag));
}

/// Tells which function runs, and how many there are.
pub(crate) fn stats<V: View>(call: &mut Call<'_, V>) -> Done {
    let counts = call.functions().counts();
    let running = call.scripts().running_function();
    let out = &mut call.out;
    out.map(2);
    out.bulk(b"running_script");
    match running {
        None => out.null(),
        Some(running) => {
            out.map(3);
            out.bulk(b"name");
            out.bulk(&running.name);
            out.bulk(b"command");
            out.array(running.command.len());
            running.command.iter().for_each(|word| out.bulk(word));
            out.bulk(b"duration_ms");
            out.integer((running.timer.nanos() / 1_000_000) as i64);
        }
    }
    out.bulk(b"engines");
    out.map(1);
    out.bulk(ENGINE.as_bytes());
    out.map(2);
    out.bulk(b"libraries_count");
    out.count(counts.libraries);
    out.bulk(b"functions_count");
    out.count(counts.functions);
    Ok(())
}

/// Ends the functions that take long and have written nothing.
pub(crate) fn kill<V: View>(call: &mut Call<'_, V>) -> Done {
    scripts::end_long(call, Kind::Function)
}
