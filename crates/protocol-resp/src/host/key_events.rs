// SPDX-License-Identifier: Apache-2.0
//! [`KeyEvents`]: clients that watch keys, wait for keys or subscribe to key events, and how they
//! are notified.

use crate::host::channels::Channels;
use crate::host::events::{Event, Wanted};
use crate::host::interest::Interest;
use crate::host::waiters::Waiters;
use crate::host::watches::Watches;
use crate::session::connection::Resp;
use crate::session::waiting::{Waiter, Waiting};
use keyspace::{Gone, Reason};
use protocol::Outbox;
use std::collections::VecDeque;

/// The clients that watch keys, wait for keys, and subscribe to key events.
#[derive(Debug, Default)]
pub(crate) struct KeyEvents {
    /// Whether there are any such clients.
    interest: Interest,
    watches: Watches,
    waiters: Waiters,
    /// The channels on which events are published, and on which clients publish as well.
    channels: Channels,
}

impl KeyEvents {
    /// Whether any client is interested in changes of keys.
    #[inline]
    pub(crate) fn has_audience(&self) -> bool {
        self.interest.any()
    }

    /// Whether any client waits for a key.
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        self.interest.is_awaited()
    }

    /// The channels, on which clients publish as well.
    pub(crate) fn channels(&self) -> &Channels {
        &self.channels
    }

    /// The clients that wait for keys.
    #[inline]
    pub(crate) fn waiters(&self) -> &Waiters {
        &self.waiters
    }

    /// Which events are published.
    pub(crate) fn wanted(&self) -> Wanted {
        self.interest.wanted()
    }

    /// Changes which events are published.
    pub(crate) fn want(&self, wanted: Wanted) {
        self.interest.want(wanted);
    }

    /// Called when a key was changed: marks its watchers, adds it to `ready` if clients wait for
    /// it, and publishes the event. The caller holds the lock of the key's shard.
    pub(crate) fn changed(
        &self,
        db: usize,
        key: &[u8],
        event: Event,
        ready: &mut VecDeque<(usize, Box<[u8]>)>,
        outbox: &mut Outbox,
    ) {
        if self.interest.is_watched() {
            self.watches.touch(db, key);
        }
        if self.interest.is_awaited() && self.waiters.may_await(key) {
            ready.push_back((db, key.into()));
        }
        self.notify(db, key, event, outbox);
    }

    /// Publishes an event of a key, if it is wanted.
    pub(crate) fn notify(&self, db: usize, key: &[u8], event: Event, outbox: &mut Outbox) {
        let wanted = self.interest.wanted();
        if !wanted.includes(event.class) {
            return;
        }
        if wanted.is_keyspace() {
            let mut channel = format!("__keyspace@{db}__:").into_bytes();
            channel.extend_from_slice(key);
            self.channels.publish(&channel, event.name.as_bytes(), outbox);
        }
        if wanted.is_keyevent() {
            let channel = format!("__keyevent@{db}__:{}", event.name);
            self.channels.publish(channel.as_bytes(), key, outbox);
        }
    }

    /// Called when the keyspace removed an entry by itself.
    pub(crate) fn tell_gone(&self, gone: Gone<'_>, outbox: &mut Outbox) {
        if self.interest.is_watched() {
            if gone.reason == Reason::Expired {
                self.watches.touch_expired(gone.db, gone.key);
            } else {
                self.watches.touch(gone.db, gone.key);
            }
        }
        let event = match gone.reason {
            Reason::Expired => Event::EXPIRED,
            Reason::Evicted => Event::EVICTED,
            Reason::FieldExpired => Event::FIELD_EXPIRED,
            Reason::Emptied => Event::DEL,
        };
        self.notify(gone.db, gone.key, event, outbox);
    }

    /// Marks the watchers of all keys of database `db` for which `changed` returns true. The caller holds all
    /// locks.
    pub(crate) fn touch_all(&self, db: usize, changed: impl FnMut(&[u8]) -> bool) {
        if self.interest.is_watched() {
            self.watches.touch_all(db, changed);
        }
    }

    /// Makes a connection watch a key. The caller holds the lock of the key's shard.
    pub(crate) fn watch(&self, conn: &mut Resp, db: usize, key: &[u8], was_there: bool) {
        if conn.watching.add(db, key, was_there) {
            self.watches.watch(&self.interest, db, key, &conn.watching.mark(), was_there);
        }
    }

    /// Ends all watches of a connection.
    pub(crate) fn unwatch(&self, conn: &mut Resp) {
        if conn.watching.keys().len() > 0 {
            let mark = conn.watching.mark();
            for (db, key) in conn.watching.take().into_keys() {
                self.watches.unwatch(&self.interest, db, &key, &mark);
            }
            // Marks are set under the lock of the table. This one is no longer in the table, so nobody sets
            // it now.
            conn.watching.unmark();
        }
        conn.note_transaction();
    }

    /// Makes a client wait. The caller holds the locks of all its keys.
    pub(crate) fn wait(&self, waiter: Waiter) -> Waiting {
        self.waiters.enter(&self.interest, waiter)
    }

    /// Removes a client from the waiting clients; returns whether it was still there. Only the caller that
    /// removed it may reply to it.
    pub(crate) fn stop_waiting(&self, waiter: &Waiter) -> bool {
        self.waiters.take(&self.interest, waiter)
    }
}
