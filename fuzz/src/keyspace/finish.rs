// SPDX-License-Identifier: Apache-2.0
//! The end of a run: everything is compared, then removed, and nothing is left in use.

use super::session::check;
use super::{CALLS_MAX, DATABASES, Place, Trial};
use arbitrary::{Result, Unstructured};
use keyspace::{Gone, Keyspace, Policy, Scope, View};

/// How far the quick number of used bytes may be behind.
const BEHIND: u64 = 8 << 10;

/// How everything goes in the end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    /// All databases are cleared.
    Cleared,
    /// Every entry is taken out.
    Taken,
    /// Every entry expires.
    Expired,
    /// Every entry is evicted.
    Evicted,
}

impl Ending {
    pub(super) fn read(input: &mut Unstructured<'_>) -> Result<Self> {
        Ok(*input.choose(&[Ending::Cleared, Ending::Taken, Ending::Expired, Ending::Evicted])?)
    }
}

impl Trial {
    /// Compares everything; then removes everything.
    pub(crate) fn finish(mut self) {
        let places: Vec<Place> = self.model.entries().map(|(place, _)| place.clone()).collect();
        let view = self.handles[0].view(Scope::ALL, self.model.now_ms);
        for place in &places {
            check(&view, &self.model, place);
        }
        drop(view);
        self.handles[0].check_integrity();
        self.expire_by_itself();
        let places: Vec<Place> = self.model.entries().map(|(place, _)| place.clone()).collect();
        match self.setup.ending {
            Ending::Cleared => self.clear_all(),
            Ending::Taken => self.take_all(&places),
            Ending::Expired => self.expire_all(&places),
            Ending::Evicted => self.evict_all(),
        }
        self.drain();
        assert_eq!(self.model.entries().count(), 0, "not everything went");
        self.handles[0].check_integrity();
        self.settle();
        self.handles.truncate(1);
        self.handles[0].reserve(0);
        let stats = self.handles[0].stats();
        assert_eq!((stats.entry_bytes, stats.leaving_bytes, stats.reserved_bytes), (0, 0, 0));
        let empty = self.setup.build().stats().used_bytes;
        assert_eq!(stats.used_bytes, empty, "bytes in use of an empty keyspace");
        for (pin, expected) in &self.pins {
            assert!(pin[..] == expected[..], "a pinned value has changed");
        }
    }

    /// In some seconds, all that has expired goes by itself.
    fn expire_by_itself(&mut self) {
        let Trial { handles, model, .. } = self;
        handles[0].settings().set_active_expiry(true);
        handles[0].settings().set_maxmemory(0);
        model.now_ms = self.latest_ms;
        for _ in 0..200 {
            model.now_ms += 50;
            let now_ms = model.now_ms;
            let mut tell = |gone: Gone<'_>| model.told(gone, Policy::NoEviction);
            while handles[0].maintain(now_ms, 1000, &mut tell) {}
        }
        let places: Vec<Place> = model.entries().map(|(place, _)| place.clone()).collect();
        let view = handles[0].view(Scope::ALL, model.now_ms);
        for place in &places {
            assert!(model.live(place).is_some(), "RULE-ACTIVE: {place:?} is still there");
            let entry = view.peek(place.0, &place.1).expect("RULE-READ: it is there");
            let live = entry.hash().map_or(entry.len(), |hash| hash.live(model.now_ms));
            assert_eq!(entry.len(), live, "RULE-FIELD: expired fields are still there");
        }
    }

    fn clear_all(&mut self) {
        let mut view = self.handles[0].view(Scope::ALL, self.model.now_ms);
        for db in 0..DATABASES {
            view.clear(db);
            self.model.clear(db);
        }
    }

    /// Lowers the limit to nothing. What the quick number does not know of may stay, so that is
    /// cleared.
    fn evict_all(&mut self) {
        self.handles[0].settings().set_policy(Policy::AllkeysRandom);
        self.handles[0].settings().set_maxmemory(1);
        self.make_room(0);
        let left = self.handles[0].stats();
        let known = left.used_bytes - left.reserved_bytes;
        assert!(known <= BEHIND, "RULE-ROOM: {known} bytes are left: {left:?}");
        self.clear_all();
    }

    fn take_all(&mut self, places: &[Place]) {
        for place in places {
            let store = &mut self.handles[0];
            let mut view = store.view(store.scope(&place.1), self.model.now_ms);
            let taken = view.take(place.0, &place.1);
            assert_eq!(taken.is_some(), self.model.live(place).is_some(), "RULE-READ");
            if let Some(taken) = taken {
                view.dispose(taken);
            }
            self.model.meet(place);
            self.model.remove(place);
            view.drain_gone(&mut |gone| self.model.told_by_view(gone));
        }
    }

    fn expire_all(&mut self, places: &[Place]) {
        let soon = Some(self.model.now_ms + 1);
        for place in places {
            let store = &mut self.handles[0];
            let mut view = store.view(store.scope(&place.1), self.model.now_ms);
            view.set_expiry(place.0, &place.1, soon);
            self.model.meet(place);
            if let Some(kept) = self.model.live_mut(place) {
                kept.expiry = soon;
            }
            view.drain_gone(&mut |gone| self.model.told_by_view(gone));
        }
        self.model.now_ms += 1000;
    }

    /// Removes all that has expired; whether it could.
    pub(super) fn remove_expired(&mut self, handle: usize) -> bool {
        let mut is_done = true;
        let places: Vec<Place> = self.model.entries().map(|(place, _)| place.clone()).collect();
        for place in &places {
            let store = &mut self.handles[handle];
            let mut view = store.view(store.scope(&place.1), self.model.now_ms);
            let now_ms = self.model.now_ms;
            let entry = view.get_mut(place.0, &place.1);
            assert_eq!(entry.is_some(), self.model.live(place).is_some(), "RULE-EDIT");
            self.model.meet(place);
            let limits = self.setup.limits;
            let mut is_empty = false;
            if let (Some(mut entry), Some(kept)) = (entry, self.model.live_mut(place))
                && let Some(mut hash) = entry.hash_mut(&limits)
            {
                hash.remove_expired(now_ms, usize::MAX, |_| ());
                if hash.len() == hash.read().live(now_ms) {
                    kept.value.forget_expired(now_ms);
                } else {
                    is_done = false;
                }
                kept.value.check(&entry, now_ms);
                is_empty = entry.is_empty();
            }
            if is_empty {
                let entry = view.take(place.0, &place.1).expect("it was just seen");
                view.dispose(entry);
                self.model.remove(place);
            }
            view.drain_gone(&mut |gone| self.model.told_by_view(gone));
        }
        is_done
    }

    /// Maintains until nothing is left to do.
    fn drain(&mut self) {
        for _ in 0..CALLS_MAX {
            let more = self.maintain(0, 100);
            let stats = self.handles[0].stats();
            if !more && stats.leaving_bytes == 0 && self.model.entries().next().is_none() {
                return;
            }
            self.model.now_ms += 1;
        }
        panic!("maintenance never ends: {:?}", self.handles[0].stats());
    }
}
