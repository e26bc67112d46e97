// SPDX-License-Identifier: Apache-2.0
//! HOTKEYS: which keys take the most time and the most bytes.

use crate::engine::call::Call;
use crate::host::hot_keys::{Session, Wanted, cpu};
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use crate::wire::reply::{Output, Writer};
use keyspace::View;
use std::ops::RangeInclusive;

/// How many keys may be shown, and how many are shown otherwise.
const COUNTS: RangeInclusive<i64> = 1..=64;
const COUNT: usize = 10;

/// The last slot of a cluster.
const SLOT_MAX: i64 = 16_383;

/// Reads `METRICS count [CPU] [NET]`, and what is behind.
fn metrics(args: Args<'_>) -> Result<(Wanted, Args<'_>), Fault> {
    if !args.get(0).is_some_and(|word| word.eq_ignore_ascii_case(b"metrics")) {
        return Err(Fault::new("ERR METRICS parameter is required"));
    }
    let count = args.get(1).and_then(values::parse_i64).filter(|count| *count > 0);
    let count = count.and_then(|count| usize::try_from(count).ok());
    let count = count.ok_or(Fault::new("ERR METRICS count must be a positive integer"))?;
    let rest = args.tail(2);
    if count > rest.len() {
        let text = "ERR METRICS count does not match number of metric types provided";
        return Err(Fault::new(text));
    }
    let (mut by_time, mut by_bytes) = (false, false);
    for word in rest.head(count).iter() {
        // Metrics that are unknown are those of newer servers.
        if word.eq_ignore_ascii_case(b"cpu") && std::mem::replace(&mut by_time, true) {
            return Err(Fault::new("ERR METRICS CPU already specified"));
        }
        if word.eq_ignore_ascii_case(b"net") && std::mem::replace(&mut by_bytes, true) {
            return Err(Fault::new("ERR METRICS NET already specified"));
        }
    }
    if !by_time && !by_bytes {
        return Err(Fault::new("ERR METRICS no valid metrics passed. Supported: CPU, NET"));
    }
    let (duration_ms, sample, slots) = (None, 1, None);
    let wanted = Wanted { by_time, by_bytes, count: COUNT, duration_ms, sample, slots };
    Ok((wanted, rest.tail(count)))
}

/// Reads numbers of slots, each of which is there once; they are in order then.
fn slots(texts: Args<'_>) -> Result<Vec<u16>, Fault> {
    let slot = |text: &[u8]| {
        let slot = values::parse_i64(text).filter(|slot| (0..=SLOT_MAX).contains(slot));
        let slot = slot.and_then(|slot| u16::try_from(slot).ok());
        slot.ok_or(Fault::new("ERR Invalid or out of range slot"))
    };
    let mut slots = texts.iter().map(slot).collect::<Result<Vec<u16>, _>>()?;
    slots.sort_unstable();
    match slots.windows(2).any(|pair| pair[0] == pair[1]) {
        true => Err(Fault::new("ERR duplicate slot number")),
        false => Ok(slots),
    }
}

/// Writes slots in their order: ranges as their ends, and single ones.
fn reply_slots<O: Output>(out: &mut Writer<'_, O>, slots: &[u16]) {
    let ranges: Vec<&[u16]> =
        slots.chunk_by(|one, next| one.checked_add(1) == Some(*next)).collect();
    out.array(ranges.len());
    for range in ranges {
        let [first, .., last] = range else {
            out.array(1);
            range.iter().for_each(|slot| out.integer((*slot).into()));
            continue;
        };
        out.array(2);
        out.integer((*first).into());
        out.integer((*last).into());
    }
}

/// Reads all that a session is about.
fn parse(args: Args<'_>, is_cluster: bool) -> Result<Wanted, Fault> {
    let (mut wanted, mut rest) = metrics(args)?;
    while let Some(word) = rest.get(0) {
        let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
        let number = rest.get(1).ok_or(Fault::SYNTAX)?;
        let number = values::parse_i64(number).ok_or(Fault::NOT_INTEGER);
        if is(b"count") {
            let count = number?;
            if !COUNTS.contains(&count) {
                return Err(Fault::new("ERR COUNT must be between 1 and 64"));
            }
            wanted.count = usize::try_from(count).unwrap_or(COUNT);
        } else if is(b"duration") {
            let wrong = Fault::new("ERR DURATION must be between 1 and 1000000");
            let seconds = number?;
            let seconds =
                u64::try_from(seconds).ok().filter(|seconds| (1..=1_000_000).contains(seconds));
            wanted.duration_ms = Some(seconds.ok_or(wrong)?.saturating_mul(1000));
        } else if is(b"sample") {
            let sample = u32::try_from(number?).ok().filter(|sample| *sample > 0);
            wanted.sample = sample.ok_or(Fault::new("ERR SAMPLE ratio must be positive"))?;
        } else if is(b"slots") {
            if !is_cluster {
                let text = "ERR SLOTS parameter cannot be used in non-cluster mode";
                return Err(Fault::new(text));
            }
            if wanted.slots.is_some() {
                return Err(Fault::new("ERR SLOTS parameter already specified"));
            }
            let count = usize::try_from(number?).ok().filter(|count| *count > 0);
            let count = count.ok_or(Fault::new("ERR SLOTS count must be positive"))?;
            if count > rest.len().saturating_sub(2) {
                return Err(Fault::new("ERR not enough slot numbers provided"));
            }
            wanted.slots = Some(slots(rest.tail(2).head(count))?);
            rest = rest.tail(count);
        } else {
            return Err(Fault::SYNTAX);
        }
        rest = rest.tail(2);
    }
    Ok(wanted)
}

