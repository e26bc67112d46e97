// SPDX-License-Identifier: Apache-2.0
//! What stores strings: SET, SETNX, SETEX, PSETEX, GETSET, MSET, MSETNX, MSETEX.

use super::super::deadline::Deadline;
use super::{SetOptions, reply_or_null};
use crate::commands::access::{Change, Expiry, KeyChange, Only, StringAccess, visit_ahead};
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use crate::wire::reply::Writer;

/// Stores a string.
#[inline]
pub(crate) fn set<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let args = call.args();
    if args.len() > 3 {
        let options = SetOptions::parse(args.tail(3), call.unix_ms(), call.spec().name)?;
        return set_with(call, &options);
    }
    call.put(args.arg(1), args.arg(2), Expiry::Never, Only::Always)?;
    call.out().ok();
    Ok(())
}

/// SET with options: the reply is the string before, or says whether anything was stored.
fn set_with<'c>(call: &mut impl StringAccess<'c>, options: &SetOptions<'_>) -> Done {
    let (key, value) = (call.args().arg(1), call.args().arg(2));
    let change = |stores| {
        let put = Change::Put(value, options.expiry);
        if stores { put } else { Change::Key(KeyChange::Keep) }
    };
    if options.get {
        return call.read_and_change(key, |old, out| {
            let stores = options.allow(old.as_ref())?;
            reply_or_null(old, out);
            Ok(change(stores))
        });
    }
    if options.comparison.is_some() {
        return call.compare_and_change(key, |old, out| {
            let stores = options.allow(old.as_ref())?;
            ok_or_null(stores, out);
            Ok(change(stores))
        });
    }
    let stored = call.put(key, value, options.expiry, options.only)?;
    ok_or_null(stored, call.out());
    Ok(())
}

fn ok_or_null(is_stored: bool, out: &mut Writer<'_>) {
    if is_stored { out.ok() } else { out.null() }
}

/// Stores a string unless there is something under its key.
pub(crate) fn setnx<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let (key, value) = (call.args().arg(1), call.args().arg(2));
    let stored = call.put(key, value, Expiry::Never, Only::IfAbsent)?;
    call.out().integer(stored.into());
    Ok(())
}

/// Stores a string that expires after some seconds.
pub(crate) fn setex<'c>(call: &mut impl StringAccess<'c>) -> Done {
    store_for(call, Deadline::EX)
}

/// Stores a string that expires after some milliseconds.
pub(crate) fn psetex<'c>(call: &mut impl StringAccess<'c>) -> Done {
    store_for(call, Deadline::PX)
}

fn store_for<'c>(call: &mut impl StringAccess<'c>, unit: Deadline) -> Done {
    let args = call.args();
    let moment = unit.positive(args.arg(2), call.unix_ms(), call.spec().name)?;
    call.put(args.arg(1), args.arg(3), Expiry::At(moment), Only::Always)?;
    call.out().ok();
    Ok(())
}

/// Stores a string and returns the one it replaces.
pub(crate) fn getset<'c>(call: &mut impl StringAccess<'c>) -> Done {
    set_with(call, &SetOptions::GETSET)
}

/// Stores several strings.
pub(crate) fn mset<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let pairs = pairs(call)?;
    visit_ahead(call, pairs, |call, [key, value]| {
        call.put(key, value, Expiry::Never, Only::Always).map(|_| ())
    })?;
    call.out().ok();
    Ok(())
}

/// Stores several strings, unless there is something under one of the keys.
pub(crate) fn msetnx<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let pairs = pairs(call)?;
    let stored = call.put_all(pairs, Expiry::Never, Only::IfAbsent)?;
    call.out().integer(stored.into());
    Ok(())
}

/// Stores several strings that expire together, on a condition on all of their keys.
pub(crate) fn msetex<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let args = call.args();
    let number = values::parse_i64(args.arg(1)).and_then(|number| i32::try_from(number).ok());
    let number =
        number.and_then(|number| usize::try_from(number).ok()).filter(|number| *number > 0);
    let number = number.ok_or(Fault::new("ERR invalid numkeys value or out of range"))?;
    let len = number.saturating_mul(2);
    let words = args.tail(2);
    if words.len() < len {
        return Err(Fault::new("ERR wrong number of key-value pairs"));
    }
    let options = SetOptions::parse_for_all(words.tail(len), call.unix_ms(), call.spec().name)?;
    let stored = call.put_all(words.head(len), options.expiry, options.only)?;
    call.out().integer(stored.into());
    Ok(())
}

/// The arguments as pairs of keys and values.
fn pairs<'c>(call: &mut impl StringAccess<'c>) -> Result<Args<'c>, Fault> {
    let pairs = call.args().tail(1);
    if pairs.len().is_multiple_of(2) { Ok(pairs) } else { Err(Fault::arity(call.spec().name)) }
}
