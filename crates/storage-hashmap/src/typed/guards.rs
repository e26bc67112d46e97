// SPDX-License-Identifier: Apache-2.0
//! [`Guards`]: the locks that a view holds.

use super::shard::Shard;
use super::shared::Shared;
use arrayvec::ArrayVec;
use parking_lot::MutexGuard;
use storage::keyspace::Scope;

/// The shards of a scope, locked.
#[derive(Debug)]
pub(crate) struct Guards<'a> {
    scope: Scope,
    held: Held<'a>,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a box would be an allocation for each MGET")]
enum Held<'a> {
    /// Most commands have one key.
    One(MutexGuard<'a, Shard>),
    /// In ascending order of their numbers; maybe none.
    Many(ArrayVec<MutexGuard<'a, Shard>, 64>),
}

impl<'a> Guards<'a> {
    /// Locks all shards of a scope, in ascending order: see INV-ORDER.
    #[inline]
    pub(crate) fn lock(shared: &'a Shared, scope: Scope) -> Self {
        let scope = shared.clip(scope);
        if scope.bits().is_power_of_two() {
            let number = scope.bits().trailing_zeros() as usize;
            return Guards { scope, held: Held::One(shared.lock(number)) };
        }
        let mut guards = Guards { scope, held: Held::Many(ArrayVec::new()) };
        if let Held::Many(many) = &mut guards.held {
            many.extend(scope.shards().map(|number| shared.lock(number)));
        }
        guards
    }

    #[inline]
    pub(crate) fn scope(&self) -> Scope {
        self.scope
    }

    /// The shard with this number.
    #[inline]
    pub(crate) fn shard(&self, number: usize) -> &Shard {
        let index = self.index(number);
        match &self.held {
            Held::One(guard) => guard,
            Held::Many(guards) => &guards[index],
        }
    }

    /// The shard with this number.
    #[inline]
    pub(crate) fn shard_mut(&mut self, number: usize) -> &mut Shard {
        let index = self.index(number);
        match &mut self.held {
            Held::One(guard) => guard,
            Held::Many(guards) => &mut guards[index],
        }
    }

    /// How many shards of the scope come before this one.
    #[inline]
    fn index(&self, number: usize) -> usize {
        let scope = Scope::shard(number);
        assert!(self.scope.contains(scope), "shard {number} is not in the scope of the view");
        (self.scope.bits() & (scope.bits() - 1)).count_ones() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typed::random::Random;

    fn shared() -> Shared {
        Shared::new(64, 1, Random::new(1))
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
    fn everything_is_what_there_is() {
        let shared = Shared::new(4, 1, Random::new(1));
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
