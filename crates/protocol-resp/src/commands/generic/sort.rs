// SPDX-License-Identifier: Apache-2.0
//! Sorting the elements of a list, set or sorted set: SORT, SORT_RO.
//!
//! * `options.rs`: what is asked for. `pattern.rs`: values that elements lead to, under other keys.
//! * `order.rs`: which element comes before which.
//!
//! Elements are borrowed from where they are stored. What takes memory in proportion to their number is the vector that
//! is sorted, and the keys that patterns lead to.

mod options;
mod order;
mod pattern;

use crate::acl::{Selection, Selector};
use crate::cluster::slots::slot_of;
use crate::engine::any_call::AnyCall;
use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::host::events::{Class, Event};
use crate::table::CommandId;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Writer;
use keyspace::View;
use options::{By, Look, Options};
use order::{Keyed, Scored, arrange, number};
use pattern::{Trail, follow};
use std::ops::Range;
use std::slice::from_ref;
use values::{Entry, Text, Type};

/// Sorts, and returns or stores the result.
pub(crate) fn sort<V: View>(call: &mut Call<'_, V>) -> Done {
    let options = Options::parse(call.args.tail(2), true, look(call, CommandId::Sort))?;
    sort_as(call, &options)
}

/// Sorts, and returns the result.
pub(crate) fn sort_ro<V: View>(call: &mut Call<'_, V>) -> Done {
    let options = Options::parse(call.args.tail(2), false, look(call, CommandId::SortRo))?;
    sort_as(call, &options)
}

/// Which keys patterns may lead to.
fn look<V: View>(call: &Call<'_, V>, id: CommandId) -> Look {
    // One set of rights must allow both: the command, and what its patterns lead to.
    let selection = Selection { db: call.conn.db, databases: call.databases() };
    let may = |rights: &Selector| {
        rights.reads_all_keys() && rights.check(id, &call.args, selection).is_ok()
    };
    let any = !call.acl().is_used() || call.account().rights().any(may);
    Look { any, slot: call.is_in_cluster().then(|| slot_of(call.arg(1))) }
}

fn sort_as<V: View>(call: &mut Call<'_, V>, options: &Options<'_>) -> Done {
    let key = call.arg(1);
    match call.keys.any(key).map(Entry::data_type) {
        Some(Type::List | Type::Set | Type::Zset) => {}
        Some(_) => return Err(Fault::WRONG_TYPE),
        None => call.missed(key),
    }
    // What is stored, or decides what a script does, must not depend on how a set happens to be kept.
    let is_kept = options.store.is_some() || call.in_script;
    let mut trail = Trail::default();
    let found = match call.keys.peek(key) {
        Some(entry) => sorted(&call.keys, entry, options, is_kept, &mut trail),
        None => Ok(Vec::new()),
    };
    let result = found.map(|found| match options.store {
        None => {
            reply(&call.keys, options, &found, &mut call.out, &mut trail);
            None
        }
        Some(to) => Some((to, list(&call.keys, options, &found, to, &mut trail))),
    });
    trail.note_reads(call);
    if let Some((to, list)) = result? {
        store(call, to, list);
    }
    Ok(())
}

