// SPDX-License-Identifier: Apache-2.0
//! The kit passes a sound keyspace and names the rule that a flawed one breaks.

use super::reference::{Flaw, Reference};
use super::{
    check_shared, databases, entries, expiry, handles, memory, room, statistics, threads, uses,
    walks,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

type Make = Box<dyn Fn() -> Reference>;

/// The flaws that one part of the kit must find, with the rules they break.
type Part = (fn(&Make), &'static [(Flaw, &'static str)]);

const PARTS: [Part; 10] = [
    (
        entries::run,
        &[
            (Flaw::PutReturnsNothing, "RULE-READ"),
            (Flaw::SharesDatabases, "RULE-READ"),
            (Flaw::KeepsExpiry, "RULE-READ"),
            (Flaw::PeekSeesDead, "RULE-READ"),
            (Flaw::SetsExpiryOfNothing, "RULE-EDIT"),
            (Flaw::PrefetchCounts, "RULE-PREFETCH"),
        ],
    ),
    (
        expiry::run,
        &[
            (Flaw::ExpiresLate, "RULE-EXPIRY"),
            (Flaw::ExpiresBySecond, "RULE-EXPIRY"),
            (Flaw::DrawsDead, "RULE-EXPIRY"),
            (Flaw::TellsTwice, "RULE-GONE"),
            (Flaw::TellsNothing, "RULE-GONE"),
            (Flaw::TellsAnyway, "RULE-GONE"),
            (Flaw::ActiveNever, "RULE-ACTIVE"),
            (Flaw::ActiveAlways, "RULE-ACTIVE"),
            (Flaw::KeepsNothing, "RULE-KEEP"),
            (Flaw::IgnoresBudget, "RULE-ACTIVE"),
            (Flaw::ExpiresLive, "RULE-ACTIVE"),
            (Flaw::KeepsFields, "RULE-FIELD"),
            (Flaw::KeepsEmptied, "RULE-FIELD"),
            (Flaw::CountsExpiredTwice, "RULE-STATS"),
        ],
    ),
    (
        databases::run,
        &[
            (Flaw::CountsAllVolatile, "RULE-LEN"),
            (Flaw::ClearsAll, "RULE-CLEAR"),
            (Flaw::SwapsNothing, "RULE-SWAP"),
        ],
    ),
    (
        walks::run,
        &[
            (Flaw::ScanMisses, "RULE-SCAN"),
            (Flaw::ScanShowsDead, "RULE-SCAN"),
            (Flaw::ScansAtOnce, "RULE-SCAN"),
            (Flaw::DrawsFirst, "RULE-RANDOM"),
        ],
    ),
    (uses::run, &[(Flaw::TouchesAnyway, "RULE-USE"), (Flaw::TouchesNever, "RULE-USE")]),
    (statistics::run, &[(Flaw::EditsHit, "RULE-STATS"), (Flaw::CountsNoEvictions, "RULE-STATS")]),
    (
        memory::run,
        &[
            (Flaw::BooksNoEdits, "RULE-MEMORY"),
            (Flaw::FreesAtOnce, "RULE-MEMORY"),
            (Flaw::LeaksCleared, "RULE-MEMORY"),
            (Flaw::KeepsReservations, "RULE-MEMORY"),
        ],
    ),
    (
        room::run,
        &[
            (Flaw::NeverEvicts, "RULE-ROOM"),
            (Flaw::RefusesWhenFull, "RULE-ROOM"),
            (Flaw::EvictsAll, "RULE-ROOM"),
            (Flaw::EvictsAny, "RULE-POLICY"),
            (Flaw::EvictsBlindly, "RULE-POLICY"),
        ],
    ),
    (handles::run, &[(Flaw::PrivateHandles, "RULE-HANDLES")]),
    (threads::run, &[(Flaw::UnlocksBetween, "RULE-ATOMIC")]),
];

#[test]
fn a_sound_keyspace_passes() {
    check_shared(|| Reference::new(Flaw::None));
}

/// What a part of the kit says about a keyspace with `flaw`.
fn verdict(part: fn(&Make), flaw: Flaw) -> String {
    let make: Make = Box::new(move || Reference::new(flaw));
    match catch_unwind(AssertUnwindSafe(|| part(&make))) {
        Ok(()) => "nothing".to_owned(),
        Err(panic) => match panic.downcast::<String>() {
            Ok(message) => *message,
            Err(panic) => panic.downcast_ref::<&str>().map_or("no text", |text| text).to_owned(),
        },
    }
}

#[test]
fn each_flaw_is_found_and_its_rule_named() {
    for (part, flaws) in PARTS {
        for &(flaw, rule) in flaws {
            let verdict = verdict(part, flaw);
            let named = verdict.contains(&format!("{rule}:"));
            assert!(named, "{flaw:?} breaks {rule}, but the kit says {verdict}");
        }
    }
}
