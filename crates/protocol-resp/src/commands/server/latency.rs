// SPDX-License-Identifier: Apache-2.0
//! LATENCY: how long things take.

use crate::engine::call::Call;
use crate::host::histogram::Distribution;
use crate::host::latency::{History, Sample};
use crate::host::stats::CommandStats;
use crate::table::{self, CommandId};
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;

/// Doublings of a histogram, from about a microsecond to about a minute.
const DOUBLINGS: std::ops::RangeInclusive<u32> = 10..=36;

/// `LATENCY HISTOGRAM`: how long each command took. Without names, all commands; the name of a container stands for its
/// sub-commands, too.
pub(crate) fn latency_histogram<V: View>(call: &mut Call<'_, V>) -> Done {
    let names = call.args.tail(2);
    let mut meant: Vec<CommandId> = Vec::new();
    if names.is_empty() {
        meant.extend(table::all());
    }
    for command in names.iter().filter_map(table::find_full) {
        meant.push(command);
        meant.extend(command.subcommands());
    }
    let stats = call.command_stats().commands();
    let mark = call.out.begin_map();
    let mut count = 0;
    for command in meant {
        let times = call.command_stats().times(command.index());
        if times.count() > 0 {
            call.out.bulk(command.spec().name.as_bytes());
            histogram(call, &stats[command.index()], &times);
            count += 1;
        }
    }
    call.out.end_map(mark, count);
    Ok(())
}

/// Calls, and how many of them took up to how many microseconds. Where only some runs were timed,
/// the others are taken to be like them.
fn histogram<V: View>(call: &mut Call<'_, V>, stats: &CommandStats, times: &Distribution) {
    let timed = times.count();
    let calls = stats.calls.max(timed);
    let scaled = |count: u64| (u128::from(count) * u128::from(calls) / u128::from(timed)) as i64;
    call.out.map(2);
    call.out.bulk(b"calls");
    call.out.integer(calls as i64);
    call.out.bulk(b"histogram_usec");
    let mark = call.out.begin_map();
    let (mut shown, mut before) = (0, 0);
    for doubling in DOUBLINGS {
        let last = doubling == *DOUBLINGS.end();
        let below = if last { timed } else { times.below(1 << doubling) };
        if below > before {
            // The bounds of Redis, which keeps two digits of each time.
            let bound = ((1_u64 << doubling) + (1 << (doubling - 7)) - 1) / 1000;
            call.out.integer(bound as i64);
            call.out.integer(scaled(below));
            shown += 1;
            before = below;
        }
    }
    call.out.end_map(mark, shown);
}

/// Lists the last latency of each event.
pub(crate) fn latency_latest<V: View>(call: &mut Call<'_, V>) -> Done {
    let events = call.latency().events();
    call.out.array(events.len());
    for (name, history) in &events {
        let last = history.samples.back().copied().unwrap_or(Sample { unix_seconds: 0, ms: 0 });
        call.out.array(4);
        call.out.bulk(name.as_bytes());
        call.out.integer(last.unix_seconds as i64);
        call.out.integer(last.ms as i64);
        call.out.integer(history.max_ms as i64);
    }
    Ok(())
}

/// Lists the latencies of an event.
pub(crate) fn latency_history<V: View>(call: &mut Call<'_, V>) -> Done {
    let samples = call.latency().event(call.arg(2)).unwrap_or_default().samples;
    call.out.array(samples.len());
    for sample in samples {
        call.out.array(2);
        call.out.integer(sample.unix_seconds as i64);
        call.out.integer(sample.ms as i64);
    }
    Ok(())
}

/// Forgets the latencies of events, all of them if none is named.
pub(crate) fn latency_reset<V: View>(call: &mut Call<'_, V>) -> Done {
    let names = call.args.tail(2);
    let is_meant =
        |event: &str| names.is_empty() || names.iter().any(|name| name == event.as_bytes());
    let count = call.latency().reset(is_meant);
    call.out.count(count);
    Ok(())
}

