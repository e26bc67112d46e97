// SPDX-License-Identifier: Apache-2.0
//! The options of XADD and XTRIM.

use super::ids::{self, Wanted};
use super::message::Message;
use super::remove::references;
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use values::{References, Trim, TrimTo};

/// The most items that are trimmed at a time by whole nodes, unless a client says otherwise.
const LIMIT_MAX: usize = 1_000_000;

/// What is said before the id of a new item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options<'c> {
    /// Trim the stream.
    pub(super) trim: Option<Trim>,
    /// Make no stream if there is none.
    pub(super) no_new: bool,
    /// The item is a message that may come again.
    pub(super) message: Option<Message<'c>>,
    /// The id of the new item, which ends the options of XADD.
    pub(super) wanted: Option<Wanted>,
}

impl<'c> Options<'c> {
    /// Reads options, up to and with the id of a new item if that is for XADD. What is left of the arguments.
    pub(super) fn parse(
        args: Args<'c>,
        adds: bool,
        node_max: usize,
    ) -> Result<(Self, Args<'c>), Fault> {
        let mut reading = Reading::default();
        let mut rest = args;
        while let Some(word) = rest.get(0) {
            match reading.option(word, rest.tail(1), adds)? {
                Some(taken) => rest = rest.tail(taken),
                None if adds => {
                    reading.wanted = Some(Wanted::parse(word)?);
                    rest = rest.tail(1);
                    break;
                }
                None => return Err(Fault::SYNTAX),
            }
        }
        Ok((reading.finish(adds, node_max)?, rest))
    }
}

/// Options as far as they are read.
#[derive(Debug, Default)]
struct Reading<'c> {
    to: Option<TrimTo>,
    by_nodes: bool,
    limit: Option<usize>,
    no_new: bool,
    references: Option<References>,
    message: Option<Message<'c>>,
    wanted: Option<Wanted>,
}

impl<'c> Reading<'c> {
    /// Reads an option; how many arguments it has with its name. `None`: it is none.
    fn option(&mut self, word: &[u8], args: Args<'c>, adds: bool) -> Result<Option<usize>, Fault> {
        let is = |name: &[u8]| word.eq_ignore_ascii_case(name) && !args.is_empty();
        if is(b"maxlen") || is(b"minid") {
            return self.bound(is(b"maxlen"), args).map(Some);
        }
        if is(b"limit") {
            let limit = args.integer(0)?;
            let negative = Fault::new("ERR The LIMIT argument must be >= 0.");
            self.limit = Some(usize::try_from(limit).map_err(|_| negative)?);
            return Ok(Some(2));
        }
        if adds && word.eq_ignore_ascii_case(b"nomkstream") {
            self.no_new = true;
            return Ok(Some(1));
        }
        if let Some(references) = references(word) {
            let before = self.references.replace(references);
            return if before.is_none() { Ok(Some(1)) } else { Err(Fault::SYNTAX) };
        }
        if adds && let Some((message, taken)) = Message::parse(word, args)? {
            if self.message.replace(message).is_some() {
                return Err(Fault::new("ERR IDMP/IDMPAUTO specified multiple times"));
            }
            return Ok(Some(taken));
        }
        Ok(None)
    }

    /// Reads what stands behind MAXLEN or MINID; how many arguments that is with the name.
    fn bound(&mut self, by_length: bool, args: Args<'_>) -> Result<usize, Fault> {
        if self.to.is_some() {
            return Err(Fault::new(
                "ERR syntax error, MAXLEN and MINID options at the same time are not compatible",
            ));
        }
        let mark = args.get(0).filter(|mark| args.len() > 1 && matches!(*mark, b"~" | b"="));
        self.by_nodes = mark == Some(b"~");
        let at = usize::from(mark.is_some());
        self.to = Some(if by_length {
            let negative = Fault::new("ERR The MAXLEN argument must be >= 0.");
            let length = args.integer(at)?;
            TrimTo::Length(usize::try_from(length).map_err(|_| negative)?)
        } else {
            TrimTo::Id(ids::exact(args.arg(at))?)
        });
        Ok(at.saturating_add(2))
    }

    fn finish(self, adds: bool, node_max: usize) -> Result<Options<'c>, Fault> {
        let Reading { to, by_nodes, limit, no_new, references, message, wanted } = self;
        let not_by_nodes =
            Fault::new("ERR syntax error, LIMIT cannot be used without the special ~ option");
        let Some(to) = to else {
            return match limit {
                Some(1..) => Err(Fault::new(
                    "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy",
                )),
                Some(0) if adds => Err(not_by_nodes),
                None if adds => Ok(Options { trim: None, no_new, message, wanted }),
                _ => Err(Fault::new(
                    "ERR syntax error, XTRIM must be called with a trimming strategy",
                )),
            };
        };
        let limit = match limit {
            Some(_) if !by_nodes => return Err(not_by_nodes),
            Some(0) => None,
            Some(limit) => Some(limit),
            None if !by_nodes => None,
            None if node_max == 0 => Some(10_000),
            None => Some(node_max.saturating_mul(100).min(LIMIT_MAX)),
        };
        let references = references.unwrap_or_default();
        let trim = Some(Trim { to, by_nodes, limit, references });
        Ok(Options { trim, no_new, message, wanted })
    }
}
