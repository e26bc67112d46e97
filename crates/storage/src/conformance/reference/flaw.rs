// SPDX-License-Identifier: Apache-2.0
//! [`Flaw`]: the faults that the kit must find.

/// A fault of an engine. Each breaks one rule, which the kit must name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::conformance) enum Flaw {
    None,
    /// Keeps numbers as numbers: `007` becomes `7`.
    ParsesNumbers,
    /// Cuts keys off after 200 bytes.
    CutsKeys,
    /// A delete always returns that it deleted an item.
    DeletesAlways,
    /// `IfAbsent` sees expired items.
    AddSeesExpired,
    /// `IfVersion` without an item is `Exists`.
    VersionOfNothingExists,
    /// A refused condition removes the item.
    RefusalDeletes,
    /// Expires by the second.
    ExpiresBySecond,
    /// An item is still there at the moment of its expiry.
    ExpiresLate,
    /// An item's first version is always one.
    CountsVersionsPerItem,
    /// Numbers keep the version.
    NumberKeepsVersion,
    /// Takes no version for older than another.
    KnowsNoAge,
    /// An update tells the version of before it.
    TellsOldVersion,
    /// A touch makes a version.
    TouchMakesVersion,
    /// Appending forgets the flags.
    ExtendForgetsFlags,
    /// A number without an item makes one.
    NumberMakesItem,
    /// A clear is remembered in eight bits.
    ShortGenerations,
    /// Never frees what a clear left.
    LeaksCleared,
    /// Forgets which marks are set.
    LosesMarks,
    /// Another value keeps the marks.
    KeepsMarks,
    /// Makes a version also where one is given.
    MakesAllVersions,
    /// A get does not count as a read.
    CountsNoReads,
    /// A peek counts as a read.
    PeekReads,
    /// Frees everything at once, whatever the budget.
    IgnoresBudget,
    /// Frees live items too.
    FreesLive,
    /// Never evicts.
    GrowsForever,
    /// Refuses to write when full.
    RefusesWhenFull,
    /// Drops everything when full.
    DropsAllWhenFull,
    /// Overwritten items take memory until something is evicted.
    KeepsDead,
    /// Knows no largest value.
    TakesAnySize,
    /// An append may exceed the largest value.
    ExtendTakesAnySize,
    /// Pins the key instead of the value.
    PinsAnother,
    /// A deleted item comes back soon, if its key has no item by then.
    DeletedComeBack,
    /// Counts no evictions.
    CountsNoEvictions,
    /// A prefetch counts as a write.
    PrefetchCounts,
    /// Each handle has items of its own.
    PrivateHandles,
    /// Lets go of its lock between an update's read and its write.
    UnlockedUpdate,
    /// A rest clears the store.
    RestClears,
    /// Sets aside whatever is reserved, all memory if need be.
    ReservesAll,
    /// Another limit takes effect with the next write.
    ResizesLater,
    /// A lower limit drops at once what is too much.
    ResizesAtOnce,
    /// A lower limit drops nothing.
    ResizesNever,
    /// Takes a limit that leaves room for nothing.
    TakesAnyLimit,
    /// A scan's cursor counts items instead of naming a place.
    ScanCounts,
    /// A scan shows dead items.
    ScanShowsDead,
    /// A scan shows everything in one step.
    ScanIgnoresBudget,
    /// What has arrived of a value can be read.
    DraftIsRead,
    /// A value in pieces loses its flags.
    DraftForgetsFlags,
    /// A value in pieces is written whatever its condition.
    DraftIgnoresCondition,
    /// The memory of a value that did not arrive is lost.
    DraftLeaks,
    /// A clear removes what arrives, too.
    DraftIsCleared,
    /// In a full store nobody writes while a value arrives.
    DraftKeepsOut,
    /// Not a flaw, but a strict engine: a write panics where an engine that waits for its handles
    /// would wait for ever, which is when another handle was used and has not rested or expired
    /// since.
    Waits,
}
