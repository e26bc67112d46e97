// SPDX-License-Identifier: Apache-2.0
//! DEBUG: what the tests of clients need. `debug/dataset.rs`: sub-commands on all keys.

mod dataset;

use crate::commands::dispatch;
use crate::engine::call::Call;
use crate::host::protected::{DEBUG, DEBUG_REFUSED};
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Version;
use keyspace::View;
use protocol::Control;
use std::time::Duration;
use values::{Entry, Type};

/// A sub-command. COMMAND does not tell of them, for Redis's does not: so they are rows here, and not of the table
/// of commands.
struct Row<V: View> {
    /// In lower case.
    name: &'static str,
    /// How many arguments there are with DEBUG and the name; `None` is any number.
    arity: Option<usize>,
    /// What HELP shows behind the name.
    syntax: &'static str,
    /// The lines that HELP shows below; without any it leaves the sub-command out.
    help: &'static [&'static str],
    run: fn(&mut Call<'_, V>) -> Done,
}

/// The sub-commands, in the order of HELP.
fn rows<V: View>() -> [Row<V>; 17] {
    let row = |name, arity, syntax, help, run| Row { name, arity: Some(arity), syntax, help, run };
    let any = |name, syntax, help, run| Row { name, arity: None, syntax, help, run };
    [
        row(
            "change-repl-id",
            2,
            "",
            &["Is accepted and has no effect: nothing is replicated."],
            accepted,
        ),
        row("dict-resizing", 3, " <0|1>", &["Is accepted and has no effect."], accepted),
        row("digest", 2, "", &["Shows a digest of all keys and values."], dataset::of_all),
        any(
            "digest-value",
            " <key> [<key> ...]",
            &["Shows a digest of the value under each key."],
            dataset::of_values,
        ),
        row("error", 3, " <string>", &["Answers with an error: the string."], error),
        row("log", 3, " <message>", &["Writes a line to the log."], log),
        row("object", 3, " <key>", &["Tells how a value is kept."], object),
        any(
            "populate",
            " <count> [<prefix>] [<size>]",
            &["Makes strings under the keys <prefix>:<number>, unless there are such keys."],
            dataset::populate,
        ),
        row(
            "protocol",
            3,
            " <type>",
            &[
                "Answers with a value of a type: string, integer, double, bignum, null, array, set, map,",
                "attrib, push, verbatim, true, false.",
            ],
            protocol,
        ),
        row(
            "quicklist-packed-threshold",
            3,
            " <size>",
            &["Is accepted and has no effect."],
            packed_threshold,
        ),
        any(
            "reload",
            "",
            &["Writes all values as DUMP does, and reads them again."],
            dataset::reload,
        ),
        any("replybuffer", " <option> <value>", &["Is accepted and has no effect."], accepted),
        row(
            "set-active-expire",
            3,
            " <0|1>",
            &["Whether expired keys are removed before anybody asks for them."],
            set_active_expiry,
        ),
        row(
            "sleep",
            3,
            " <seconds>",
            &["Answers after some time. The client waits, and nobody else."],
            sleep,
        ),
        row("help", 2, "", &["Lists the sub-commands."], help),
        Row { name: "listpack", arity: Some(3), syntax: "", help: &[], run: listpack },
        Row { name: "loadaof", arity: None, syntax: "", help: &[], run: from_disk },
    ]
}

/// Does what a sub-command says, if the configuration allows it.
pub(crate) fn debug<V: View>(call: &mut Call<'_, V>) -> Done {
    if !call.may(DEBUG) {
        return Err(DEBUG_REFUSED);
    }
    let (word, count) = (call.arg(1), call.args.len());
    let fits = |row: &Row<V>| {
        row.name.as_bytes().eq_ignore_ascii_case(word)
            && row.arity.is_none_or(|arity| arity == count)
    };
    match rows().into_iter().find(fits) {
        Some(row) => (row.run)(call),
        None => Err(dispatch::wrong_arguments(call)),
    }
}

