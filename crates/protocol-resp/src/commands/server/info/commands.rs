// SPDX-License-Identifier: Apache-2.0
//! Command by command: Commandstats, Errorstats, Latencystats.

use super::Full;
use crate::table;
use keyspace::View;

pub(super) fn errorstats<V: View>(report: &mut Full<'_, '_, V>) {
    for (code, count) in report.call.command_stats().errors() {
        let code = String::from_utf8_lossy(&code);
        report.line(&format!("errorstat_{code}"), format!("count={count}"));
    }
}

pub(super) fn latencystats<V: View>(report: &mut Full<'_, '_, V>) {
    let wanted = report.call.parameter("latency-tracking-info-percentiles");
    let wanted = String::from_utf8_lossy(wanted.text()).into_owned();
    for command in table::all() {
        let times = report.call.command_stats().times(command.index());
        if times.count() == 0 {
            continue;
        }
        let percentiles: Vec<String> = wanted
            .split_ascii_whitespace()
            .map(|percent| {
                let nanos = times.percentile(percent.parse().unwrap_or(100.0));
                format!("p{percent}={:.3}", nanos as f64 / 1000.0)
            })
            .collect();
        let name = format!("latency_percentiles_usec_{}", command.spec().name);
        report.line(&name, percentiles.join(","));
    }
}
