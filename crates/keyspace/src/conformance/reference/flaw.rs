// SPDX-License-Identifier: Apache-2.0
//! [`Flaw`]: the faults that the kit must find.

/// A fault of a keyspace. Each breaks one rule, which the kit must name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::conformance) enum Flaw {
    None,
    /// A put says that it replaced nothing.
    PutReturnsNothing,
    /// The last database is the first.
    SharesDatabases,
    /// A put keeps the expiry of what it replaces.
    KeepsExpiry,
    /// A peek sees expired entries.
    PeekSeesDead,
    /// `set_expiry` says that there was an entry.
    SetsExpiryOfNothing,
    /// An entry is still there at the moment of its expiry.
    ExpiresLate,
    /// Expires by the second.
    ExpiresBySecond,
    /// `random` draws expired entries.
    DrawsDead,
    /// Reports twice each entry that a view meets.
    TellsTwice,
    /// Reports no entry that a view meets.
    TellsNothing,
    /// Reports even without a listener.
    TellsAnyway,
    /// Nothing is removed by maintenance.
    ActiveNever,
    /// Maintenance removes expired entries even if active expiry is off.
    ActiveAlways,
    /// Entries go also when they are to stay.
    KeepsNothing,
    /// Maintenance removes everything at once.
    IgnoresBudget,
    /// Maintenance removes what expires within a second.
    ExpiresLive,
    /// Expired fields stay.
    KeepsFields,
    /// Hashes without a field stay.
    KeepsEmptied,
    /// All entries count as volatile.
    CountsAllVolatile,
    /// A clear clears all databases.
    ClearsAll,
    /// A swap does nothing.
    SwapsNothing,
    /// A scan passes over some entries.
    ScanMisses,
    /// A scan shows expired entries.
    ScanShowsDead,
    /// A scan shows everything in one step.
    ScansAtOnce,
    /// The same entry is drawn each time.
    DrawsFirst,
    /// Every view touches.
    TouchesAnyway,
    /// No view touches.
    TouchesNever,
    /// An edit counts as a hit.
    EditsHit,
    /// An expired entry counts for two.
    CountsExpiredTwice,
    /// An edit does not change the counted size.
    BooksNoEdits,
    /// Large values are free at once.
    FreesAtOnce,
    /// Memory of cleared entries is never freed.
    LeaksCleared,
    /// A dropped handle keeps its reservation.
    KeepsReservations,
    /// Lets memory grow.
    NeverEvicts,
    /// Refuses to write when full.
    RefusesWhenFull,
    /// Drops everything when full.
    EvictsAll,
    /// Evicts entries without an expiry too.
    EvictsAny,
    /// Evicts whatever comes first.
    EvictsBlindly,
    /// Counts no evictions.
    CountsNoEvictions,
    /// A prefetch counts as a hit.
    PrefetchCounts,
    /// Each handle has a keyspace of its own.
    PrivateHandles,
    /// Others may come in between two operations of a view.
    UnlocksBetween,
}
