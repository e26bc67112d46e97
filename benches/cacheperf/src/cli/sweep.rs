// SPDX-License-Identifier: Apache-2.0
//! `cacheperf sweep`

use super::load::{ServerArgs, TrafficArgs};
use super::output::{OutputArgs, print};
use crate::live::Live;
use crate::report::sweep::{page_of, step_line, summary};
use crate::{Error, Plan, SweepSettings, preload, run, sweep, units};
use std::time::Duration;

/// Find the highest rate of an open loop that keeps p999 under a bound
///
/// The rate doubles while it holds; then the range to the first rate that did not hold is halved. Each
/// step takes the time that --warm-up and --duration say.
#[derive(Debug, clap::Args)]
pub(super) struct SweepArgs {
    /// The bound
    #[arg(long, value_name = "TIME", value_parser = units::duration)]
    p999: Duration,

    /// The first rate (k, m)
    #[arg(long, value_name = "RATE", default_value = "1k", value_parser = units::decimal)]
    start: u64,

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

impl SweepArgs {
    /// Whether a rate was found that holds.
    pub(super) fn execute(&self) -> Result<bool, Error> {
        if self.precision.is_nan() || self.precision < 0.1 {
            return Err(Error::Setting(format!(
                "--precision {}: write percent, 0.1 at the least",
                self.precision
            )));
        }
        if self.start == 0 {
            return Err(Error::Setting("--start 0: write requests per second".to_owned()));
        }
        let plan = self.traffic.plan(self.server.target()?)?;
        let settings = SweepSettings {
            p999_max: self.p999.as_nanos() as u64,
            start: self.start as f64,
            precision: self.precision / 100.0,
            retries: self.retries,
        };
        let mut live = Live::new("");
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
        let found = sweep(&settings, measure, |step| print(&format!("{}\n", step_line(step))))?;
        print(&summary(&found));
        self.output.write(&found, || page_of(&found))?;
        Ok(found.best.is_some())
    }
}
