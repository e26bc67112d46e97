// SPDX-License-Identifier: Apache-2.0
//! MEMORY: what memory is used for.

use super::facts::Facts;
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::parse_i64;

/// What a key takes of the table that finds it: a bucket of 64 bytes holds 4.8 entries.
const SHARE_OF_TABLE: usize = 13;

/// Tells how many bytes a key and its value take. They are counted, not estimated from samples.
pub(crate) fn memory_usage<V: View>(call: &mut Call<'_, V>) -> Done {
    let options = call.args.tail(3);
    for place in (0..options.len()).step_by(2) {
        let (Some(word), Some(count)) = (options.get(place), options.get(place + 1)) else {
            return Err(Fault::SYNTAX);
        };
        if !word.eq_ignore_ascii_case(b"samples") {
            return Err(Fault::SYNTAX);
        }
        if parse_i64(count).ok_or(Fault::NOT_INTEGER)? < 0 {
            return Err(Fault::SYNTAX);
        }
    }
    match call.keys.peek(call.arg(2)) {
        Some(entry) => call.out.count(entry.heap_bytes() + SHARE_OF_TABLE),
        None => call.out.null(),
    }
    Ok(())
}

/// What libraries of functions take.
#[cfg(feature = "scripts")]
pub(super) fn functions_bytes<V: View>(call: &Call<'_, V>) -> u64 {
    call.functions().counts().bytes
}

/// There are none.
#[cfg(not(feature = "scripts"))]
pub(super) fn functions_bytes<V: View>(_: &Call<'_, V>) -> u64 {
    0
}

/// Tells what memory is used for.
pub(crate) fn memory_stats<V: View>(call: &mut Call<'_, V>) -> Done {
    let facts = Facts::of(call);
    let keyspace = &facts.keyspace;
    let allocator = facts.allocator.unwrap_or_default();
    let (used, keys) = (facts.used_bytes, facts.keys());
    let overhead = used - keyspace.entry_bytes;
    let integers =
        |used: &[(&str, u64)]| used.iter().map(|&(name, n)| (name.to_owned(), n)).collect();
    let counts: Vec<(String, u64)> = integers(&[
        ("peak.allocated", facts.peak_bytes),
        ("total.allocated", used),
        ("startup.allocated", facts.startup_bytes),
        ("replication.backlog", 0),
        ("clients.slaves", 0),
        ("clients.normal", keyspace.reserved_bytes),
        ("cluster.links", 0),
        ("aof.buffer", 0),
        ("lua.caches", call.scripts().size().1),
        ("functions.caches", functions_bytes(call)),
        ("overhead.db.hashtable.rehashing", 0),
        ("overhead.total", overhead),
        ("db.dict.rehashing.count", 0),
        ("keys.count", keys),
        ("keys.bytes-per-key", used.checked_div(keys).unwrap_or(0)),
        ("dataset.bytes", keyspace.entry_bytes),
        ("index.bytes", keyspace.index_bytes),
        ("leaving.bytes", keyspace.leaving_bytes),
        ("allocator.allocated", allocator.allocated),
        ("allocator.active", allocator.active),
        ("allocator.resident", allocator.resident),
        ("allocator-fragmentation.bytes", allocator.active.saturating_sub(allocator.allocated)),
        ("allocator-rss.bytes", allocator.resident.saturating_sub(allocator.active)),
        ("rss-overhead.bytes", facts.resident_bytes.saturating_sub(allocator.resident)),
        ("fragmentation.bytes", facts.resident_bytes.saturating_sub(used)),
    ]);
    let ratios = [
        ("dataset.percentage", percent(keyspace.entry_bytes, used - facts.startup_bytes)),
        ("peak.percentage", percent(used, facts.peak_bytes)),
        ("allocator-fragmentation.ratio", ratio(allocator.active, allocator.allocated)),
        ("allocator-rss.ratio", ratio(allocator.resident, allocator.active)),
        ("rss-overhead.ratio", ratio(facts.resident_bytes, allocator.resident)),
        ("fragmentation", ratio(facts.resident_bytes, used)),
    ];
    let databases = keyspace.databases.iter().enumerate();
    let databases = databases.filter(|(_, database)| database.keys > 0);
    call.out.map(counts.len() + ratios.len() + databases.clone().count());
    for (number, database) in databases {
        call.out.bulk(format!("db.{number}").as_bytes());
        call.out.map(2);
        // When keys expire is written in them, so there is no table of that.
        for (name, bytes) in [("main", database.index_bytes), ("expires", 0)] {
            call.out.bulk(format!("overhead.hashtable.{name}").as_bytes());
            call.out.integer(bytes as i64);
        }
    }
    for (name, count) in counts {
        call.out.bulk(name.as_bytes());
        call.out.integer(count as i64);
    }
    for (name, ratio) in ratios {
        call.out.bulk(name.as_bytes());
        call.out.double(ratio);
    }
    Ok(())
}

