// SPDX-License-Identifier: Apache-2.0
//! XNACK: items that a consumer cannot handle are given back to its group.

use super::{ids, no_key_or_group, stream_mut};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use values::{Deliveries, StreamId, Type};

/// What a client says of the items that it gives back.
struct Request {
    ids: Vec<StreamId>,
    deliveries: Deliveries,
    force: bool,
}

impl Request {
    /// Reads `mode IDS number id… [RETRYCOUNT count] [FORCE]`, the options also before the ids.
    fn parse(args: Args<'_>) -> Result<Self, Fault> {
        let is = |word: &[u8], name: &[u8]| word.eq_ignore_ascii_case(name);
        let mut deliveries = match args.arg(0) {
            mode if is(mode, b"silent") => Deliveries::Undo,
            mode if is(mode, b"fail") => Deliveries::Keep,
            mode if is(mode, b"fatal") => Deliveries::Set(i64::MAX as u64),
            _ => return Err(Fault::new("ERR mode must be SILENT, FAIL, or FATAL")),
        };
        let (mut force, mut texts) = (false, None);
        let mut rest = args.tail(1);
        while let Some(word) = rest.get(0) {
            let taken = match rest.get(1) {
                Some(number) if is(word, b"ids") && texts.is_none() => {
                    let given = count(number, rest.len().saturating_sub(2))?;
                    texts = Some(rest.tail(2).head(given));
                    given.saturating_add(2)
                }
                Some(_) if is(word, b"retrycount") => {
                    let negative = Fault::new("ERR Invalid RETRYCOUNT value, must be >= 0");
                    let number = u64::try_from(rest.integer(1)?).map_err(|_| negative)?;
                    deliveries = Deliveries::Set(number);
                    2
                }
                _ if is(word, b"force") => {
                    force = true;
                    1
                }
                _ => {
                    let parts: [&[u8]; 3] = [b"ERR Unrecognized XNACK option '", word, b"'"];
                    return Err(Fault::made(parts.concat()));
                }
            };
            rest = rest.tail(taken);
        }
        let texts = texts.ok_or(Fault::new("ERR syntax error, expected IDS keyword"))?;
        let ids = texts.iter().map(ids::exact).collect::<Result<_, _>>()?;
        Ok(Request { ids, deliveries, force })
    }
}

/// How many ids a client says that there are, of at most `most`.
fn count(text: &[u8], most: usize) -> Result<usize, Fault> {
    let number = values::parse_i64(text).filter(|number| *number > 0);
    let number = number.ok_or(Fault::new("ERR numids must be a positive integer"))?;
    let number = usize::try_from(number).ok().filter(|number| *number <= most);
    number.ok_or(Fault::new("ERR number of IDs doesn't match numids"))
}

/// Gives items back, so that any consumer may claim them.
pub(crate) fn xnack<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, name) = (call.arg(1), call.arg(2));
    let missing = || no_key_or_group(key, name, b"");
    let limits = call.keys.limits;
    let request = Request::parse(call.args.tail(3));
    let mut entry = call.keys.get_mut(key, Type::Stream)?.ok_or_else(missing)?;
    let mut stream = stream_mut(&mut entry, limits)?;
    let mut group = stream.group_mut(name).ok_or_else(missing)?;
    let Request { ids, deliveries, force } = request?;
    let given_back = ids.iter().filter(|id| group.give_back(**id, deliveries, force)).count();
    drop(group);
    drop(entry);
    call.out.count(given_back);
    call.worker.changes = call.worker.changes.saturating_add(given_back as u64);
    if given_back > 0 {
        // Consumers that wait may claim them.
        call.wake(key);
    }
    Ok(())
}
