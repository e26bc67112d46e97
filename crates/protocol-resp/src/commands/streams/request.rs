// SPDX-License-Identifier: Apache-2.0
//! The arguments of XREAD and XREADGROUP.

use super::super::options::timeout_ms;
use super::ids;
use crate::session::waiting::ReadLimits;
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use std::time::Duration;
use values::StreamId;

/// What a client wants to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'c> {
    pub(super) limits: ReadLimits,
    /// For how long it waits if there are none; zero is for ever.
    pub(super) block: Option<Duration>,
    pub(super) keys: Args<'c>,
    /// For each key, behind which item it wants to read.
    pub(super) ids: Args<'c>,
    /// The group, and the consumer of the group, for whom it reads.
    pub(super) group: Option<(&'c [u8], &'c [u8])>,
    /// What is read needs no acknowledgement.
    pub(super) no_ack: bool,
    /// What others have had for so many milliseconds is read, too.
    pub(super) claim_ms: Option<u64>,
}

/// Behind which item a client wants to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    Id(StreamId),
    /// `$`: behind the last.
    Last,
    /// `+`: the last itself.
    BeforeLast,
    /// `>`: behind what the group was given.
    Group,
}

impl After {
    pub(super) fn parse(text: &[u8]) -> Result<Self, Fault> {
        match text {
            b"$" => Ok(After::Last),
            b"+" => Ok(After::BeforeLast),
            b">" => Ok(After::Group),
            text => ids::exact(text).map(After::Id),
        }
    }
}

impl<'c> Request<'c> {
    /// Reads the arguments of XREADGROUP, if it is `for_group`, or of XREAD.
    pub(super) fn parse(args: Args<'c>, unix_ms: u64, for_group: bool) -> Result<Self, Fault> {
        let mut request = Request {
            limits: ReadLimits::NONE,
            block: None,
            keys: args.head(0),
            ids: args.head(0),
            group: None,
            no_ack: false,
            claim_ms: None,
        };
        let mut rest = args.tail(1);
        while let Some(word) = rest.get(0) {
            let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
            let taken = match rest.get(1) {
                Some(text) if is(b"block") => {
                    request.block = Some(timeout_ms(text, unix_ms)?);
                    2
                }
                Some(text) if is(b"count") => {
                    request.limits.items = count(text)?;
                    2
                }
                Some(text) if is(b"maxcount") => {
                    request.limits.items_in_all =
                        positive(text, "ERR MAXCOUNT must be a positive integer")?;
                    2
                }
                Some(text) if is(b"maxsize") => {
                    request.limits.bytes =
                        positive(text, "ERR MAXSIZE must be a positive integer")?;
                    2
                }
                Some(_) if is(b"streams") => {
                    request.split_streams(rest.tail(1), for_group)?;
                    break;
                }
                Some(group) if is(b"group") && rest.len() > 2 => {
                    request.group = Some((group, rest.arg(2)));
                    only_for_groups("GROUP", for_group)?;
                    3
                }
                Some(text) if is(b"claim") => {
                    request.claim_ms = Some(claim_ms(text)?);
                    only_for_groups("CLAIM", for_group)?;
                    2
                }
                _ if is(b"noack") => {
                    request.no_ack = true;
                    only_for_groups("NOACK", for_group)?;
                    1
                }
                _ => return Err(Fault::SYNTAX),
            };
            rest = rest.tail(taken);
        }
        if request.keys.is_empty() {
            return Err(Fault::SYNTAX);
        }
        if for_group && request.group.is_none() {
            return Err(Fault::new("ERR Missing GROUP option for XREADGROUP"));
        }
        request.limits.check()?;
        Ok(request)
    }

    /// Splits what stands behind STREAMS into keys and ids.
    fn split_streams(&mut self, streams: Args<'c>, for_group: bool) -> Result<(), Fault> {
        if !streams.len().is_multiple_of(2) {
            return Err(Fault::new(if for_group {
                "ERR Unbalanced 'xreadgroup' list of streams: for each stream key an ID or '>' must \
                 be specified."
            } else {
                "ERR Unbalanced 'xread' list of streams: for each stream key an ID, '+', or '$' must \
                 be specified."
            }));
        }
        let half = streams.len() / 2;
        (self.keys, self.ids) = (streams.head(half), streams.tail(half));
        Ok(())
    }
}

fn only_for_groups(option: &str, for_group: bool) -> Result<(), Fault> {
    if for_group {
        return Ok(());
    }
    Err(Fault::made(format!(
        "ERR The {option} option is only supported by XREADGROUP. You called XREAD instead."
    )))
}

/// For how long others must have had what is claimed.
fn claim_ms(text: &[u8]) -> Result<u64, Fault> {
    let number = values::parse_i64(text);
    let number = number.ok_or(Fault::new("ERR min-idle-time is not an integer"))?;
    u64::try_from(number).map_err(|_| Fault::new("ERR min-idle-time must be a positive integer"))
}

/// The most items; none and fewer are all.
fn count(text: &[u8]) -> Result<usize, Fault> {
    let number = values::parse_i64(text).ok_or(Fault::NOT_INTEGER)?;
    Ok(usize::try_from(number).ok().filter(|count| *count > 0).unwrap_or(usize::MAX))
}

/// A number above zero; otherwise the refusal has this text.
fn positive(text: &[u8], refusal: &'static str) -> Result<usize, Fault> {
    let number = values::parse_i64(text).and_then(|number| usize::try_from(number).ok());
    number.filter(|number| *number > 0).ok_or(Fault::new(refusal))
}