/// A part in percent of the whole; of nothing all.
pub(super) fn percent(part: u64, whole: u64) -> f64 {
    100.0 * ratio(part, whole)
}

/// One number in terms of another; 1 if that is nothing.
pub(super) fn ratio(of: u64, to: u64) -> f64 {
    if to == 0 { 1.0 } else { of as f64 / to as f64 }
}

/// Says what might waste memory.
pub(crate) fn memory_doctor<V: View>(call: &mut Call<'_, V>) -> Done {
    let facts = Facts::of(call);
    let mut text = findings(&facts).join("\n");
    text.push('\n');
    call.out.verbatim(b"txt", text.as_bytes());
    Ok(())
}

/// Below this there is nothing to see.
const LITTLE_BYTES: u64 = 5 << 20;

fn findings(facts: &Facts) -> Vec<String> {
    let used = facts.used_bytes;
    if used < LITTLE_BYTES {
        return vec![
            "There is too little data to say anything about the use of memory.".to_owned(),
        ];
    }
    let mut findings = Vec::new();
    if facts.peak_bytes > used / 2 * 3 {
        findings.push(format!(
            "- Peak: {} bytes have been in use, {used} are now. What the allocator has not given \
             back yet makes the fragmentation ratio look high; MEMORY PURGE gives it back.",
            facts.peak_bytes
        ));
    }
    if facts.resident_bytes > used / 2 * 3 {
        findings.push(format!(
            "- Fragmentation: {} bytes are resident for {used} bytes in use.",
            facts.resident_bytes
        ));
    }
    if facts.keyspace.leaving_bytes > used / 4 {
        findings.push(format!(
            "- Leaving: {} bytes of what was removed are being freed, bit by bit.",
            facts.keyspace.leaving_bytes
        ));
    }
    if facts.keyspace.reserved_bytes > used / 4 {
        findings.push(format!(
            "- Clients: {} bytes are taken by {} connections. Large requests and replies, clients that \
             do not read, transactions, watched keys and subscriptions need them.",
            facts.keyspace.reserved_bytes, facts.connections
        ));
    }
    if findings.is_empty() {
        findings.push("Nothing about the use of memory stands out.".to_owned());
    }
    findings
}

/// Tells about the allocator.
pub(crate) fn memory_malloc_stats<V: View>(call: &mut Call<'_, V>) -> Done {
    let allocator = call.platform().and_then(|platform| platform.allocator());
    let text = match allocator {
        None => "Stats not supported for the current allocator".to_owned(),
        Some(allocator) => format!(
            "{}\nallocated: {}\nactive: {}\nresident: {}\nmapped: {}\nretained: {}\n",
            allocator.name,
            allocator.allocated,
            allocator.active,
            allocator.resident,
            allocator.mapped,
            allocator.retained
        ),
    };
    call.out.verbatim(b"txt", text.as_bytes());
    Ok(())
}

/// Asks the allocator to return memory.
pub(crate) fn memory_purge<V: View>(call: &mut Call<'_, V>) -> Done {
    if let Some(platform) = call.platform() {
        platform.purge();
    }
    call.out.ok();
    Ok(())
}
