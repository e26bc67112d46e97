// SPDX-License-Identifier: Apache-2.0
//! `[seg] goal` and `[seg] size_exponent`: one setting of `scored`, by name and by number.

use super::Seg;

config::choices! {
    /// What is to be missed as little as possible.
    #[derive(Default)]
    pub enum Goal {
        /// Requests, whatever the size of the item.
        #[default]
        Objects = "objects",
        /// The bytes of items that are asked for.
        Bytes = "bytes",
    }
}

impl Goal {
    const ALL: [Goal; 2] = [Goal::Objects, Goal::Bytes];

    /// How much an item's size counts against it.
    fn size_exponent(self) -> f64 {
        match self {
            Goal::Objects => 1.0,
            Goal::Bytes => 0.0,
        }
    }
}

impl Seg {
    /// The exponent that was given, or else that of the goal.
    pub(super) fn exponent(&self) -> f64 {
        self.size_exponent.unwrap_or_else(|| self.goal.unwrap_or_default().size_exponent())
    }

    /// The problem of an exponent that is none, or not that of the goal beside it.
    pub(super) fn exponent_problem(&self) -> Option<String> {
        let exponent = self.exponent();
        if !(0.0..=1.0).contains(&exponent) {
            Some(format!("{exponent} is not between 0 and 1"))
        } else if let Some(goal) = self.goal.filter(|goal| goal.size_exponent() != exponent) {
            let (name, own) = (goal.word(), goal.size_exponent());
            let part = format!("{exponent} is not that of goal = \"{name}\", which is {own}");
            Some(format!("{part}; give one of both"))
        } else {
            None
        }
    }

    /// Fills in what is absent of the two. An exponent between those of the goals has no name.
    pub fn settle_goal(&mut self) {
        let exponent = self.exponent();
        self.size_exponent = Some(exponent);
        let named = |goal: &Goal| goal.size_exponent() == exponent;
        self.goal = self.goal.or_else(|| Goal::ALL.into_iter().find(named));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{File, seg};
    use super::*;
    use config::Section;

    #[test]
    fn a_goal_is_an_exponent_by_name() {
        for (lines, exponent, goal) in [
            ("", 1.0, Some(Goal::Objects)),
            ("goal = \"objects\"", 1.0, Some(Goal::Objects)),
            ("goal = \"bytes\"", 0.0, Some(Goal::Bytes)),
            ("size_exponent = 0", 0.0, Some(Goal::Bytes)),
            ("size_exponent = 0.5", 0.5, None),
            ("goal = \"bytes\"\nsize_exponent = 0.0", 0.0, Some(Goal::Bytes)),
        ] {
            let mut seg = seg(lines);
            assert_eq!((seg.problem(), seg.exponent()), (None, exponent), "{lines}");
            seg.settle_goal();
            assert_eq!((seg.goal, seg.size_exponent), (goal, Some(exponent)), "{lines}");
            assert_eq!(seg.problem(), None, "what is shown can be read again: {lines}");
        }
        let error = config::parse::<File>("[seg]\ngoal = \"latency\"", "test.toml");
        assert!(error.expect_err("there is no such goal").to_string().contains("latency"));
    }

    #[test]
    fn an_exponent_that_is_not_the_goals_is_refused() {
        let problem = |lines: &str| seg(lines).problem().expect(lines);
        for (lines, expected) in [
            ("goal = \"objects\"\nsize_exponent = 0.5", "0.5 is not that of goal = \"objects\""),
            ("goal = \"bytes\"\nsize_exponent = 1.0", "1 is not that of goal = \"bytes\""),
            ("goal = \"bytes\"\nsize_exponent = 2.0", "2 is not between 0 and 1"),
            ("eviction = \"fifo\"\ngoal = \"bytes\"\nsize_exponent = 1.0", "1 is not that of"),
        ] {
            let (key, problem) = problem(lines);
            assert_eq!(key, "[seg] size_exponent");
            assert!(problem.starts_with(expected), "{problem}");
            let mut settled = seg(lines);
            settled.settle_goal();
            assert_eq!(settled.problem(), Some((key, problem)), "it is not hidden: {lines}");
        }
    }
}
