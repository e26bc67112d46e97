// SPDX-License-Identifier: Apache-2.0
//! Command by command: Commandstats, Errorstats, Latencystats.

use super::Report;
use crate::table;

pub(super) fn commandstats(report: &mut Report<'_>) {
    report.title("Commandstats");
    for (command, stats) in table::all().zip(report.host.stats().commands()) {
        if stats.is_used() {
            report.line(&format!("cmdstat_{}", command.spec().name), stats.describe());
        }
    }
}

pub(super) fn errorstats(report: &mut Report<'_>) {
    report.title("Errorstats");
    for (code, count) in report.host.stats().errors() {
        let code = String::from_utf8_lossy(&code);
        report.line(&format!("errorstat_{code}"), format!("count={count}"));
    }
}

pub(super) fn latencystats(report: &mut Report<'_>) {
    let wanted = report.host.value_of("latency-tracking-info-percentiles");
    let wanted = String::from_utf8_lossy(wanted.text()).into_owned();
    report.title("Latencystats");
    for command in table::all() {
        let times = report.host.stats().times(command.index());
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
