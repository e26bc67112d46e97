// SPDX-License-Identifier: Apache-2.0
//! XADD and XTRIM.

use super::ids::{self, Wanted};
use super::trim::Options;
use super::{event, stream_mut};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use values::{NewStream, StreamId, StreamMut, Type};

/// The most bytes of the fields and values of an item.
const ITEM_MAX: usize = 1 << 30;

/// An item to be added.
struct Addition<'c> {
    options: Options<'c>,
    wanted: Wanted,
    pairs: Args<'c>,
    now: u64,
}

impl Addition<'_> {
    /// Adds the item, unless it is a message that came again.
    fn apply(&self, stream: &mut StreamMut<'_>) -> Result<Added, Fault> {
        let message = self.options.message.as_ref().map(|message| message.of(self.pairs));
        if let Some((producer, name)) = &message
            && let Some(id) = stream.find_again(producer, name, self.now)
        {
            return Ok(Added { id, is_new: false, trimmed: 0 });
        }
        let last = stream.read().last_id();
        if last == StreamId::MAX {
            return Err(Fault::new(
                "ERR The stream has exhausted the last possible ID, unable to add more items",
            ));
        }
        let small =
            "ERR The ID specified in XADD is equal or smaller than the target stream top item";
        let id = self.wanted.resolve(last, self.now).ok_or(Fault::new(small))?;
        stream.append(id, self.pairs.pairs());
        if let Some((producer, name)) = &message {
            stream.remember(producer, name, id, self.now);
        }
        let trimmed = self.options.trim.map_or(0, |trim| stream.trim(&trim));
        Ok(Added { id, is_new: true, trimmed })
    }
}

/// The item of an addition.
struct Added {
    id: StreamId,
    /// It was not there before.
    is_new: bool,
    /// How many others were trimmed.
    trimmed: usize,
}

/// Adds an item to a stream.
pub(crate) fn xadd<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let node_max = call.keys.limits.stream_node_entries;
    let (options, pairs) = Options::parse(call.args.tail(2), true, node_max)?;
    let wanted = options.wanted.ok_or_else(|| Fault::arity(call.spec.name))?;
    if options.message.is_some() && wanted != Wanted::Any {
        return Err(Fault::new("ERR IDMP/IDMPAUTO can be used only with auto-generated IDs"));
    }
    if pairs.is_empty() || !pairs.len().is_multiple_of(2) {
        return Err(Fault::arity(call.spec.name));
    }
    if wanted == Wanted::Exactly(StreamId::MIN) {
        return Err(Fault::new("ERR The ID specified in XADD must be greater than 0-0"));
    }
    if pairs.iter().map(<[u8]>::len).fold(0, usize::saturating_add) > ITEM_MAX {
        return Err(Fault::new("ERR Elements are too large to be stored"));
    }
    let addition = Addition { options, wanted, pairs, now: call.unix_ms() };
    let limits = call.keys.limits;
    let added = if let Some(mut entry) = call.keys.get_mut(key, Type::Stream)? {
        addition.apply(&mut stream_mut(&mut entry, limits)?)?
    } else if addition.options.no_new {
        call.out.null();
        return Ok(());
    } else {
        let mut made = NewStream::new(key);
        let done = addition.apply(&mut made.edit(limits))?;
        call.keys.put(made.into_entry());
        done
    };
    ids::reply(&mut call.out, added.id);
    if !added.is_new {
        return Ok(());
    }
    call.modified(key, event("xadd"));
    if added.trimmed > 0 {
        call.modified(key, event("xtrim"));
    }
    Ok(())
}

/// Removes the oldest items of a stream.
pub(crate) fn xtrim<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let node_max = call.keys.limits.stream_node_entries;
    let (options, rest) = Options::parse(call.args.tail(2), false, node_max)?;
    let trim = options.trim.filter(|_| rest.is_empty()).ok_or(Fault::SYNTAX)?;
    let limits = call.keys.limits;
    let trimmed = match call.keys.get_mut(key, Type::Stream)? {
        Some(mut entry) => stream_mut(&mut entry, limits)?.trim(&trim),
        None => 0,
    };
    call.out.count(trimmed);
    if trimmed > 0 {
        call.modified(key, event("xtrim"));
    }
    Ok(())
}
