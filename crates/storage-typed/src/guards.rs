// SPDX-License-Identifier: Apache-2.0
//! [`Guards`]: the locks that a view holds.
//!
//! A guard object for each lock would make a view two kilobytes large, to be moved for every GET. So the
//! scope alone records which locks are held, and they are taken and released by its bits.
//!
//! # Invariants
//!
//! * INV-HELD: from its creation to its drop a `Guards` holds the locks of the shards of its scope, and
//!   nobody else releases them. So it has exclusive access to the shards: `&self` lends them shared,
//!   `&mut self` lends one of them exclusively.

use super::shard::Shard;
use super::shared::Shared;
use keyspace::Scope;
use parking_lot::MutexGuard;
use std::fmt;
use std::marker::PhantomData;

/// The shards of a scope, locked.
pub(crate) struct Guards<'a> {
    shared: &'a Shared,
    scope: Scope,
    /// Makes it `!Send` as a mutex guard is: it stays in its thread.
    guards: PhantomData<MutexGuard<'a, Shard>>,
}

impl<'a> Guards<'a> {
    /// Locks all shards of a scope, in ascending order: see INV-ORDER.
    #[inline]
    pub(crate) fn lock(shared: &'a Shared, scope: Scope) -> Self {
        let scope = shared.clip(scope);
        for number in scope.shards() {
            std::mem::forget(shared.lock(number));
        }
        Guards { shared, scope, guards: PhantomData }
    }

    /// Releases the locks, and locks all shards of another scope.
    pub(crate) fn relock(&mut self, scope: Scope) {
        let shared = self.shared;
        // Dropped in place of the old one, which holds nothing any more, and so releases nothing.
        self.release();
        self.scope = Scope::NONE;
        *self = Guards::lock(shared, scope);
    }

    /// Locks the other shards of a scope, too, and waits for none: `false` if one of them is locked, and then
    /// nothing has changed. Whoever holds locks may do this against INV-ORDER, because it does not wait.
    pub(crate) fn extend(&mut self, scope: Scope) -> bool {
        // Dropped with what it holds, it releases that.
        let mut more = Guards { shared: self.shared, scope: Scope::NONE, guards: PhantomData };
        for number in self.shared.clip(scope).shards() {
            if self.scope.has(number) {
                continue;
            }
            let Some(guard) = self.shared.try_lock(number) else { return false };
            std::mem::forget(guard);
            more.scope |= Scope::shard(number);
        }
        self.scope |= std::mem::replace(&mut more.scope, Scope::NONE);
        true
    }

    #[inline]
    pub(crate) fn scope(&self) -> Scope {
        self.scope
    }

    /// The shard with this number.
    #[inline]
    pub(crate) fn shard(&self, number: usize) -> &Shard {
        self.assert_held(number);
        // SAFETY: INV-HELD; the shard is borrowed for as long as `self` is.
        unsafe { &*self.shared.mutex(number).data_ptr() }
    }

    /// The shard with this number.
    #[inline]
    pub(crate) fn shard_mut(&mut self, number: usize) -> &mut Shard {
        self.assert_held(number);
        // SAFETY: INV-HELD; the shard is borrowed for as long as `self` is, and no other beside it.
        unsafe { &mut *self.shared.mutex(number).data_ptr() }
    }

    #[inline]
    fn assert_held(&self, number: usize) {
        assert!(self.scope.has(number), "shard {number} is not in the scope of the view");
        debug_assert!(self.shared.mutex(number).is_locked(), "INV-HELD: shard {number}");
    }
}

impl Guards<'_> {
    /// Releases all locks of the scope. The caller has no use for the shards any more: it drops this, or makes the
    /// scope empty.
    #[inline]
    fn release(&mut self) {
        for number in self.scope.shards() {
            // A panic may come in the middle of a change.
            if cfg!(debug_assertions) && !std::thread::panicking() {
                self.shard(number).check_sums(self.shared, number);
            }
            // SAFETY: INV-HELD, and this is the end.
            unsafe { self.shared.mutex(number).force_unlock() };
        }
    }
}

impl Drop for Guards<'_> {
    #[inline]
    fn drop(&mut self) {
        self.release();
    }
}

