// SPDX-License-Identifier: Apache-2.0
//! Making many hashes with the same fields, whose names are sent once: HIMPORT.
//!
//! The lists of names belong to the connection, or to one run of a script.

use super::HSET;
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use std::collections::BTreeSet;
use values::{NewHash, Type};

/// Prepares a list of field names.
pub(crate) fn himport_prepare<V: View>(call: &mut Call<'_, V>) -> Done {
    let (name, fields) = (call.arg(2), call.args.tail(3));
    let mut seen = BTreeSet::new();
    if !fields.iter().all(|field| seen.insert(field)) {
        return Err(Fault::new("ERR duplicate field name in fieldset"));
    }
    call.conn.fieldsets.prepare(name, fields.iter());
    call.conn.note_fieldsets();
    call.out.ok();
    Ok(())
}

/// Makes a hash of a prepared list and as many values, in place of another hash.
pub(crate) fn himport_set<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, values, now) = (call.arg(2), call.args.tail(4), call.unix_ms());
    let fields = call.conn.fieldsets.find(call.args.arg(3));
    let fields = fields.ok_or(Fault::new("ERR no such fieldset"))?;
    if fields.len() != values.len() {
        return Err(Fault::new("ERR value count does not match fieldset field count"));
    }
    call.keys.get_mut(key, Type::Hash)?;
    let mut made = NewHash::new(key);
    let mut hash = made.edit(call.keys.limits);
    for (field, value) in fields.iter().zip(values.iter()) {
        hash.set(field, value, now);
    }
    call.keys.put(made.into_entry());
    // The list is the connection's, which is borrowed no longer than the names are copied.
    let names: Vec<Box<[u8]>> = if call.names_fields() { fields.to_vec() } else { Vec::new() };
    call.modified_fields(key, HSET, || names.iter().map(|field| &**field).collect());
    call.out.ok();
    Ok(())
}

/// Drops a prepared list.
pub(crate) fn himport_discard<V: View>(call: &mut Call<'_, V>) -> Done {
    let was_there = call.conn.fieldsets.discard(call.args.arg(2));
    call.conn.note_fieldsets();
    call.out.integer(was_there.into());
    Ok(())
}

/// Drops all prepared lists and counts them.
pub(crate) fn himport_discardall<V: View>(call: &mut Call<'_, V>) -> Done {
    let count = call.conn.fieldsets.discard_all();
    call.conn.note_fieldsets();
    call.out.count(count);
    Ok(())
}
