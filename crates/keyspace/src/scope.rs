// SPDX-License-Identifier: Apache-2.0
//! [`Scope`]: the part of a keyspace that a view may touch.

use std::ops::{BitOr, BitOrAssign};

/// A set of shards, of which a keyspace has [`Scope::SHARDS_MAX`] at most.
///
/// Which shard a key is in depends on the key alone, not on its database. So the scope of a key is
/// the same for all databases, and that of several keys is the union of theirs:
///
/// ```
/// use keyspace::Scope;
///
/// let (source, target) = (Scope::shard(3), Scope::shard(60));
/// let both = source | target;
/// assert!(both.contains(source) && Scope::ALL.contains(both));
/// assert_eq!(both.shards().collect::<Vec<_>>(), [3, 60]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scope(u128);

impl Scope {
    /// Shards that a keyspace can have.
    pub const SHARDS_MAX: usize = u128::BITS as usize;
    /// No shard, for commands without keys.
    pub const NONE: Scope = Scope(0);
    /// All shards, for commands on whole databases.
    pub const ALL: Scope = Scope(u128::MAX);

    /// One shard.
    ///
    /// # Panics
    ///
    /// When the number is [`Scope::SHARDS_MAX`] or more.
    pub const fn shard(number: usize) -> Self {
        assert!(number < Self::SHARDS_MAX, "a keyspace has 128 shards at most");
        Scope(1 << number)
    }

    /// One bit for each shard, the lowest for shard 0.
    pub const fn bits(self) -> u128 {
        self.0
    }

    /// The scope with these bits.
    pub const fn from_bits(bits: u128) -> Self {
        Scope(bits)
    }

    /// Whether a shard is in this scope.
    ///
    /// # Panics
    ///
    /// When the number is [`Scope::SHARDS_MAX`] or more.
    pub const fn has(self, number: usize) -> bool {
        let half = [self.0 as u64, (self.0 >> u64::BITS) as u64][number / 64];
        half >> (number % 64) & 1 != 0
    }

    /// Whether all of `other` is in this scope.
    pub const fn contains(self, other: Scope) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether there is nothing in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The numbers of the shards, ascending.
    pub fn shards(self) -> impl Iterator<Item = usize> {
        let mut bits = self.0;
        std::iter::from_fn(move || {
            let next = (bits != 0).then(|| bits.trailing_zeros() as usize);
            bits &= bits.wrapping_sub(1);
            next
        })
    }
}

impl BitOr for Scope {
    type Output = Scope;

    fn bitor(self, other: Scope) -> Scope {
        Scope(self.0 | other.0)
    }
}

impl BitOrAssign for Scope {
    fn bitor_assign(&mut self, other: Scope) {
        self.0 |= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_and_none_are_what_they_say() {
        assert_eq!(Scope::ALL.shards().count(), 128);
        assert_eq!(Scope::NONE.shards().next(), None);
        assert!(Scope::NONE.is_empty() && Scope::ALL.contains(Scope::NONE));
        assert_eq!(Scope::default(), Scope::NONE);
    }

    #[test]
    fn a_union_has_the_shards_of_both() {
        let mut scope = Scope::shard(0);
        scope |= Scope::shard(127);
        assert_eq!(scope, Scope::from_bits(1 | 1 << 127));
        assert!(!scope.contains(Scope::shard(1)));
        assert!((0..128).all(|number| scope.has(number) == (number == 0 || number == 127)));
    }
}