/// The elements in the order and the part that is asked for. A set whose result `is_kept` is sorted in any case.
fn sorted<'k, V: View>(
    keys: &'k Keys<'_, V>,
    entry: &'k Entry,
    options: &Options<'_>,
    is_kept: bool,
    trail: &mut Trail,
) -> Result<Vec<Text<'k>>, Fault> {
    let window = options.window(entry.len());
    let (descends, all) = (options.descends, 0..entry.len());
    let is_kept_set = is_kept && entry.data_type() == Type::Set;
    let elements = |range| elements(entry, range, false);
    let by = match &options.by {
        By::Nothing if !is_kept_set => {
            return Ok(self::elements(entry, window, descends).collect());
        }
        By::Nothing | By::Element => None,
        By::Pattern(pattern) => Some(pattern),
    };
    let is_text = options.is_text || matches!(options.by, By::Nothing);
    match (by, is_text) {
        (None, true) => {
            let mut items: Vec<Text<'k>> = Vec::with_capacity(entry.len());
            items.extend(elements(all));
            arrange(&mut items, window, |a, b| order::directed(a.cmp(b), descends));
            Ok(items)
        }
        (Some(by), true) => {
            let mut items: Vec<Keyed<'k>> = Vec::with_capacity(entry.len());
            follow(from_ref(by), keys, elements(all), trail, |text, key| {
                items.push(Keyed { text, key, at: items.len() });
            });
            arrange(&mut items, window, |a, b| a.compare(b, descends));
            Ok(items.into_iter().map(|item| item.text).collect())
        }
        (by, false) => {
            let mut are_numbers = true;
            let mut items: Vec<Scored<'k>> = Vec::with_capacity(entry.len());
            let mut weigh = |text, weight: Option<Text<'k>>| {
                let score = weight.map_or(Some(0.0), |weight| number(&weight));
                are_numbers &= score.is_some();
                items.push(Scored { text, score: score.unwrap_or_default() });
            };
            match by {
                None => elements(all).for_each(|text| weigh(text, Some(text))),
                // All are looked up, also behind one that is no number.
                Some(by) => follow(from_ref(by), keys, elements(all), trail, weigh),
            }
            if !are_numbers {
                return Err(Fault::new("ERR One or more scores can't be converted into double"));
            }
            arrange(&mut items, window, |a, b| order::directed(a.compare(b), descends));
            Ok(items.into_iter().map(|item| item.text).collect())
        }
    }
}

/// Some elements as they are kept, or from the end.
#[expect(clippy::arithmetic_side_effects, reason = "the range is one of the elements")]
fn elements<'k>(
    entry: &'k Entry,
    range: Range<usize>,
    from_end: bool,
) -> Box<dyn Iterator<Item = Text<'k>> + 'k> {
    let mirrored = entry.len() - range.end..entry.len() - range.start;
    if let Some(list) = entry.list() {
        return match from_end {
            false => Box::new(list.range(range)),
            true => Box::new(list.range(mirrored).rev()),
        };
    }
    if let Some(zset) = entry.zset() {
        let member = |(member, _): (&'k [u8], f64)| Text::from(member);
        return match from_end {
            false => Box::new(zset.range(range).map(member)),
            true => Box::new(zset.range(mirrored).rev().map(member)),
        };
    }
    let all = entry.set().into_iter().flat_map(|set| set.iter());
    Box::new(all.skip(range.start).take(range.len()))
}

fn reply<V: View>(
    keys: &Keys<'_, V>,
    options: &Options<'_>,
    found: &[Text<'_>],
    out: &mut Writer<'_>,
    trail: &mut Trail,
) {
    out.array(found.len().saturating_mul(options.gets.len().max(1)));
    if options.gets.is_empty() {
        return found.iter().for_each(|element| out.bulk(element));
    }
    follow(&options.gets, keys, found.iter().copied(), trail, |_, value| {
        out.bulk_or_null(value.as_deref());
    });
}

/// The result as a list. What is not there becomes an empty element.
fn list<V: View>(
    keys: &Keys<'_, V>,
    options: &Options<'_>,
    found: &[Text<'_>],
    to: &[u8],
    trail: &mut Trail,
) -> Entry {
    let mut entry = Entry::new_list(to);
    if let Some(mut list) = entry.list_mut(keys.limits) {
        if options.gets.is_empty() {
            found.iter().for_each(|element| list.push_back(element));
        } else {
            follow(&options.gets, keys, found.iter().copied(), trail, |_, value| {
                list.push_back(value.as_deref().unwrap_or_default());
            });
        }
    }
    entry
}

fn store<V: View>(call: &mut Call<'_, V>, to: &[u8], list: Entry) {
    let len = list.len();
    if len > 0 {
        call.keys.put(list);
        call.modified(to, Event::of(Class::LIST, "sortstore"));
    } else if call.keys.remove(to) {
        call.modified(to, Event::DEL);
    }
    call.out.count(len);
}
