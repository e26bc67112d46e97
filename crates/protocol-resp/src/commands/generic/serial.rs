// SPDX-License-Identifier: Apache-2.0
//! Values in serial form: DUMP, RESTORE.

use crate::engine::call::Call;
use crate::host::events::{Class, Event};
use crate::wire::fault::{Done, Fault};
use keyspace::{Use, View};
use values::serial::{self, Bounds};
use values::{Entry, parse_i64};

/// Shows a value with a checksum, as RESTORE takes it.
pub(crate) fn dump<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, now_ms) = (call.arg(1), call.unix_ms());
    match call.keys.any(key).filter(|entry| !is_hollow(entry, now_ms)) {
        Some(entry) => call.out.bulk(&payload(entry, now_ms)),
        None => {
            call.out.null();
            call.missed(key);
        }
    }
    Ok(())
}

/// Whether a value is a hash all of whose fields have expired.
pub(super) fn is_hollow(entry: &Entry, now_ms: u64) -> bool {
    entry.hash().is_some_and(|hash| hash.live(now_ms) == 0)
}

/// The payload of a value.
pub(crate) fn payload(entry: &Entry, now_ms: u64) -> Vec<u8> {
    let mut payload = Vec::new();
    let version = serial::write(entry, now_ms, &mut payload);
    serial::seal(&mut payload, version);
    payload
}

/// The options of RESTORE.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    replaces: bool,
    /// The time to live is a unix time.
    is_absolute: bool,
    used: Option<Use>,
}

/// Stores a value that DUMP has shown.
pub(crate) fn restore<V: View>(call: &mut Call<'_, V>) -> Done {
    let options = options(call)?;
    let (key, now_ms) = (call.arg(1), call.unix_ms());
    if !options.replaces && call.keys.any_mut(key).is_some() {
        return Err(Fault::new("BUSYKEY Target key name already exists."));
    }
    let ttl = u64::try_from(call.integer(2)?);
    let ttl = ttl.map_err(|_| Fault::new("ERR Invalid TTL value, must be >= 0"))?;
    let opened = serial::open(call.arg(3));
    let wrong = Fault::new("ERR DUMP payload version or checksum are wrong");
    let (value, version) = opened.ok_or(wrong)?;
    let bytes_max = match usize::try_from(call.settings().maxmemory()) {
        Ok(maxmemory @ 1..) => call.bulk_max().min(maxmemory),
        _ => call.bulk_max(),
    };
    let bounds = Bounds { limits: call.keys.limits, now_ms, bytes_max };
    let read = serial::read(key, value, version, bounds);
    let read = read.map_err(|_| Fault::new("ERR Bad data format"))?;
    let expiry = match ttl {
        0 => None,
        _ if options.is_absolute => Some(ttl),
        _ => Some(ttl.saturating_add(now_ms)),
    };
    // A moment that no clock shows is past, as in Redis.
    let is_ahead = |moment| moment > now_ms && i64::try_from(moment).is_ok();
    let live = read.filter(|_| expiry.is_none_or(is_ahead));
    match live {
        Some(mut entry) => {
            entry.set_expiry(expiry);
            call.keys.put(entry);
            if let Some(used) = options.used {
                let db = call.keys.db;
                call.keys.view.set_use(db, key, used);
            }
            call.modified(key, Event::of(Class::GENERIC, "restore"));
        }
        // It has expired already.
        None if call.keys.remove(key) => call.modified(key, Event::DEL),
        None => {}
    }
    call.out.ok();
    Ok(())
}

fn options<V: View>(call: &Call<'_, V>) -> Result<Options, Fault> {
    let mut options = Options::default();
    let mut words = call.args.tail(4).iter();
    while let Some(word) = words.next() {
        let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
        let mut number =
            || parse_i64(words.next()?).map_or(Some(None), |number| Some(Some(number)));
        match (options.used, ()) {
            _ if is(b"replace") => options.replaces = true,
            _ if is(b"absttl") => options.is_absolute = true,
            (None | Some(Use::IdleMs(_)), ()) if is(b"idletime") => {
                let seconds = number().ok_or(Fault::SYNTAX)?.ok_or(Fault::NOT_INTEGER)?;
                let text = "ERR Invalid IDLETIME value, must be >= 0";
                let seconds = u64::try_from(seconds).map_err(|_| Fault::new(text))?;
                options.used = Some(Use::IdleMs(seconds.saturating_mul(1000)));
            }
            (None | Some(Use::Frequency(_)), ()) if is(b"freq") => {
                let count = number().ok_or(Fault::SYNTAX)?.ok_or(Fault::NOT_INTEGER)?;
                let text = "ERR Invalid FREQ value, must be >= 0 and <= 255";
                let count = u8::try_from(count).map_err(|_| Fault::new(text))?;
                options.used = Some(Use::Frequency(count));
            }
            _ => return Err(Fault::SYNTAX),
        }
    }
    Ok(options)
}
