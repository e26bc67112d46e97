// SPDX-License-Identifier: Apache-2.0
//! Several sets at once: ZUNION, ZINTER, ZDIFF, which show the result; ZUNIONSTORE, ZINTERSTORE,
//! ZDIFFSTORE, which keep it; ZINTERCARD, which counts it.

use super::algebra;
use super::event;
use super::inputs::{Allowed, Inputs};
use super::shape::Shape;
use crate::engine::call::Call;
use crate::wire::fault::Done;
use keyspace::View;
use std::ops::ControlFlow;
use values::{NewZset, Scores};

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// What is in any of the sets.
    Unite,
    /// What is in all of them.
    Intersect,
    /// What is in the first alone.
    Subtract,
}

/// Shows what is in any of the sets.
pub(crate) fn zunion<V: View>(call: &mut Call<'_, V>) -> Done {
    show(call, Operation::Unite)
}

/// Shows what is in all of the sets.
pub(crate) fn zinter<V: View>(call: &mut Call<'_, V>) -> Done {
    show(call, Operation::Intersect)
}

/// Shows what is in the first set alone.
pub(crate) fn zdiff<V: View>(call: &mut Call<'_, V>) -> Done {
    show(call, Operation::Subtract)
}

/// Keeps what is in any of the sets.
pub(crate) fn zunionstore<V: View>(call: &mut Call<'_, V>) -> Done {
    store(call, Operation::Unite, "zunionstore")
}

/// Keeps what is in all of the sets.
pub(crate) fn zinterstore<V: View>(call: &mut Call<'_, V>) -> Done {
    store(call, Operation::Intersect, "zinterstore")
}

/// Keeps what is in the first set alone.
pub(crate) fn zdiffstore<V: View>(call: &mut Call<'_, V>) -> Done {
    store(call, Operation::Subtract, "zdiffstore")
}

/// Writes the result as the reply.
fn show<V: View>(call: &mut Call<'_, V>, operation: Operation) -> Done {
    let combining = operation != Operation::Subtract;
    let allowed = Allowed { combining, with_scores: true, limit: false };
    let inputs = Inputs::read(call, 1, allowed)?;
    let result = combined(call, &inputs, operation);
    let shape = Shape::new(inputs.with_scores, call.out.version());
    shape.write_all(&mut call.out, result.in_order());
    Ok(())
}

/// Puts the result under the key that is named first, in place of what is there.
fn store<V: View>(call: &mut Call<'_, V>, operation: Operation, name: &'static str) -> Done {
    let combining = operation != Operation::Subtract;
    let inputs = Inputs::read(call, 2, Allowed { combining, ..Allowed::default() })?;
    let destination = call.arg(1);
    let result = combined(call, &inputs, operation);
    let mut made = NewZset::new(destination);
    made.edit(call.keys.limits).fill(result);
    call.store_zset(destination, made, event(name));
    Ok(())
}

/// The members of the result.
fn combined<V: View>(call: &Call<'_, V>, inputs: &Inputs<'_>, operation: Operation) -> Scores {
    let found = inputs.find(&call.keys);
    let mut result = Scores::new();
    match operation {
        Operation::Unite => return algebra::unite(&found, inputs.aggregate),
        Operation::Intersect => algebra::intersect(&found, inputs.aggregate, |member, score| {
            result.add(member, score);
            ControlFlow::Continue(())
        }),
        Operation::Subtract => algebra::subtract(&found, |member, score| result.add(member, score)),
    }
    result
}

/// Counts what is in all of the sets, up to a limit if one is given.
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
pub(crate) fn zintercard<V: View>(call: &mut Call<'_, V>) -> Done {
    let inputs = Inputs::read(call, 1, Allowed { limit: true, ..Allowed::default() })?;
    let mut count = 0;
    algebra::intersect(&inputs.find(&call.keys), inputs.aggregate, |_, _| {
        count += 1;
        if count == inputs.limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    call.out.count(count);
    Ok(())
}