fn help<V: View>(call: &mut Call<'_, V>) -> Done {
    let rows = rows::<V>();
    let shown = || rows.iter().filter(|row| !row.help.is_empty());
    call.out.array(1 + shown().map(|row| 1 + row.help.len()).sum::<usize>());
    call.out.simple("DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
    for row in shown() {
        call.out.simple(&format!("{}{}", row.name.to_ascii_uppercase(), row.syntax));
        for line in row.help {
            call.out.simple(&format!("    {line}"));
        }
    }
    Ok(())
}

/// An answer, not a failure: it is not counted as one.
fn error<V: View>(call: &mut Call<'_, V>) -> Done {
    call.out.error(call.args.arg(2));
    Ok(())
}

fn from_disk<V: View>(_: &mut Call<'_, V>) -> Done {
    Err(Fault::new("ERR this server keeps nothing on disk"))
}

/// What is asked is how the server works inside, which is not so here.
fn accepted<V: View>(call: &mut Call<'_, V>) -> Done {
    call.out.ok();
    Ok(())
}

fn listpack<V: View>(_: &mut Call<'_, V>) -> Done {
    Err(Fault::new("ERR there are no listpacks here: DEBUG OBJECT tells how a value is kept"))
}

fn log<V: View>(call: &mut Call<'_, V>) -> Done {
    log::warn!("DEBUG LOG: {}", call.arg(2).escape_ascii());
    call.out.ok();
    Ok(())
}

fn set_active_expiry<V: View>(call: &mut Call<'_, V>) -> Done {
    let is_on = values::parse_i64(call.arg(2)).unwrap_or(0) != 0;
    call.settings().set_active_expiry(is_on);
    call.out.ok();
    Ok(())
}

/// Elements of lists are kept alone from a fixed size on.
fn packed_threshold<V: View>(call: &mut Call<'_, V>) -> Done {
    if !call.arg(2).first().is_some_and(u8::is_ascii_digit) {
        let text = "ERR argument must be a memory value bigger than 1 and smaller than 4gb";
        return Err(Fault::new(text));
    }
    call.out.ok();
    Ok(())
}

/// Lets the client wait. Its worker serves the others meanwhile, and no key is locked; so only
/// the client itself can tell the server from one that sleeps. To the slow log and to LATENCY it is a
/// command that takes so long, which is what most who call it want to see.
///
/// In a transaction, which nobody may interrupt, the worker sleeps as Redis does, with the keys of the transaction
/// locked.
fn sleep<V: View>(call: &mut Call<'_, V>) -> Done {
    let text = str::from_utf8(call.arg(2)).unwrap_or_default();
    // As `strtod`: what is no number is none.
    let seconds = text.trim().parse::<f64>().unwrap_or(0.0);
    let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    if time.is_zero() {
        call.out.ok();
        return Ok(());
    }
    if call.in_transaction {
        std::thread::sleep(time);
        call.out.ok();
        return Ok(());
    }
    call.worker.sleep(call.id, call.ticket, call.now.after(time));
    call.worker.slept_nanos = time.as_nanos() as u64;
    call.control = Control::Block;
    Ok(())
}

/// One line about a value. There are no addresses or counts of references to tell.
fn object<V: View>(call: &mut Call<'_, V>) -> Done {
    let entry = call.keys.peek(call.arg(2)).ok_or(Fault::NO_SUCH_KEY)?;
    let idle_ms = call.keys.view.idle_ms(entry).unwrap_or(0);
    let line = format!(
        "Value at:0x0 refcount:1 encoding:{} serializedlength:{} lru:{} lru_seconds_idle:{}",
        entry.encoding().name(),
        serialized_len(entry),
        entry.access(),
        idle_ms / 1000
    );
    call.out.simple(&line);
    Ok(())
}

/// What a value would take in a file of Redis that is not compressed. A collection is not written down
/// for that: it is the memory that it takes.
fn serialized_len(entry: &Entry) -> usize {
    if entry.data_type() != Type::String {
        return entry.heap_bytes() - entry.key().len();
    }
    let Some(number) = entry.as_integer() else {
        let prefix = match entry.len() {
            0..64 => 1,
            64..16_384 => 2,
            _ => 5,
        };
        return prefix + entry.len();
    };
    let is_within = |bits: u32| (-(1 << (bits - 1))..1 << (bits - 1)).contains(&number);
    match () {
        () if is_within(8) => 2,
        () if is_within(16) => 3,
        () if is_within(32) => 5,
        () => 1 + entry.len(),
    }
}

/// A value of each type of reply, the same as those of Redis.
fn protocol<V: View>(call: &mut Call<'_, V>) -> Done {
    let out = &mut call.out;
    match call.args.arg(2).to_ascii_lowercase().as_slice() {
        b"string" => out.bulk(b"Hello World"),
        b"integer" => out.integer(12_345),
        #[expect(clippy::approx_constant, reason = "what Redis answers")]
        b"double" => out.double(3.141),
        b"bignum" => out.big_number("1234567999999999999999999999999999999"),
        b"null" => out.null(),
        b"array" => {
            out.array(3);
            (0..3).for_each(|number| out.integer(number));
        }
        b"set" => {
            out.set(3);
            (0..3).for_each(|number| out.integer(number));
        }
        b"map" => {
            out.map(3);
            for number in 0..3 {
                out.integer(number);
                out.boolean(number == 1);
            }
        }
        b"attrib" => {
            if out.attribute(1) {
                out.bulk(b"key-popularity");
                out.array(2);
                out.bulk(b"key:123");
                out.integer(90);
            }
            out.bulk(b"Some real reply following the attribute");
        }
        b"push" => {
            if out.version() == Version::Resp2 {
                return Err(Fault::new("ERR RESP2 is not supported by this command"));
            }
            out.push(2);
            out.bulk(b"server-cpu-usage");
            out.integer(42);
            out.bulk(b"Some real reply following the push reply");
        }
        b"verbatim" => out.verbatim(b"txt", b"This is a verbatim\nstring"),
        b"true" => out.boolean(true),
        b"false" => out.boolean(false),
        _ => {
            return Err(Fault::new(
                "ERR Wrong protocol type name. Please use one of the following: \
                 string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_takes_as_much_as_in_a_file_of_redis() {
        let long = "x".repeat(20_000);
        let told = [
            ("", 1),
            ("bar", 4),
            ("127", 2),
            ("-128", 2),
            ("128", 3),
            ("-32768", 3),
            ("32768", 5),
            ("-2147483648", 5),
            ("2147483648", 11),
            ("007", 4),
            (&long[..63], 64),
            (&long[..64], 66),
            (&long, 20_005),
        ];
        for (text, len) in told {
            assert_eq!(serialized_len(&Entry::string(b"key", text.as_bytes())), len, "{text}");
        }
    }
}
