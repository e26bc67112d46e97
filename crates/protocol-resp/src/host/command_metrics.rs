// SPDX-License-Identifier: Apache-2.0
//! What both services for RESP count of commands, as metrics.
//!
//! Counts begin at zero again after `CONFIG RESETSTAT`, as after a restart.

use crate::host::stats::{CommandStats, Stats};
use crate::table;
use metrics::Distribution;

/// The metrics of commands.
pub const METRICS: metrics::MetricSet = metrics::metric_set!();

metrics::total_families! {
    /// Commands carried out.
    static CALLS: "shoebill_resp_commands_total" by "command";
    /// Commands carried out whose reply is an error.
    static FAILED: "shoebill_resp_commands_failed_total" by "command";
    /// Commands refused before they were carried out.
    static REJECTED: "shoebill_resp_commands_rejected_total" by "command";
    /// Keys that commands looked up, by whether they were there.
    "shoebill_resp_lookups_total" {
        static HITS: by "command", result = "hit";
        static MISSES: by "command", result = "miss";
    }
}

metrics::histogram_families! {
    /// Time that commands take, of a sample: of fast commands the first 16 of each worker and then one in 16.
    /// Reading a command from the socket and sending its reply are not in it.
    static DURATION: "shoebill_resp_command_duration_seconds" by "command" in nanoseconds;
}

metrics::counters! {
    /// Replies that were errors.
    pub(crate) static ERROR_REPLIES: "shoebill_resp_error_replies_total";
}

/// Sets all but the counter.
pub(crate) fn refresh(stats: &Stats) {
    let commands = stats.commands();
    let of = |number: fn(&CommandStats) -> u64| {
        let all = table::all().zip(&commands);
        let all = all.map(move |(id, command)| (id.spec().name, number(command)));
        all.filter(|(_, count)| *count > 0)
    };
    CALLS.set(of(|command| command.calls));
    FAILED.set(of(|command| command.failed));
    REJECTED.set(of(|command| command.rejected));
    HITS.set(of(|command| command.hits));
    MISSES.set(of(|command| command.misses));
    let called = table::all().zip(&commands).filter(|(_, command)| command.calls > 0);
    let times = called.map(|(id, _)| (id.spec().name, stats.times(id.index())));
    DURATION.set(times.filter(|(_, times)| times.count() > 0).map(|(name, times)| {
        (name, Distribution::new(times.count(), times.sum(), |bound| times.below(bound)))
    }));
}
