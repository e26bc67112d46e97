// SPDX-License-Identifier: Apache-2.0
//! [`Flaw`]: the faults that the kit must find.

/// What is wrong with a keyspace. Each breaks one rule, which the kit must name.
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
    /// Tells of what a view meets two times.
    TellsTwice,
    /// Tells of nothing that a view meets.
    TellsNothing,
    /// Tells also if nobody listens.
    TellsAnyway,
    /// Nothing is removed by maintenance.
    ActiveNever,
    /// Maintenance removes also if it is told not to.
    ActiveAlways,
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
    /// What is edited keeps its old size in the books.
    BooksNoEdits,
    /// Large values are free at once.
    FreesAtOnce,
    /// What was cleared is never free.
    LeaksCleared,
    /// A dropped handle goes on reserving.
    KeepsReservations,
    /// Lets memory grow.
    NeverEvicts,
    /// Refuses to write when full.
    RefusesWhenFull,
    /// Drops everything when full.
    EvictsAll,
    /// Evicts also what has no expiry.
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
