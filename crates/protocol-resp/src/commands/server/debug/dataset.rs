// SPDX-License-Identifier: Apache-2.0
//! Sub-commands on all keys: POPULATE, RELOAD, DIGEST, DIGEST-VALUE. Nobody else is served meanwhile.

use crate::commands::{dispatch, generic};
use crate::engine::any_call::AnyCall;
use crate::engine::call::Call;
use crate::host::events::Event;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use sha2::{Digest, Sha256};
use values::serial::{self, Bounds};
use values::{Digits, Entry, StreamId};

/// The most keys that POPULATE makes.
const KEYS_MAX: usize = 100_000_000;

/// Bytes of a digest that are shown.
const SHOWN: usize = 20;

/// A digest, or several that were joined so that their order does not matter.
type Sum = [u8; SHOWN];

/// Makes strings, each under a key with its number: `POPULATE count [prefix] [size]`.
pub(super) fn populate<V: View>(call: &mut Call<'_, V>) -> Done {
    if !(3..=5).contains(&call.args.len()) {
        return Err(dispatch::wrong_arguments(call));
    }
    let number = |at: usize, most: usize| {
        let number = usize::try_from(call.integer(at)?).ok().filter(|number| *number <= most);
        number.ok_or(Fault::new("ERR value is out of range"))
    };
    let count = number(2, KEYS_MAX)?;
    let prefix = call.args.get(3).unwrap_or(b"key");
    let size = if call.args.len() > 4 { number(4, call.bulk_max())? } else { 0 };
    for index in 0..count {
        let key = [prefix, format!(":{index}").as_bytes()].concat();
        if call.keys.peek(&key).is_some() {
            continue;
        }
        let mut value = format!("value:{index}").into_bytes();
        if size > 0 {
            value.resize(size, 0);
        }
        call.keys.put(Entry::string(&key, &value));
        // The event of the change is the one of a new key, which is published once.
        call.keys.has_new = false;
        call.modified(&key, Event::NEW);
    }
    call.out.ok();
    Ok(())
}

/// The keys of a database.
fn keys<V: View>(call: &mut Call<'_, V>, db: usize) -> Vec<Box<[u8]>> {
    let mut keys: Vec<Box<[u8]>> = Vec::with_capacity(call.keys.view.len(db));
    let mut cursor = 0;
    loop {
        cursor = call.keys.view.scan(db, cursor, &mut |entry| keys.push(entry.key().into()));
        if cursor == 0 {
            break;
        }
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Writes all values as DUMP does and reads them again. There is no file to do the same with.
pub(super) fn reload<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.args.len() > 2 {
        return Err(Fault::new("ERR this server keeps nothing on disk: RELOAD has no options"));
    }
    let now_ms = call.unix_ms();
    for db in 0..call.databases() {
        for key in keys(call, db) {
            let Some(entry) = call.keys.view.peek(db, &key) else { continue };
            let expiry = entry.expiry();
            let payload = generic::payload(entry, now_ms);
            let opened = serial::open(&payload).ok_or(Fault::new("ERR a checksum is wrong"))?;
            let bounds = Bounds { limits: call.keys.limits, now_ms, bytes_max: usize::MAX };
            let read = serial::read(&key, opened.0, opened.1, bounds);
            let read = read.map_err(|_| Fault::new("ERR a value does not come back as it is"))?;
            let old = match read {
                Some(entry) => call.keys.view.put(entry, db),
                None => call.keys.view.take(db, &key),
            };
            if let Some(old) = old {
                call.keys.view.dispose(old);
            }
            call.keys.view.set_expiry(db, &key, expiry);
        }
    }
    call.out.ok();
    Ok(())
}

/// A digest of texts in their order.
fn digest<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> Sum {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    let mut sum = [0; SHOWN];
    sum.copy_from_slice(&digest.finalize()[..SHOWN]);
    sum
}

/// Joins a digest to others, in any order.
fn join(sum: &mut Sum, other: Sum) {
    let mut carry = 0;
    for (byte, other) in sum.iter_mut().zip(other) {
        let total = u16::from(*byte) + u16::from(other) + carry;
        (*byte, carry) = (total as u8, total >> 8);
    }
}

/// A digest of all that clients can see of a value, whatever it is kept in.
fn of_value(entry: &Entry, now_ms: u64) -> Sum {
    let mut sum = digest([entry.data_type().name().as_bytes()]);
    let mut add = |texts: &[&[u8]]| join(&mut sum, digest(texts.iter().copied()));
    if let Some(list) = entry.list() {
        for (index, element) in list.iter().enumerate() {
            add(&[&index.to_le_bytes(), &element]);
        }
    } else if let Some(set) = entry.set() {
        set.iter().for_each(|member| add(&[&member]));
    } else if let Some(set) = entry.zset() {
        set.iter().for_each(|(member, score)| add(&[member, &score.to_le_bytes()]));
    } else if let Some(hash) = entry.hash() {
        for (field, value, due) in hash.iter_expiring(now_ms) {
            add(&[field, value, &due.unwrap_or(0).to_le_bytes()]);
        }
    } else if let Some(stream) = entry.stream() {
        for item in stream.range(StreamId::MIN, StreamId::MAX) {
            let mut texts = vec![item.id.to_string().into_bytes()];
            for (field, value) in item.pairs() {
                texts.extend([field.to_vec(), value.to_vec()]);
            }
            add(&texts.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }
    } else {
        add(&[entry.text(&mut Digits::new())]);
    }
    let expiry = entry.expiry().map_or(0, |moment| moment.max(1));
    join(&mut sum, digest([&expiry.to_le_bytes()[..]]));
    sum
}

fn hex(sum: Sum) -> String {
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A digest of all keys and values: the same for the same data, on servers of this kind. It is zero without any.
pub(super) fn of_all<V: View>(call: &mut Call<'_, V>) -> Done {
    let (mut sum, now_ms) = ([0; SHOWN], call.unix_ms());
    for db in 0..call.databases() {
        for key in keys(call, db) {
            let Some(entry) = call.keys.view.peek(db, &key) else { continue };
            let value = of_value(entry, now_ms);
            join(&mut sum, digest([&db.to_le_bytes()[..], &key, &value]));
        }
    }
    call.out.simple(&hex(sum));
    Ok(())
}

/// A digest of each value; zero where there is none.
pub(super) fn of_values<V: View>(call: &mut Call<'_, V>) -> Done {
    let (keys, now_ms) = (call.args.tail(2), call.unix_ms());
    call.out.array(keys.len());
    for key in keys.iter() {
        let sum = call.keys.peek(key).map_or([0; SHOWN], |entry| of_value(entry, now_ms));
        call.out.simple(&hex(sum));
    }
    Ok(())
}
