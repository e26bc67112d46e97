// SPDX-License-Identifier: Apache-2.0
//! CLUSTERSCAN: a walk over the keys of all nodes, whose cursor says where to ask next.
//!
//! A cursor is `place-{tag}-local`. The tag has the slot at which the walk is, and routes the command like a key.
//! There is no index of keys by slot, so a node walks once over its keys for each range of neighbouring slots that it
//! has, and shows those of the range; `local` is the cursor of that walk. The place names the run of the server and the
//! last slot of the range: elsewhere, or after a restart, the walk over the range begins anew.

use super::topology;
use crate::cluster::Topology;
use crate::cluster::slots::{SLOTS, slot_number, slot_of, slot_of_pattern, tag_for};
use crate::commands::generic::{ScanOptions as Options, Walked, end_step};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::Type;

const INVALID: Fault = Fault::new("ERR Invalid cursor");

/// A cursor that a client has sent.
#[derive(Debug, PartialEq, Eq)]
struct Cursor<'a> {
    place: &'a [u8],
    slot: u16,
    local: u64,
}

impl<'a> Cursor<'a> {
    /// Reads a cursor other than 0.
    fn read(text: &'a [u8]) -> Result<Self, Fault> {
        let open = memchr::memchr(b'{', text).ok_or(INVALID)?;
        let close = open.saturating_add(memchr::memchr(b'}', &text[open..]).ok_or(INVALID)?);
        let place = text[..open].strip_suffix(b"-").ok_or(INVALID)?;
        let local = text[close..].strip_prefix(b"}-").and_then(|local| str::from_utf8(local).ok());
        let local = local.and_then(|local| local.parse().ok()).ok_or(INVALID)?;
        Ok(Cursor { place, slot: slot_of(text), local })
    }
}

/// Where a walk begins in a slot.
fn start(slot: u16) -> String {
    format!("0-{{{}}}-0", tag_for(slot))
}

/// Takes a step of a walk over all keys of the cluster.
pub(crate) fn clusterscan<V: View>(call: &mut Call<'_, V>) -> Done {
    let topology = topology(call)?;
    let text = call.arg(1);
    let (only, rest) = slot_option(call)?;
    let options = Options::parse(rest.into_iter(), Walked::Keys)?;
    let only = only.or_else(|| options.pattern.and_then(slot_of_pattern));
    if text == b"0" {
        call.out.array(2);
        call.out.bulk(start(only.unwrap_or(0)).as_bytes());
        call.out.array(0);
        return Ok(());
    }
    let cursor = Cursor::read(text)?;
    if only.is_some_and(|only| only != cursor.slot) {
        return Err(Fault::new("ERR Cursor slot mismatch with SLOT argument"));
    }
    let last = only.unwrap_or_else(|| last_of_range(&topology, cursor.slot));
    step(call, &cursor, last, only.is_some(), &options)
}

/// The option SLOT, and the words without it.
fn slot_option<'c, V: View>(call: &Call<'c, V>) -> Result<(Option<u16>, Vec<&'c [u8]>), Fault> {
    let (mut slot, mut rest) = (None, Vec::new());
    let mut words = call.args.tail(2).iter();
    while let Some(word) = words.next() {
        if word.eq_ignore_ascii_case(b"slot") {
            let number = words.next().ok_or(Fault::SYNTAX)?;
            let number =
                slot_number(number).ok_or(Fault::new("ERR Invalid or out of range slot"))?;
            slot = Some(number);
        } else {
            rest.push(word);
            rest.extend(words.next());
        }
    }
    Ok((slot, rest))
}

/// The last of the neighbouring slots of this node from one on.
fn last_of_range(topology: &Topology, slot: u16) -> u16 {
    let own = (slot..SLOTS as u16).take_while(|slot| topology.is_mine(*slot));
    own.last().unwrap_or(slot)
}

fn step<V: View>(
    call: &mut Call<'_, V>,
    cursor: &Cursor<'_>,
    mut last: u16,
    ends_there: bool,
    options: &Options<'_>,
) -> Done {
    let run = &call.startup().run_id[..8];
    let mut local = 0;
    if let Some((whose, end)) = str::from_utf8(cursor.place).ok().and_then(|at| at.split_once('.'))
        && whose == run
        && let Some(end) = slot_number(end.as_bytes())
    {
        // Slots that have come since are walked over afterwards.
        (local, last) = (cursor.local, last.min(end));
    }
    let place = format!("{run}.{last}");
    let of = match options.of {
        Some(name) => Type::named(name).map(Some),
        None => Some(None),
    };
    let start_of_reply = call.out.begin_array();
    let (mut found, mut seen): (usize, usize) = (0, 0);
    // Keys of other ranges are looked at, too.
    for _ in 0..options.count.saturating_mul(10) {
        let out = &mut call.out;
        local = call.keys.view.scan(0, local, &mut |entry| {
            seen = seen.saturating_add(1);
            let is_of_type = of.is_some_and(|of| of.is_none_or(|of| entry.data_type() == of));
            let is_in_range = || (cursor.slot..=last).contains(&slot_of(entry.key()));
            if is_of_type && options.matches(entry.key()) && is_in_range() {
                out.bulk(entry.key());
                found = found.saturating_add(1);
            }
        });
        if local == 0 || seen >= options.count {
            break;
        }
    }
    let next = match last.checked_add(1).filter(|next| usize::from(*next) < SLOTS && !ends_there) {
        _ if local != 0 => format!("{place}-{{{}}}-{local}", tag_for(cursor.slot)),
        Some(next) => start(next),
        None => "0".to_owned(),
    };
    end_step(&mut call.out, start_of_reply, next, found);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_has_a_place_a_slot_and_a_number() {
        let tag = tag_for(5);
        let text = format!("ab.7-{{{tag}}}-42");
        let cursor = Cursor { place: b"ab.7", slot: 5, local: 42 };
        assert_eq!(Cursor::read(text.as_bytes()), Ok(cursor));
        for wrong in ["1", "x", "0-{a", "0-{a}", "0-{a}-x", "0{a}-0", "0-{a}-99999999999999999999"]
        {
            assert_eq!(Cursor::read(wrong.as_bytes()), Err(INVALID), "{wrong}");
        }
    }
}