/// Draws the latencies of an event.
pub(crate) fn latency_graph<V: View>(call: &mut Call<'_, V>) -> Done {
    let name = call.arg(2);
    let Some(history) = call.latency().event(name) else {
        let mut text = b"ERR No samples available for event '".to_vec();
        text.extend_from_slice(name);
        text.push(b'\'');
        return Err(Fault::made(text));
    };
    let text = graph(&String::from_utf8_lossy(name), &history);
    call.out.verbatim(b"txt", text.as_bytes());
    Ok(())
}

/// Rows of a drawing.
const ROWS: u64 = 4;

/// The most samples that are drawn.
const COLUMNS: usize = 79;

/// A line of numbers, and a column for each sample, the oldest first.
fn graph(name: &str, history: &History) -> String {
    let first = history.samples.len().saturating_sub(COLUMNS);
    let shown: VecDeque<Sample> = history.samples.iter().skip(first).copied().collect();
    let times = || shown.iter().map(|sample| sample.ms);
    let (low, high) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    let mut text =
        format!("{name} - high {high} ms, low {low} ms (all time high {} ms)\n", history.max_ms);
    text.push_str(&"-".repeat(80));
    text.push('\n');
    for row in (0..ROWS).rev() {
        let is_filled = |ms: u64| (ms - low) * ROWS > (high - low) * row || row == 0;
        text.extend(times().map(|ms| if is_filled(ms) { '#' } else { ' ' }));
        text.push('\n');
    }
    text
}

/// Says what might be slow.
pub(crate) fn latency_doctor<V: View>(call: &mut Call<'_, V>) -> Done {
    let latency = &call.latency();
    let events = latency.events();
    let threshold = latency.threshold_ms.load(Relaxed);
    let text = if threshold == 0 && events.is_empty() {
        "Nothing is noted: latency-monitor-threshold is 0. To note what takes 100 milliseconds or \
         more: CONFIG SET latency-monitor-threshold 100\n"
            .to_owned()
    } else if events.is_empty() {
        format!("Nothing has taken {threshold} milliseconds or more.\n")
    } else {
        diagnosis(events.iter().map(|(name, history)| (*name, history)))
    };
    call.out.verbatim(b"txt", text.as_bytes());
    Ok(())
}

fn diagnosis<'a>(events: impl Iterator<Item = (&'a str, &'a History)>) -> String {
    let mut text = String::from("These have taken long:\n\n");
    for (name, history) in events {
        let count = history.samples.len() as u64;
        let sum: u64 = history.samples.iter().map(|sample| sample.ms).sum();
        let mean = sum.checked_div(count).unwrap_or(0);
        let max = history.max_ms;
        text.push_str(&format!(
            "{name}: in {count} seconds, {mean} ms on average, {max} ms at most\n"
        ));
    }
    text.push_str(
        "\nSLOWLOG GET shows which commands they were. Commands on large collections, KEYS, SORT \
         and large replies are the usual ones; a machine that swaps or lends its processors to \
         others makes any of them slow.\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(times: &[u64]) -> History {
        let samples = times.iter().enumerate();
        let samples = samples.map(|(at, &ms)| Sample { unix_seconds: at as u64, ms }).collect();
        History { samples, max_ms: 40 }
    }

    #[test]
    fn the_higher_the_time_the_higher_its_column() {
        let text = graph("command", &history(&[10, 20, 30]));
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "command - high 30 ms, low 10 ms (all time high 40 ms)");
        assert_eq!(lines[2..], ["  #", "  #", " ##", "###"]);
        assert!(graph("command", &history(&[5])).ends_with("#\n"));
    }

    #[test]
    fn a_diagnosis_names_the_events() {
        let history = history(&[10, 20]);
        let text = diagnosis([("command", &history)].into_iter());
        assert!(text.contains("command: in 2 seconds, 15 ms on average, 40 ms at most"), "{text}");
    }
}
