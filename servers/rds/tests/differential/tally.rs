// SPDX-License-Identifier: Apache-2.0
//! [`Tally`]: counts of what was compared, which show what a run has covered.

use crate::reply::Reply;
use std::collections::BTreeMap;
use std::fmt;

/// Counts of one group of the tables.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    /// Commands, each of which was answered; stories count what is sent in them.
    pub(crate) commands: usize,
    /// Those that were sent together with others.
    pub(crate) in_pipelines: usize,
    /// Those that were queued in a transaction.
    pub(crate) in_transactions: usize,
    /// Those that were spoilt before.
    pub(crate) spoilt: usize,
    /// Errors among their replies, also among those in the reply to EXEC.
    pub(crate) errors: usize,
}

/// Counts by group.
#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<&'static str, Counts>);

impl Tally {
    /// The counts of a group.
    pub(crate) fn of(&mut self, group: &'static str) -> &mut Counts {
        self.0.entry(group).or_default()
    }

    /// How many commands there are in all groups.
    pub(crate) fn commands(&self) -> usize {
        self.0.values().map(|counts| counts.commands).sum()
    }

    /// Counts the errors among `replies` to a group.
    pub(crate) fn errors<'a>(
        &mut self,
        group: &'static str,
        replies: impl IntoIterator<Item = &'a Reply>,
    ) {
        self.of(group).errors += replies.into_iter().map(Reply::errors).sum::<usize>();
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let titles = ["commands", "in pipelines", "in MULTI", "spoilt", "errors"];
        let row = |f: &mut fmt::Formatter<'_>, name: &str, cells: [String; 5]| {
            write!(f, "{name:>15}")?;
            cells.iter().try_for_each(|cell| write!(f, "{cell:>14}"))?;
            writeln!(f)
        };
        row(f, "", titles.map(str::to_owned))?;
        let mut all = [0; 5];
        for (group, counts) in &self.0 {
            let Counts { commands, in_pipelines, in_transactions, spoilt, errors } = *counts;
            let counts = [commands, in_pipelines, in_transactions, spoilt, errors];
            all.iter_mut().zip(counts).for_each(|(all, count)| *all += count);
            row(f, group, counts.map(|count| count.to_string()))?;
        }
        row(f, "all", all.map(|count| count.to_string()))
    }
}
