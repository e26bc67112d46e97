// SPDX-License-Identifier: Apache-2.0
//! Messages that producers may send again without adding them twice: IDMP and IDMPAUTO of XADD, and XCFGSET.

use super::stream_mut;
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use values::Type;

/// For how many seconds messages may be known.
const SECONDS: RangeInclusive<u32> = 1..=86_400;

/// How many messages of a producer may be known.
const MESSAGES: RangeInclusive<u32> = 1..=10_000;

/// What a producer says of an item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'c> {
    producer: &'c [u8],
    /// The producer's name for the message; `None`: its fields and values.
    name: Option<&'c [u8]>,
}

impl<'c> Message<'c> {
    /// Reads an option, and how many arguments it has with its name; `None` if it is none.
    pub(super) fn parse(word: &[u8], args: Args<'c>) -> Result<Option<(Self, usize)>, Fault> {
        let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
        let (message, taken) = match (args.get(0), args.get(1)) {
            (Some(producer), Some(name)) if is(b"idmp") => {
                (Message { producer, name: Some(name) }, 3)
            }
            (Some(producer), _) if is(b"idmpauto") => (Message { producer, name: None }, 2),
            _ => return Ok(None),
        };
        let missing = match (message.producer, message.name) {
            (b"", Some(_)) => Some("ERR IDMP requires a non-empty producer ID"),
            (b"", None) => Some("ERR IDMPAUTO requires a non-empty producer ID"),
            (_, Some(b"")) => Some("ERR IDMP requires a non-empty idempotent ID"),
            _ => None,
        };
        missing.map_or(Ok(Some((message, taken))), |text| Err(Fault::new(text)))
    }

    /// The producer, and the name of the message with these fields and values.
    pub(super) fn of(&self, pairs: Args<'_>) -> (&'c [u8], Cow<'c, [u8]>) {
        (self.producer, self.name.map_or_else(|| digest(pairs).into(), Cow::Borrowed))
    }
}

/// A digest of fields and values, whatever their order.
fn digest(pairs: Args<'_>) -> Vec<u8> {
    let mut pairs: Vec<[&[u8]; 2]> = pairs.pairs().collect();
    pairs.sort_unstable();
    let mut digest = Sha256::new();
    for text in pairs.iter().flatten() {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    digest.finalize().to_vec()
}

/// Reads a number within bounds.
fn within(text: &[u8], bounds: RangeInclusive<u32>, error: &'static str) -> Result<u32, Fault> {
    let number = values::parse_i64(text).ok_or(Fault::NOT_INTEGER)?;
    let number = u32::try_from(number).ok().filter(|number| bounds.contains(number));
    number.ok_or(Fault::new(error))
}

/// Sets for how long, and how many messages of each producer a stream knows.
pub(crate) fn xcfgset<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, mut options) = (call.arg(1), call.args.tail(2));
    if options.is_empty() {
        return Err(Fault::new(
            "ERR At least one parameter (IDMP-DURATION or IDMP-MAXSIZE) is required",
        ));
    }
    let (mut seconds, mut messages) = (None, None);
    while let Some(word) = options.get(0) {
        let value = options.get(1).ok_or(Fault::SYNTAX)?;
        if word.eq_ignore_ascii_case(b"idmp-duration") {
            let error = "ERR IDMP-DURATION must be between 1 and 86400 seconds";
            seconds = Some(within(value, SECONDS, error)?);
        } else if word.eq_ignore_ascii_case(b"idmp-maxsize") {
            let error = "ERR IDMP-MAXSIZE must be between 1 and 10000 entries";
            messages = Some(within(value, MESSAGES, error)?);
        } else {
            return Err(Fault::SYNTAX);
        }
        options = options.tail(2);
    }
    let limits = call.keys.limits;
    let mut entry = call.keys.get_mut(key, Type::Stream)?.ok_or(Fault::NO_SUCH_KEY)?;
    stream_mut(&mut entry, limits)?.set_idempotence(seconds, messages);
    drop(entry);
    call.worker.changes = call.worker.changes.saturating_add(1);
    call.out.ok();
    Ok(())
}
