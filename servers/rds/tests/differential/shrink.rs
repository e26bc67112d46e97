// SPDX-License-Identifier: Apache-2.0
//! Runs steps against two fresh servers, and shrinks a list of steps with different replies as far as it can.

use crate::generate::Step;
use crate::pair::{Both, Target};
use crate::run::{Difference, Run};
use std::fmt;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// How long fewer steps are tried.
const SHRINK_LIMIT: Duration = Duration::from_secs(60);

/// Two servers that run until it is dropped.
pub(crate) struct Servers {
    pub(crate) addresses: Both<SocketAddr>,
    /// What keeps them running.
    pub(crate) keep: Box<dyn fmt::Debug>,
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Servers").field("keep", &self.keep).finish_non_exhaustive()
    }
}

/// How steps are run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// Starts both servers; `None` when there is no oracle.
    pub(crate) start: fn() -> Option<Servers>,
    pub(crate) protocol: u8,
    pub(crate) seed: u64,
}

/// Steps, the last of which is answered differently.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) steps: Vec<Step>,
    pub(crate) difference: Box<Difference>,
}

impl Setting {
    /// Starts both servers and connects to them.
    pub(crate) fn run(self) -> Option<(Servers, Run)> {
        let servers = (self.start)()?;
        let target = Target { addresses: servers.addresses, protocol: self.protocol };
        Some((servers, Run::new(target, self.seed)))
    }

    /// Takes `steps` on fresh servers; `None` when they are answered alike.
    fn find(self, steps: &[Step]) -> Option<Finding> {
        let (_servers, mut run) = self.run()?;
        for (index, step) in steps.iter().enumerate() {
            if let Err(difference) = run.step(step) {
                return Some(Finding { steps: steps[..=index].to_vec(), difference });
            }
        }
        let difference = run.compare_state().err()?;
        Some(Finding { steps: steps.to_vec(), difference })
    }

    /// The fewest steps found that still show a difference.
    pub(crate) fn shrink(self, found: Finding) -> Finding {
        let deadline = Instant::now() + SHRINK_LIMIT;
        let mut best = self.tail(found);
        let mut size = best.steps.len().div_ceil(2);
        loop {
            let (mut at, mut shorter) = (0, false);
            while at < best.steps.len() && Instant::now() < deadline {
                let end = (at + size).min(best.steps.len());
                let rest = [&best.steps[..at], &best.steps[end..]].concat();
                match self.find(&rest) {
                    Some(finding) => (best, shorter) = (finding, true),
                    None => at = end,
                }
            }
            if Instant::now() >= deadline || (size == 1 && !shorter) {
                return self.thin(best, deadline);
            }
            size = size.div_ceil(2);
        }
    }

    /// The last steps alone, if they show a difference.
    fn tail(self, found: Finding) -> Finding {
        for len in [10, 100, 1_000, 10_000] {
            let last = &found.steps[found.steps.len().saturating_sub(len)..];
            if let Some(finding) = self.find(last) {
                return finding;
            }
        }
        found
    }

    /// Without the commands of pipelines that can be left out.
    fn thin(self, mut best: Finding, deadline: Instant) -> Finding {
        let mut step = 0;
        while step < best.steps.len() {
            let mut size = commands(&best, step).div_ceil(2);
            while size > 0 && commands(&best, step) > 1 {
                let mut at = 0;
                while at < commands(&best, step) && Instant::now() < deadline {
                    let mut steps = best.steps.clone();
                    if let Step::Commands { commands, .. } = &mut steps[step] {
                        commands.drain(at..(at + size).min(commands.len()));
                    }
                    match self.find(&steps) {
                        Some(finding) => best = finding,
                        None => at += size,
                    }
                }
                size /= 2;
            }
            step += 1;
        }
        best
    }
}

/// How many commands a step consists of that can be left out; none of a story, and none of what is no
/// longer there.
fn commands(finding: &Finding, step: usize) -> usize {
    match finding.steps.get(step) {
        Some(Step::Commands { commands, .. }) => commands.len(),
        _ => 0,
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left_out = self.steps.len().saturating_sub(200);
        if left_out > 0 {
            writeln!(f, "  ({left_out} steps before)")?;
        }
        self.steps[left_out..].iter().try_for_each(|step| step.fmt(f))?;
        self.difference.fmt(f)
    }
}
