// SPDX-License-Identifier: Apache-2.0
//! [`Inputs`]: what a command on several sets at once is asked to do.

use super::super::double;
use super::algebra::{Aggregate, Input, Source};
use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use keyspace::View;
use values::{Entry, Type};

/// Which options a command has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Allowed {
    /// WEIGHTS and AGGREGATE.
    pub(super) combining: bool,
    pub(super) with_scores: bool,
    pub(super) limit: bool,
}

/// The sets that a command is about, and its options.
#[derive(Debug)]
pub(super) struct Inputs<'a> {
    keys: Args<'a>,
    /// One for each key, or none at all: then all are 1.
    weights: Vec<f64>,
    pub(super) aggregate: Aggregate,
    pub(super) with_scores: bool,
    /// How far the result is counted; 0 for no limit.
    pub(super) limit: usize,
}

impl<'a> Inputs<'a> {
    /// Reads the number of keys, which is argument `at`, and what is behind it. The keys are looked
    /// at before the options are.
    pub(super) fn read<V: View>(
        call: &mut Call<'a, V>,
        at: usize,
        allowed: Allowed,
    ) -> Result<Self, Fault> {
        let args = call.args.tail(at.saturating_add(1));
        let number = call.integer(at)?;
        if number < 1 {
            let name = call.spec.name;
            let text = format!("ERR at least 1 input key is needed for '{name}' command");
            return Err(Fault::made(text));
        }
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        if number > args.len() {
            return Err(Fault::SYNTAX);
        }
        let mut inputs = Inputs {
            keys: args.head(number),
            weights: Vec::new(),
            aggregate: Aggregate::Sum,
            with_scores: false,
            limit: 0,
        };
        for key in inputs.keys.iter() {
            match call.keys.any(key).map(Entry::data_type) {
                Some(Type::Zset | Type::Set) => {}
                Some(_) => return Err(Fault::WRONG_TYPE),
                None => call.missed(key),
            }
        }
        inputs.read_options(args.tail(number), allowed)?;
        Ok(inputs)
    }

    fn read_options(&mut self, mut words: Args<'_>, allowed: Allowed) -> Result<(), Fault> {
        let number = self.keys.len();
        while let Some(word) = words.get(0) {
            let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
            let values = words.tail(1);
            let taken = if allowed.combining && is(b"weights") && values.len() >= number {
                let weights = values.head(number).iter().map(double::parse);
                let weights = weights.collect::<Option<_>>();
                self.weights = weights.ok_or(Fault::new("ERR weight value is not a float"))?;
                number
            } else if allowed.combining && is(b"aggregate") && !values.is_empty() {
                self.aggregate = Aggregate::named(values.arg(0)).ok_or(Fault::SYNTAX)?;
                1
            } else if allowed.with_scores && is(b"withscores") {
                self.with_scores = true;
                0
            } else if allowed.limit && is(b"limit") && !values.is_empty() {
                self.limit = limit(values.arg(0))?;
                1
            } else {
                return Err(Fault::SYNTAX);
            };
            words = values.tail(taken);
        }
        Ok(())
    }

    /// The sets, in the order of their keys.
    pub(super) fn find<'k, V: View>(&self, keys: &'k Keys<'_, V>) -> Vec<Input<'k>> {
        let found = self.keys.iter().enumerate().map(|(at, key)| {
            let source = keys.peek(key).and_then(Source::of);
            Input { source, weight: self.weights.get(at).copied().unwrap_or(1.0) }
        });
        found.collect()
    }
}

fn limit(text: &[u8]) -> Result<usize, Fault> {
    let number = values::parse_i64(text).and_then(|number| usize::try_from(number).ok());
    number.ok_or(Fault::new("ERR LIMIT can't be negative"))
}
