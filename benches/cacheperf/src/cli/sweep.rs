// SPDX-License-Identifier: Apache-2.0
//! `cacheperf sweep`

use super::load::{ServerArgs, TrafficArgs};
use super::output::{OutputArgs, print, provenance};
use crate::live::Live;
use crate::nothing::Nothing;
use crate::report::sweep::{page_of, step_line, summary, svg_of};
use crate::report::text;
use crate::{
    Error, Outcome, Percentile, Plan, SweepSettings, preload, rate_min, run, sweep, units,
};
use std::time::Duration;

/// The first rate, in requests per second, unless it is said or too low.
const START: f64 = 1_000.0;

/// Find the highest rate of an open loop that keeps p999 under a bound
///
/// The rate doubles while it holds; then the range to the first rate that did not hold is halved. Each
/// step takes the time that --warm-up and --duration say, and has 10,000 requests at the least: a p999 of fewer
/// is chance. So the shorter the step, the higher the lowest rate.
#[derive(Debug, clap::Args)]
pub(super) struct SweepArgs {
    /// The bound
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    p999: Duration,

    /// The first rate (k, m) [default: 1k, or the lowest that has enough requests]
    #[arg(long, value_name = "RATE", value_parser = units::decimal)]
    start: Option<u64>,

    /// The search ends when it knows the limit this well, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    precision: f64,

    /// How often a rate that does not hold is tried again
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    retries: u32,

    #[command(flatten)]
    server: ServerArgs,

    #[command(flatten)]
    traffic: TrafficArgs,

    #[command(flatten)]
    output: OutputArgs,
}

/// The same load at this rate on a server that does nothing.
fn alone(plan: &Plan, rate: f64) -> Result<Outcome, Error> {
    let server = Nothing::start()?;
    let (target, more) = (server.target().clone(), Vec::new());
    let plan = Plan { target, more, rate: Some(rate), ..plan.clone() };
    let mut live = Live::of(&plan);
    live.label("a server that does nothing: ");
    run(&plan, &mut |event| live.watch(event))
}

impl SweepArgs {
    /// The first rate.
    fn start(&self, rate_min: f64) -> Result<f64, Error> {
        let Some(start) = self.start else { return Ok(rate_min.max(START)) };
        if (start as f64) < rate_min {
            let duration = self.traffic.duration;
            let requests = Percentile::P999.requests_min();
            let long = (rate_min * duration.as_secs_f64() / start.max(1) as f64).ceil();
            return Err(Error::Setting(format!(
                "--start {start}: a p999 takes {requests} requests, and in {duration:?} there are not so many: \
                 write --start {rate_min} or more, or -D {long}s"
            )));
        }
        Ok(start as f64)
    }

    /// Whether a rate was found that holds.
    pub(super) fn execute(&self) -> Result<bool, Error> {
        if self.precision.is_nan() || self.precision < 0.1 {
            return Err(Error::Setting(format!(
                "--precision {}: write percent, 0.1 at the least",
                self.precision
            )));
        }
        let plan = Plan { more: self.server.more(), ..self.traffic.plan(self.server.target()?)? };
        let rate_min = rate_min(self.traffic.duration);
        let start = self.start(rate_min)?;
        let settings = SweepSettings {
            p999_max: self.p999.as_nanos() as u64,
            start,
            rate_min,
            precision: self.precision / 100.0,
            retries: self.retries,
        };
        let provenance = provenance(&plan)?;
        print(&text::provenance(&provenance));
        let mut live = Live::of(&plan);
        if plan.preload {
            live.watch(crate::Event::Preloading);
            preload(&plan)?;
        }
        let plan = Plan { preload: false, ..plan };
        let measure = |rate: f64| {
            live.label(&format!("{} requests/s: ", units::show_rate(rate)));
            let plan = Plan { rate: Some(rate), ..plan.clone() };
            run(&plan, &mut |event| live.watch(event))
        };
        let mut found = sweep(&settings, measure, |step| print(&format!("{}\n", step_line(step))))?;
        if found.best.is_none() {
            found.machine = Some(alone(&plan, rate_min)?);
        }
        print(&summary(&found));
        let page = || page_of(&found, &provenance);
        self.output.write(&found, &provenance, page, || svg_of(&found, &provenance))?;
        Ok(found.best.is_some())
    }
}
