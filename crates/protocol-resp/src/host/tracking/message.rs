// SPDX-License-Identifier: Apache-2.0
//! [`Message`]: tells clients that keys have changed.

use crate::session::client::Client;
use crate::wire::reply::{Version, Writer};
use bytes::Bytes;
use protocol::Outbox;

/// The channel on which clients that speak RESP2 get the invalidations that are redirected to them.
const CHANNEL: &[u8] = b"__redis__:invalidate";

/// What has become invalid.
#[derive(Clone, Copy, Debug)]
pub(super) enum Invalid<'a> {
    /// All keys.
    All,
    /// These.
    Keys(&'a [&'a [u8]]),
}

/// A message, encoded once for all clients that get it in the same form.
#[derive(Debug)]
pub(super) struct Message<'a> {
    invalid: Invalid<'a>,
    pushed: Option<Bytes>,
    published: Option<Bytes>,
}

impl<'a> Message<'a> {
    pub(super) fn new(invalid: Invalid<'a>) -> Self {
        Message { invalid, pushed: None, published: None }
    }

    /// Sends it on behalf of a client that caches keys: to that client, or to the one that gets its messages.
    /// If that is gone, the client is told so instead.
    pub(super) fn send(&mut self, tracker: &Client, outbox: &mut Outbox) {
        let redirect = tracker.redirect.lock();
        let Some(target) = &*redirect else {
            if tracker.version() == Version::Resp3 {
                outbox.push(tracker.id, self.pushed());
            }
            return;
        };
        if target.is(Client::CLOSING) {
            tracker.set(Client::REDIRECT_BROKEN, true);
            if tracker.version() == Version::Resp3 {
                outbox.push(tracker.id, broken(target));
            }
        } else {
            self.deliver(target, outbox);
        }
    }

    /// Sends it to a client that gets the messages of others: in RESP2 only if it listens to channels, where it
    /// expects messages.
    pub(super) fn deliver(&mut self, target: &Client, outbox: &mut Outbox) {
        if target.version() == Version::Resp3 {
            outbox.push(target.id, self.pushed());
        } else if target.is(Client::SUBSCRIBER) {
            outbox.push(target.id, self.published());
        }
    }

    fn pushed(&mut self) -> Bytes {
        let invalid = self.invalid;
        let encode = || encode(&[b"invalidate"], invalid, Version::Resp3);
        self.pushed.get_or_insert_with(encode).clone()
    }

    fn published(&mut self) -> Bytes {
        let invalid = self.invalid;
        let encode = || encode(&[b"message", CHANNEL], invalid, Version::Resp2);
        self.published.get_or_insert_with(encode).clone()
    }
}

fn encode(words: &[&[u8]], invalid: Invalid<'_>, version: Version) -> Bytes {
    let mut bytes = Vec::new();
    let mut out = Writer::new(&mut bytes, version);
    out.push(words.len() + 1);
    words.iter().for_each(|word| out.bulk(word));
    match invalid {
        Invalid::All => out.null(),
        Invalid::Keys(keys) => {
            out.array(keys.len());
            keys.iter().for_each(|key| out.bulk(key));
        }
    }
    // It may wait for long.
    bytes.shrink_to_fit();
    Bytes::from(bytes)
}

/// Tells a client that the one that gets its messages is gone.
fn broken(target: &Client) -> Bytes {
    let mut bytes = Vec::new();
    let mut out = Writer::new(&mut bytes, Version::Resp3);
    out.push(2);
    out.bulk(b"tracking-redir-broken");
    out.integer(target.id.serial() as i64);
    Bytes::from(bytes)
}