/// Ends a session whose time is up, though no command has come since to notice that.
fn end_if_due<V: View>(call: &Call<'_, V>) {
    let due = call.hot_keys().session().as_ref().and_then(Session::due_ms);
    if call.hot_keys().is_active() && due.is_some_and(|due| due <= call.unix_ms()) {
        call.end_hot_keys(due.unwrap_or(0));
    }
}

/// Begins a session.
pub(crate) fn hotkeys_start<V: View>(call: &mut Call<'_, V>) -> Done {
    end_if_due(call);
    if call.hot_keys().is_active() {
        return Err(Fault::new("ERR hotkey tracking session already in progress"));
    }
    let wanted = parse(call.args.tail(2), call.cluster().is_on())?;
    call.begin_hot_keys(Session::new(wanted, call.now));
    call.out.ok();
    Ok(())
}

/// Ends the session and keeps what it has found.
pub(crate) fn hotkeys_stop<V: View>(call: &mut Call<'_, V>) -> Done {
    end_if_due(call);
    if call.hot_keys().is_active() {
        call.end_hot_keys(call.unix_ms());
        call.out.ok();
    } else {
        call.out.null();
    }
    Ok(())
}

/// Forgets what a session has found.
pub(crate) fn hotkeys_reset<V: View>(call: &mut Call<'_, V>) -> Done {
    end_if_due(call);
    if call.hot_keys().is_active() {
        let text = "ERR hotkey tracking session in progress, stop tracking first";
        return Err(Fault::new(text));
    }
    *call.hot_keys().session() = None;
    call.out.ok();
    Ok(())
}

/// Tells what the session has found.
pub(crate) fn hotkeys_get<V: View>(call: &mut Call<'_, V>) -> Done {
    end_if_due(call);
    let now_ms = call.unix_ms();
    let hot_keys = call.hot_keys();
    match &*hot_keys.session() {
        Some(session) => {
            call.out.array(1);
            describe(&mut call.out, session, now_ms);
        }
        None => call.out.null_array(),
    }
    Ok(())
}

fn describe(out: &mut Writer<'_>, session: &Session, now_ms: u64) {
    let Wanted { by_time, by_bytes, count, sample, slots, .. } = &session.wanted;
    let (by_time, by_bytes, count, sample) = (*by_time, *by_bytes, *count, u64::from(*sample));
    let of_all = |sampled: u64| sampled.saturating_mul(sample);
    let mut numbers: Vec<(&str, u64)> = Vec::new();
    let [nanos, bytes] = session.of_slots;
    if slots.is_some() && sample > 1 {
        numbers.push(("sampled-commands-selected-slots-us", nanos / 1000));
        numbers.push(("net-bytes-sampled-commands-selected-slots", bytes));
    }
    if slots.is_some() {
        numbers.push(("all-commands-selected-slots-us", of_all(nanos) / 1000));
        numbers.push(("net-bytes-all-commands-selected-slots", of_all(bytes)));
    }
    let [nanos, bytes] = session.of_all;
    numbers.push(("all-commands-all-slots-us", of_all(nanos) / 1000));
    numbers.push(("net-bytes-all-commands-all-slots", of_all(bytes)));
    numbers.push(("collection-start-time-unix-ms", session.started_ms));
    let ended_ms = session.ended_ms.unwrap_or(now_ms);
    numbers.push(("collection-duration-ms", ended_ms.saturating_sub(session.started_ms)));
    if by_time {
        let [user, system] = session.cpu_in_end.unwrap_or_else(cpu);
        let ms = |now: u64, before: u64| now.saturating_sub(before) / 1_000_000;
        numbers.push(("total-cpu-time-user-ms", ms(user, session.cpu[0])));
        numbers.push(("total-cpu-time-sys-ms", ms(system, session.cpu[1])));
    }
    if by_bytes {
        numbers.push(("total-net-bytes", of_all(bytes)));
    }
    let lists = usize::from(by_time).saturating_add(by_bytes.into());
    out.map(numbers.len().saturating_add(lists).saturating_add(3));
    out.bulk(b"tracking-active");
    out.integer(session.ended_ms.is_none().into());
    out.bulk(b"sample-ratio");
    out.integer(sample as i64);
    out.bulk(b"selected-slots");
    match slots {
        Some(slots) => reply_slots(out, slots),
        None => reply_slots(out, &(0..=SLOT_MAX as u16).collect::<Vec<_>>()),
    }
    for (name, value) in numbers {
        out.bulk(name.as_bytes());
        out.integer(value as i64);
    }
    let mut list = |name: &str, keys: Vec<(&[u8], u64)>| {
        out.bulk(name.as_bytes());
        out.array(keys.len().saturating_mul(2));
        for (key, sum) in keys {
            out.bulk(key);
            out.integer(sum as i64);
        }
    };
    if by_time {
        let keys = session.by_time.iter().take(count);
        list("by-cpu-time-us", keys.map(|(key, nanos)| (key, nanos / 1000)).collect());
    }
    if by_bytes {
        list("by-net-bytes", session.by_bytes.iter().take(count).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::reply::Version;

    #[test]
    fn slots_are_told_as_ranges() {
        let told = |slots: &[u16]| {
            let mut out = Vec::new();
            reply_slots(&mut Writer::new(&mut out, Version::Resp2), slots);
            String::from_utf8(out).expect("text").replace("\r\n", " ")
        };
        assert_eq!(told(&[0, 1, 2, 5, 6, 10]), "*3 *2 :0 :2 *2 :5 :6 *1 :10 ");
        assert_eq!(told(&(0..=16_383).collect::<Vec<_>>()), "*1 *2 :0 :16383 ");
        assert_eq!(told(&[]), "*0 ");
    }
}
