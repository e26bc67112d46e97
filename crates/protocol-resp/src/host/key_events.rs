// SPDX-License-Identifier: Apache-2.0
//! [`KeyEvents`]: clients that watch keys, wait for keys, cache keys or subscribe to key events, and how
//! they are notified.

use crate::host::channels::Channels;
use crate::host::events::{Event, Wanted};
use crate::host::interest::Interest;
use crate::host::tracking::{Broadcast, Tracking};
use crate::host::waiters::Waiters;
use crate::host::watches::Watches;
use crate::session::connection::Resp;
use crate::session::waiting::{Waiter, Waiting};
use crate::session::watching::Mark;
use keyspace::{Gone, Reason, Settings};
use protocol::{ConnectionId, Outbox};
use std::collections::VecDeque;

/// The clients that watch keys, wait for keys, cache keys, and subscribe to key events.
#[derive(Debug, Default)]
pub(crate) struct KeyEvents {
    /// Whether there are any such clients.
    interest: Interest,
    watches: Watches,
    waiters: Waiters,
    tracking: Tracking,
    /// The channels on which events are published, and on which clients publish as well.
    channels: Channels,
}

/// What changes of keys leave a worker to do.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// Keys for which clients wait, each with its database: these clients are served by the command.
    pub(crate) ready: VecDeque<(usize, Box<[u8]>)>,
    /// Keys of which clients are told before the worker writes replies, and at the end of its turn.
    pub(crate) broadcast: Broadcast,
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

    /// The clients that cache keys.
    #[inline]
    pub(crate) fn tracking(&self) -> &Tracking {
        &self.tracking
    }

    /// Which events are published.
    pub(crate) fn wanted(&self) -> Wanted {
        self.interest.wanted()
    }

    /// Changes which events are published.
    pub(crate) fn want(&self, wanted: Wanted) {
        self.interest.want(wanted);
    }

    /// Called when the client `by` has changed a key: marks its watchers, tells those who cache it, leaves it
    /// to be served if clients wait for it, and publishes the event, which may be one of fields. The caller holds
    /// the lock of the key's shard.
    pub(crate) fn changed(
        &self,
        (db, key): (usize, &[u8]),
        (event, fields): (Event, &[&[u8]]),
        by: ConnectionId,
        pending: &mut Pending,
        outbox: &mut Outbox,
    ) {
        if self.interest.is_watched() {
            self.watches.touch(db, key);
        }
        if self.interest.is_tracked() {
            self.tracking.changed(key, Some(by), &mut pending.broadcast, outbox);
        }
        if self.interest.is_awaited() && self.waiters.may_await(key) {
            pending.ready.push_back((db, key.into()));
        }
        self.notify_fields(db, key, event, fields, outbox);
    }

    /// Publishes an event of a key, if it is wanted.
    pub(crate) fn notify(&self, db: usize, key: &[u8], event: Event, outbox: &mut Outbox) {
        self.notify_fields::<&[u8]>(db, key, event, &[], outbox);
    }

    /// Publishes an event of fields of a key, if it is wanted.
    pub(crate) fn notify_fields<F: AsRef<[u8]>>(
        &self,
        db: usize,
        key: &[u8],
        event: Event,
        fields: &[F],
        outbox: &mut Outbox,
    ) {
        let wanted = self.interest.wanted();
        if !wanted.includes(event.class) {
            return;
        }
        let name = event.name.as_bytes();
        let db = db.to_string();
        let mut publish = |kind: &str, channel: &[&[u8]], message: &[u8]| {
            let mut parts = vec![kind.as_bytes(), b"@", db.as_bytes(), b"__:"];
            parts.extend_from_slice(channel);
            self.channels.publish(&parts.concat(), message, outbox);
        };
        if wanted.is_keyspace() {
            publish("__keyspace", &[key], name);
        }
        if wanted.is_keyevent() {
            publish("__keyevent", &[name], key);
        }
        if fields.is_empty() || !wanted.names_fields() {
            return;
        }
        let listed = listed(fields);
        if wanted.is_subkeyspace() {
            publish("__subkeyspace", &[key], &[name, b"|", &listed].concat());
        }
        if wanted.is_subkeyevent() {
            let length = key.len().to_string();
            let message = [length.as_bytes(), b":", key, b"|", &listed].concat();
            publish("__subkeyevent", &[name], &message);
        }
        // Nobody could tell where such a key ends.
        if wanted.is_subkeyspaceitem() && !key.contains(&b'\n') {
            for field in fields {
                publish("__subkeyspaceitem", &[key, b"\n", field.as_ref()], name);
            }
        }
        if wanted.is_subkeyspaceevent() {
            publish("__subkeyspaceevent", &[name, b"|", key], &listed);
        }
    }

    /// Called when the keyspace removed an entry by itself.
    pub(crate) fn tell_gone(&self, gone: Gone<'_>, pending: &mut Pending, outbox: &mut Outbox) {
        if self.interest.is_tracked() {
            self.tracking.changed(gone.key, None, &mut pending.broadcast, outbox);
        }
        if self.interest.is_watched() {
            if gone.reason == Reason::Expired {
                self.watches.touch_expired(gone.db, gone.key);
            } else {
                self.watches.touch(gone.db, gone.key);
            }
        }
        if self.waiters.has_group_readers() && self.waiters.may_await(gone.key) {
            pending.ready.push_back((gone.db, gone.key.into()));
        }
        let event = match gone.reason {
            Reason::Expired => Event::EXPIRED,
            Reason::Evicted => Event::EVICTED,
            Reason::FieldExpired => Event::FIELD_EXPIRED,
            Reason::Emptied => Event::DEL,
        };
        self.notify_fields(gone.db, gone.key, event, gone.fields, outbox);
    }

    /// Marks the watchers of all keys of database `db` for which `changed` returns true. The caller holds all
    /// locks.
    pub(crate) fn touch_all(&self, db: usize, changed: impl FnMut(&[u8]) -> bool) {
        if self.interest.is_watched() {
            self.watches.touch_all(db, changed);
        }
    }

    /// Tells clients that cache keys that all keys have changed. The caller holds all locks.
    pub(crate) fn all_changed(&self, outbox: &mut Outbox) {
        if self.interest.is_tracked() {
            self.tracking.all_changed(outbox);
        }
    }

    /// Begins to track the keys that a connection reads, or all keys with certain prefixes; or changes how.
    pub(crate) fn track(&self, conn: &mut Resp, prefixes: &[&[u8]], settings: &Settings) {
        if !conn.is_tracker {
            // It must know of keys that commands find expired.
            settings.add_listener();
        }
        self.tracking.begin(&self.interest, conn, prefixes);
    }

    /// Ends that.
    pub(crate) fn untrack(&self, conn: &mut Resp, settings: &Settings) {
        if conn.is_tracker {
            settings.remove_listener();
            self.tracking.end(&self.interest, conn);
        }
    }

    /// Makes a connection watch a key. The caller holds the lock of the key's shard.
    pub(crate) fn watch(&self, conn: &mut Resp, db: usize, key: &[u8], was_there: bool) {
        if conn.watching.add(db, key, was_there) {
            self.watches.watch(&self.interest, db, key, &conn.watching.mark(), was_there);
        }
    }

    /// How many keys are watched.
    pub(crate) fn watched_keys(&self) -> usize {
        self.watches.len()
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

    /// Lets a mark be set when a value changes. The caller holds the lock of the key's shard.
    pub(crate) fn mark_change(&self, db: usize, key: &[u8], mark: &Mark) {
        self.watches.watch(&self.interest, db, key, mark, true);
    }

    /// Ends that.
    pub(crate) fn mark_no_more(&self, db: usize, key: &[u8], mark: &Mark) {
        self.watches.unwatch(&self.interest, db, key, mark);
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

/// Fields with their lengths, as messages name them: `3:one,5:three`.
fn listed<F: AsRef<[u8]>>(fields: &[F]) -> Vec<u8> {
    let mut text = Vec::new();
    for field in fields {
        let field: &[u8] = field.as_ref();
        if !text.is_empty() {
            text.push(b',');
        }
        text.extend_from_slice(field.len().to_string().as_bytes());
        text.push(b':');
        text.extend_from_slice(field);
    }
    text
}
