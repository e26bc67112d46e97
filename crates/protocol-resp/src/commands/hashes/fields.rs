// SPDX-License-Identifier: Apache-2.0
//! How commands on the expiry of fields name them: `FIELDS 2 name token`.

use crate::wire::fault::Fault;
use crate::wire::parse::Args;

/// The fields of a command whose argument at `at` is the word `FIELDS`. `not_positive` is the error
/// for a number of fields that is none.
#[expect(clippy::arithmetic_side_effects, reason = "positions among the arguments")]
pub(super) fn parse<'a>(
    args: Args<'a>,
    at: usize,
    not_positive: &'static str,
) -> Result<Args<'a>, Fault> {
    if !args.get(at).is_some_and(|word| word.eq_ignore_ascii_case(b"fields")) {
        let text = "ERR Mandatory argument FIELDS is missing or not at the right position";
        return Err(Fault::new(text));
    }
    let number = args.get(at + 1).and_then(values::parse_i64).filter(|number| *number > 0);
    let number = number.ok_or(Fault::new(not_positive))?;
    let fields = args.tail(at + 2);
    if i64::try_from(fields.len()) != Ok(number) {
        let text = "ERR The `numfields` parameter must match the number of arguments";
        return Err(Fault::new(text));
    }
    Ok(fields)
}

/// What most commands say of a number of fields that is none.
pub(super) const NOT_POSITIVE: &str = "ERR Number of fields must be a positive integer";
