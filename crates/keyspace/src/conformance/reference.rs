// SPDX-License-Identifier: Apache-2.0
//! A keyspace of plain maps behind one lock, to test the kit itself: sound, or with one [`Flaw`].

mod flaw;
mod state;
mod view;

pub(super) use flaw::Flaw;

use crate::Stage;
use crate::{DatabaseStats, Gone, Keyspace, KeyspaceStats, Observer, Reason, Scope, Settings};
use state::State;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use view::ReferenceView;

const DATABASES: usize = 5;

/// What an engine told, to keep.
type Notes = Vec<(usize, Vec<u8>, Reason)>;

#[derive(Debug)]
pub(super) struct Reference {
    shared: Arc<Shared>,
    notes: Notes,
    reserved: u64,
}

#[derive(Debug)]
struct Shared {
    settings: Arc<Settings>,
    state: Mutex<State>,
    flaw: Flaw,
}

impl Shared {
    fn keeps_entries(&self) -> bool {
        self.settings.keeps_entries() && self.flaw != Flaw::KeepsNothing
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// See [`Keyspace::stats`].
    fn stats(&self) -> KeyspaceStats {
        let state = self.lock();
        let mut stats = state.stats.clone();
        let database = |db| {
            let (keys, volatile) = (state.len(db) as u64, state.volatile_len(db) as u64);
            DatabaseStats { keys, volatile, ..DatabaseStats::default() }
        };
        stats.databases = (0..DATABASES).map(database).collect();
        stats.entry_bytes = state.entry_bytes;
        stats.used_bytes = state.used();
        stats
    }
}

impl Reference {
    pub(super) fn new(flaw: Flaw) -> Self {
        let state = Mutex::new(State::new(DATABASES, flaw));
        let shared = Arc::new(Shared { settings: Arc::default(), state, flaw });
        Reference { shared, notes: Notes::new(), reserved: 0 }
    }

    fn limit(&self) -> u64 {
        match self.shared.settings.maxmemory() {
            0 => u64::MAX,
            limit => limit,
        }
    }
}

impl Clone for Reference {
    fn clone(&self) -> Self {
        if self.shared.flaw == Flaw::PrivateHandles {
            return Reference::new(self.shared.flaw);
        }
        Reference { shared: Arc::clone(&self.shared), notes: Notes::new(), reserved: 0 }
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        if self.shared.flaw != Flaw::KeepsReservations {
            self.reserve(0);
        }
    }
}

impl Keyspace for Reference {
    type View<'a> = ReferenceView<'a>;

    fn databases(&self) -> usize {
        DATABASES
    }

    fn scope(&self, _: &[u8]) -> Scope {
        Scope::shard(0)
    }

    fn view(&mut self, _: Scope, unix_ms: u64) -> ReferenceView<'_> {
        ReferenceView::new(&self.shared, &mut self.notes, unix_ms)
    }

    fn prefetch(&self, _: usize, _: &[u8], _: Stage) {
        if self.shared.flaw == Flaw::PrefetchCounts {
            self.shared.lock().stats.hits += 1;
        }
    }

    fn make_room(&mut self, unix_ms: u64, gone: &mut dyn FnMut(Gone<'_>)) -> bool {
        let limit = self.limit();
        let mut state = self.shared.lock();
        if self.shared.flaw == Flaw::NeverEvicts || self.shared.keeps_entries() {
            return true;
        }
        while state.used() > limit {
            if self.shared.flaw == Flaw::RefusesWhenFull {
                return false;
            }
            let goes_on = state.free(64) || state.evict(&self.shared.settings, unix_ms, gone);
            if !goes_on {
                return false;
            }
            if self.shared.flaw == Flaw::EvictsAll {
                while state.evict(&self.shared.settings, unix_ms, gone) {}
            }
        }
        true
    }

    fn maintain(&mut self, unix_ms: u64, budget: usize, gone: &mut dyn FnMut(Gone<'_>)) -> bool {
        for (db, key, reason) in self.notes.drain(..) {
            gone(Gone { db, key: &key, reason, fields: &[] });
        }
        let limit = self.limit();
        let mut state = self.shared.lock();
        state.free(budget);
        let is_on = self.shared.settings.active_expiry() || self.shared.flaw == Flaw::ActiveAlways;
        let keeps = self.shared.keeps_entries();
        let more = is_on && !keeps && state.expire(unix_ms, budget, gone);
        for _ in 0..budget / 8 {
            if keeps || state.used() <= limit || !state.evict(&self.shared.settings, unix_ms, gone)
            {
                break;
            }
        }
        more || state.is_leaving()
    }

    fn settings(&self) -> &Arc<Settings> {
        &self.shared.settings
    }

    fn stats(&self) -> KeyspaceStats {
        self.shared.stats()
    }

    fn observer(&self) -> Observer {
        let shared = Arc::downgrade(&self.shared);
        Box::new(move || Some(shared.upgrade()?.stats()))
    }

    fn reset_stats(&mut self) {
        let mut state = self.shared.lock();
        let (leaving, reserved) = (state.stats.leaving_bytes, state.stats.reserved_bytes);
        state.stats = KeyspaceStats {
            leaving_bytes: leaving,
            reserved_bytes: reserved,
            ..KeyspaceStats::default()
        };
    }

    fn used_bytes(&self) -> u64 {
        self.shared.lock().used()
    }

    fn reserve(&mut self, bytes: u64) {
        let mut state = self.shared.lock();
        state.stats.reserved_bytes += bytes;
        state.stats.reserved_bytes -= self.reserved;
        self.reserved = bytes;
    }

    fn check_integrity(&self) {}
}
