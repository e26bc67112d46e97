// SPDX-License-Identifier: Apache-2.0
//! XGROUP: consumer groups and their consumers.

use super::{event, ids, no_group, stream_mut};
use crate::commands::dispatch::wrong_arguments;
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::{EntryMut, View};
use values::{NewStream, StreamMut, Type};

/// There is no such key, where a group is to be.
const NO_KEY: Fault = Fault::new(
    "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use \
     the MKSTREAM option to create an empty stream automatically.",
);

/// The options of CREATE and SETID.
struct Options {
    /// How many items the group has read.
    read: Option<u64>,
    makes_stream: bool,
}

impl Options {
    fn parse<V: View>(call: &Call<'_, V>, may_make: bool) -> Result<Self, Fault> {
        let mut options = Options { read: None, makes_stream: false };
        let mut rest = call.args.tail(5);
        while let Some(word) = rest.get(0) {
            if may_make && word.eq_ignore_ascii_case(b"mkstream") {
                options.makes_stream = true;
                rest = rest.tail(1);
            } else if word.eq_ignore_ascii_case(b"entriesread") && rest.len() > 1 {
                options.read = Self::read(rest)?;
                rest = rest.tail(2);
            } else {
                return Err(wrong_arguments(call));
            }
        }
        Ok(options)
    }

    fn read(options: Args<'_>) -> Result<Option<u64>, Fault> {
        match options.integer(1)? {
            -1 => Ok(None),
            read => match u64::try_from(read) {
                Ok(read) => Ok(Some(read)),
                Err(_) => Err(Fault::new("ERR value for ENTRIESREAD must be positive or -1")),
            },
        }
    }
}

/// Makes a group.
pub(crate) fn xgroup_create<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, group) = (call.arg(2), call.arg(3));
    let Options { read, makes_stream } = Options::parse(call, true)?;
    let id = call.arg(4);
    let limits = call.keys.limits;
    let add = |stream: &mut StreamMut<'_>| {
        let last = stream.read().last_id();
        let id = if id == b"$" { last } else { ids::exact(id)? };
        let is_new = stream.add_group(group, id, read);
        is_new.then_some(()).ok_or(Fault::new("BUSYGROUP Consumer Group name already exists"))
    };
    if let Some(mut entry) = call.keys.get_mut(key, Type::Stream)? {
        add(&mut stream_mut(&mut entry, limits)?)?;
    } else if makes_stream {
        let mut made = NewStream::new(key);
        add(&mut made.edit(limits))?;
        call.keys.put(made.into_entry());
        call.modified(key, event("xgroup-create"));
        call.out.ok();
        return Ok(());
    } else {
        return Err(NO_KEY);
    }
    call.out.ok();
    call.noted(key, event("xgroup-create"));
    Ok(())
}

/// The stream of a command on a group, which must be there.
fn entry<'k, V: View>(
    call: &'k mut Call<'_, V>,
    group: Option<&[u8]>,
) -> Result<EntryMut<'k>, Fault> {
    let key = call.args.arg(2);
    let entry = call.keys.get_mut(key, Type::Stream)?.ok_or(NO_KEY)?;
    if let Some(group) = group
        && entry.stream().is_none_or(|stream| stream.group(group).is_none())
    {
        return Err(no_group(key, group));
    }
    Ok(entry)
}

/// Sets up to which item a group has read.
pub(crate) fn xgroup_setid<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, group, id) = (call.arg(2), call.arg(3), call.arg(4));
    let options = Options::parse(call, false)?;
    let limits = call.keys.limits;
    let mut entry = entry(call, Some(group))?;
    let mut stream = stream_mut(&mut entry, limits)?;
    let last = stream.read().last_id();
    let id = if id == b"$" { last } else { ids::loose(id)? };
    if let Some(mut group) = stream.group_mut(group) {
        group.set_last_id(id, options.read);
    }
    drop(entry);
    call.out.ok();
    call.noted(key, event("xgroup-setid"));
    Ok(())
}

/// Removes a group.
pub(crate) fn xgroup_destroy<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, group) = (call.arg(2), call.arg(3));
    let limits = call.keys.limits;
    let mut entry = entry(call, None)?;
    let is_gone = stream_mut(&mut entry, limits)?.remove_group(group);
    drop(entry);
    call.out.integer(is_gone.into());
    if is_gone {
        call.noted(key, event("xgroup-destroy"));
        // Clients that wait for items of the group are told.
        call.wake(key);
    }
    Ok(())
}

/// Adds a consumer to a group.
pub(crate) fn xgroup_createconsumer<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, group, consumer) = (call.arg(2), call.arg(3), call.arg(4));
    let (limits, now) = (call.keys.limits, call.unix_ms());
    let mut entry = entry(call, Some(group))?;
    let mut stream = stream_mut(&mut entry, limits)?;
    let is_new = stream.group_mut(group).is_some_and(|mut group| group.add_consumer(consumer, now));
    drop(entry);
    call.out.integer(is_new.into());
    if is_new {
        call.noted(key, event("xgroup-createconsumer"));
    }
    Ok(())
}

/// Removes a consumer of a group.
pub(crate) fn xgroup_delconsumer<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, group, consumer) = (call.arg(2), call.arg(3), call.arg(4));
    let limits = call.keys.limits;
    let mut entry = entry(call, Some(group))?;
    let mut stream = stream_mut(&mut entry, limits)?;
    let pending = stream.group_mut(group).and_then(|mut group| group.remove_consumer(consumer));
    drop(entry);
    call.out.count(pending.unwrap_or(0));
    if pending.is_some() {
        call.noted(key, event("xgroup-delconsumer"));
    }
    Ok(())
}
