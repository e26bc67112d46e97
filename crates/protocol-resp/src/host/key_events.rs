// SPDX-License-Identifier: Apache-2.0
//! [`KeyEvents`]: who cares for changes of keys, and how they are told.

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

/// Those who watch keys, wait for keys, and listen to what happens to keys.
#[derive(Debug, Default)]
pub(crate) struct KeyEvents {
    /// Whether there is anybody.
    interest: Interest,
    watches: Watches,
    waiters: Waiters,
    /// Clients publish here, too.
    channels: Channels,
}

impl KeyEvents {
    /// Whether a change of a key interests anybody.
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

    /// The clients that wait.
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

    /// Passes on that a key was changed: to those who watch it, to `ready` if clients wait for it,
    /// and to those who listen. The caller holds the lock of the key's shard.
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

    /// Passes on that the keyspace removed an entry by itself.
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

    /// Marks those who watch a key of database `db` of which `changed` says so. The caller holds all
    /// locks.
    pub(crate) fn touch_all(&self, db: usize, changed: impl FnMut(&[u8]) -> bool) {
        if self.interest.is_watched() {
            self.watches.touch_all(db, changed);
        }
    }

    /// Lets a connection watch a key. The caller holds the lock of its shard.
    pub(crate) fn watch(&self, conn: &mut Resp, db: usize, key: &[u8], was_there: bool) {
        if conn.watching.add(db, key, was_there) {
            self.watches.watch(&self.interest, db, key, &conn.watching.mark(), was_there);
        }
    }

    /// Lets a connection watch nothing any more.
    pub(crate) fn unwatch(&self, conn: &mut Resp) {
        if conn.watching.keys().len() > 0 {
            let mark = conn.watching.mark();
            for (db, key) in conn.watching.take().into_keys() {
                self.watches.unwatch(&self.interest, db, &key, &mark);
            }
            // Marks are set under the lock of the table that this one is no longer in: nobody does now.
            conn.watching.unmark();
        }
        conn.note_transaction();
    }

    /// Lets a client wait. The caller holds the locks of all its keys.
    pub(crate) fn wait(&self, waiter: Waiter) -> Waiting {
        self.waiters.enter(&self.interest, waiter)
    }

    /// Takes a client out of those who wait; whether it was still among them. Only who took it out may
    /// answer it.
    pub(crate) fn stop_waiting(&self, waiter: &Waiter) -> bool {
        self.waiters.take(&self.interest, waiter)
    }
}