impl fmt::Debug for Guards<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guards").field("scope", &self.scope).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn shared() -> Shared {
        Shared::new(64, 1, Random::new(1), None)
    }

    #[test]
    fn each_shard_of_a_scope_is_found_and_locked() {
        let shared = shared();
        let numbers = [0, 1, 5, 31, 32, 62, 63];
        let scope = numbers.into_iter().map(Scope::shard).fold(Scope::NONE, |all, one| all | one);
        let mut guards = Guards::lock(&shared, scope);
        for number in numbers {
            assert_eq!(
                (guards.shard(number).number(), guards.shard_mut(number).number()),
                (number, number)
            );
        }
        let locked = |number: &usize| shared.try_lock(*number).is_none();
        assert!((0..64).filter(locked).eq(numbers));
        drop(guards);
        assert_eq!((0..64).filter(locked).count(), 0);
    }

    #[test]
    fn one_shard_and_none_are_scopes_too() {
        let shared = shared();
        assert_eq!(Guards::lock(&shared, Scope::shard(63)).shard(63).number(), 63);
        let _none = Guards::lock(&shared, Scope::NONE);
        assert!((0..64).all(|number| shared.try_lock(number).is_some()));
    }

    #[test]
    fn locks_of_another_scope_take_the_place_of_the_first() {
        let shared = shared();
        let mut guards = Guards::lock(&shared, Scope::shard(3) | Scope::shard(5));
        guards.relock(Scope::shard(5) | Scope::shard(9));
        let locked = |number: &usize| shared.try_lock(*number).is_none();
        assert!((0..64).filter(locked).eq([5, 9]));
        guards.relock(Scope::ALL);
        assert_eq!((0..64).filter(locked).count(), 64);
        drop(guards);
        assert_eq!((0..64).filter(locked).count(), 0);
    }

    #[test]
    fn all_other_locks_are_added_or_none() {
        let shared = shared();
        let mut guards = Guards::lock(&shared, Scope::shard(3));
        let locked = |number: &usize| shared.try_lock(*number).is_none();
        let other = Guards::lock(&shared, Scope::shard(40));
        assert!(!guards.extend(Scope::ALL));
        assert!((0..64).filter(locked).eq([3, 40]));
        assert!(guards.extend(Scope::shard(3) | Scope::shard(9)));
        assert!((0..64).filter(locked).eq([3, 9, 40]));
        drop(other);
        assert!(guards.extend(Scope::ALL));
        assert_eq!(guards.scope(), shared.clip(Scope::ALL));
        assert_eq!(guards.shard_mut(63).number(), 63);
        drop(guards);
        assert_eq!((0..64).filter(locked).count(), 0);
    }

    /// Threads that hold one shard and want all meet threads that wait for shards in order: none waits for ever,
    /// and nobody comes in between where all were added.
    #[test]
    fn threads_that_add_locks_keep_nobody_waiting() {
        let shared = shared();
        let add = |own: usize| {
            let (mut added, mut tries) = (0, 0);
            while added < 200 && tries < 100_000 {
                tries += 1;
                let mut guards = Guards::lock(&shared, Scope::shard(own));
                let before = guards.shard(own).hits;
                if guards.extend(Scope::ALL) {
                    (0..64).for_each(|number| guards.shard_mut(number).hits += 1);
                    assert_eq!(guards.shard(own).hits, before + 1, "nobody came in between");
                    added += 1;
                }
            }
            added
        };
        let wait = || {
            for _ in 0..500 {
                let mut guards = Guards::lock(&shared, Scope::ALL);
                (0..64).for_each(|number| guards.shard_mut(number).hits += 1);
            }
            500
        };
        let total: u64 = std::thread::scope(|threads| {
            let work = [threads.spawn(|| add(7)), threads.spawn(|| add(50)), threads.spawn(wait)];
            work.into_iter().map(|work| work.join().expect("it does not panic")).sum()
        });
        assert!((0..64).all(|number| shared.lock(number).hits == total));
    }

    #[test]
    fn locks_are_let_go_when_a_panic_unwinds() {
        let shared = shared();
        let panics = std::panic::AssertUnwindSafe(|| {
            let _held = Guards::lock(&shared, Scope::shard(1) | Scope::shard(2));
            panic!("in the middle of a command");
        });
        assert!(std::panic::catch_unwind(panics).is_err());
        assert!((0..64).all(|number| shared.try_lock(number).is_some()));
    }

    #[test]
    fn threads_take_turns_at_shards_of_overlapping_scopes() {
        let shared = shared();
        let scopes = [Scope::shard(3) | Scope::shard(5), Scope::shard(5) | Scope::shard(9)];
        std::thread::scope(|threads| {
            let work = |scope| {
                for _ in 0..10_000 {
                    Guards::lock(&shared, scope).shard_mut(5).hits += 1;
                }
            };
            let workers = scopes.map(|scope| threads.spawn(move || work(scope)));
            for worker in workers {
                worker.join().expect("it does not panic");
            }
        });
        assert_eq!(shared.lock(5).hits, 20_000);
    }

    #[test]
    fn everything_is_what_there_is() {
        let shared = Shared::new(4, 1, Random::new(1), None);
        let guards = Guards::lock(&shared, Scope::ALL);
        assert_eq!(guards.scope(), Scope::from_bits(0b1111));
        assert_eq!(guards.shard(3).number(), 3);
    }

    #[test]
    #[should_panic(expected = "shard 2 is not in the scope of the view")]
    fn a_key_out_of_scope_is_a_mistake() {
        let shared = shared();
        Guards::lock(&shared, Scope::shard(1) | Scope::shard(3)).shard(2);
    }
}
