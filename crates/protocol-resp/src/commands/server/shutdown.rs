// SPDX-License-Identifier: Apache-2.0
//! SHUTDOWN, and what little else there is to say about the process: TIME, LOLWUT.

use crate::engine::any_call::AnyCall;
use crate::engine::call::Call;
use crate::host::version::{REDIS_VERSION, SHOEBILL_VERSION};
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use protocol::Control;

/// The options of SHUTDOWN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Options {
    save: bool,
    nosave: bool,
    now: bool,
    force: bool,
    abort: bool,
}

impl Options {
    fn parse<'a>(words: impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        let mut options = Options::default();
        for word in words {
            let option = match word.to_ascii_lowercase().as_slice() {
                b"save" => &mut options.save,
                b"nosave" => &mut options.nosave,
                b"now" => &mut options.now,
                b"force" => &mut options.force,
                b"abort" => &mut options.abort,
                _ => return None,
            };
            *option = true;
        }
        let Options { save, nosave, now, force, abort } = options;
        let is_right = !(save && nosave) && !(abort && (save || nosave || now || force));
        is_right.then_some(options)
    }
}

/// Stops the server. The client is not answered: its connection ends.
pub(crate) fn shutdown<V: View>(call: &mut Call<'_, V>) -> Done {
    let options = Options::parse(call.args.tail(1).iter()).ok_or(Fault::SYNTAX)?;
    if options.abort {
        return Err(Fault::new("ERR No shutdown in progress."));
    }
    // Nothing can be saved. A client that insists on saving gets an error, unless it forces the
    // shutdown.
    if options.save && !options.force {
        return Err(Fault::new("ERR Errors trying to SHUTDOWN. Check logs."));
    }
    let Some(platform) = call.platform() else {
        return Err(Fault::new("ERR Errors trying to SHUTDOWN. Check logs."));
    };
    platform.stop();
    call.control = Control::Close;
    Ok(())
}

/// Tells the time: seconds since 1970, and microseconds. It is read anew, not once a turn, because limiters of rates
/// use two answers as two moments; but a script or a transaction is one moment.
pub(crate) fn time<'c>(call: &mut impl AnyCall<'c>) -> Done {
    let micros = call.unix_micros();
    call.out().array(2);
    call.out().bulk((micros / 1_000_000).to_string().as_bytes());
    call.out().bulk((micros % 1_000_000).to_string().as_bytes());
    Ok(())
}

/// A bird with a shoe for a bill.
const BIRD: &str = r"
        ___
      .'   `.
     /  o    \________
    |    .------------'
     \  (____________/
      `.        |
        \       |
";

/// Shows a bird and the version.
pub(crate) fn lolwut<V: View>(call: &mut Call<'_, V>) -> Done {
    if let (Some(word), Some(version)) = (call.args.get(1), call.args.get(2))
        && word.eq_ignore_ascii_case(b"version")
    {
        values::parse_i64(version).ok_or(Fault::NOT_INTEGER)?;
    }
    let text = format!("{BIRD}\nShoebill {}, Redis ver. {}\n", SHOEBILL_VERSION, REDIS_VERSION);
    call.out.verbatim(b"txt", text.as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_exclude_each_other_are_refused() {
        let parse = |line: &str| Options::parse(line.split_whitespace().map(str::as_bytes));
        assert!(parse("").is_some() && parse("NOSAVE now FORCE").is_some());
        assert!(parse("save nosave").is_none() && parse("abort now").is_none());
        assert!(parse("x").is_none());
        assert!(parse("ABORT").is_some_and(|options| options.abort));
    }
}
