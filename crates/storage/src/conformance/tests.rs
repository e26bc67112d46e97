// SPDX-License-Identifier: Apache-2.0
//! The kit passes a sound engine and names the rule that a flawed one breaks.

use super::reference::{Flaw, Reference};
use super::{check, check_receive, check_receive_shared, check_scan, check_shared, handles, model};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn a_sound_engine_passes() {
    check_shared(|limits| Reference::new(limits, Flaw::None));
    check_scan(|limits| Reference::new(limits, Flaw::None));
    check_receive_shared(|limits| Reference::new(limits, Flaw::None));
}

#[test]
fn handles_used_in_turn_are_rested_so_that_none_waits_for_another() {
    let make = |limits| Reference::new(limits, Flaw::Waits);
    check(make);
    handles::run(&make);
    model::run_shared(&make);
}

#[test]
#[should_panic(expected = "RULE-EXPIRY")]
fn expiry_by_the_second_is_found() {
    check(|limits| Reference::new(limits, Flaw::ExpiresBySecond));
}

#[test]
#[should_panic(expected = "RULE-HANDLES")]
fn handles_that_share_nothing_are_found() {
    check_shared(|limits| Reference::new(limits, Flaw::PrivateHandles));
}

#[test]
#[should_panic(expected = "RULE-ATOMIC")]
fn an_update_in_two_steps_is_found() {
    check_shared(|limits| Reference::new(limits, Flaw::UnlockedUpdate));
}

/// Each flaw of one handle, with the rule it breaks.
const FLAWS: [(Flaw, &str); 38] = [
    (Flaw::ParsesNumbers, "RULE-READ"),
    (Flaw::CutsKeys, "RULE-READ"),
    (Flaw::DeletesAlways, "RULE-DELETE"),
    (Flaw::AddSeesExpired, "RULE-EXPIRY"),
    (Flaw::VersionOfNothingExists, "RULE-CONDITION"),
    (Flaw::RefusalDeletes, "RULE-REFUSED"),
    (Flaw::ExpiresLate, "RULE-EXPIRY"),
    (Flaw::CountsVersionsPerItem, "RULE-VERSION-NEW"),
    (Flaw::NumberKeepsVersion, "RULE-VERSION-NEW"),
    (Flaw::KnowsNoAge, "RULE-VERSION-NEWER"),
    (Flaw::TellsOldVersion, "RULE-VERSION-TOLD"),
    (Flaw::TouchMakesVersion, "RULE-VERSION-KEPT"),
    (Flaw::ExtendForgetsFlags, "RULE-UPDATE"),
    (Flaw::NumberMakesItem, "RULE-UPDATE"),
    (Flaw::LosesMarks, "RULE-MARKS"),
    (Flaw::KeepsMarks, "RULE-MARKS"),
    (Flaw::MakesAllVersions, "RULE-VERSION-GIVEN"),
    (Flaw::CountsNoReads, "RULE-READS"),
    (Flaw::PeekReads, "RULE-READS"),
    (Flaw::ShortGenerations, "RULE-CLEAR"),
    (Flaw::LeaksCleared, "RULE-RECLAIM"),
    (Flaw::IgnoresBudget, "RULE-RECLAIM"),
    (Flaw::FreesLive, "RULE-RECLAIM"),
    (Flaw::GrowsForever, "RULE-LIMIT"),
    (Flaw::RefusesWhenFull, "RULE-EVICTION"),
    (Flaw::DropsAllWhenFull, "RULE-EVICTION"),
    (Flaw::KeepsDead, "RULE-FITS"),
    (Flaw::TakesAnySize, "RULE-TOO-LARGE"),
    (Flaw::ExtendTakesAnySize, "RULE-TOO-LARGE"),
    (Flaw::PinsAnother, "RULE-PIN"),
    (Flaw::CountsNoEvictions, "RULE-STATS"),
    (Flaw::PrefetchCounts, "RULE-PREFETCH"),
    (Flaw::RestClears, "RULE-REST"),
    (Flaw::ReservesAll, "RULE-RESERVE"),
    (Flaw::ResizesLater, "RULE-RESIZE"),
    (Flaw::ResizesAtOnce, "RULE-RESIZE"),
    (Flaw::ResizesNever, "RULE-RESIZE"),
    (Flaw::TakesAnyLimit, "RULE-RESIZE"),
];

/// The flaws of a scan.
const SCAN_FLAWS: [Flaw; 3] = [Flaw::ScanCounts, Flaw::ScanShowsDead, Flaw::ScanIgnoresBudget];

/// The flaws in taking values in pieces.
const RECEIVE_FLAWS: [Flaw; 7] = [
    Flaw::DraftIsRead,
    Flaw::DraftForgetsFlags,
    Flaw::DraftIgnoresCondition,
    Flaw::DraftLeaks,
    Flaw::DraftIsCleared,
    Flaw::DraftKeepsOut,
    Flaw::ExpiresLate,
];

/// What the kit says about an engine with `flaw`.
fn verdict(flaw: Flaw, rule: &str) -> String {
    let make = |limits| Reference::new(limits, flaw);
    let run = || match rule {
        "RULE-SCAN" => check_scan(make),
        "RULE-RECEIVE" => check_receive(make),
        _ => check(make),
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(()) => "nothing".to_owned(),
        Err(panic) => match panic.downcast::<String>() {
            Ok(message) => *message,
            Err(panic) => panic.downcast_ref::<&str>().map_or("no text", |text| text).to_owned(),
        },
    }
}

#[test]
fn each_flaw_is_found_and_its_rule_named() {
    let of_scans = SCAN_FLAWS.map(|flaw| (flaw, "RULE-SCAN"));
    let of_drafts = RECEIVE_FLAWS.map(|flaw| (flaw, "RULE-RECEIVE"));
    for (flaw, rule) in FLAWS.into_iter().chain(of_scans).chain(of_drafts) {
        let verdict = verdict(flaw, rule);
        let named = verdict.contains(&format!("{rule}:"));
        assert!(named, "{flaw:?} breaks {rule}, but the kit says {verdict}");
    }
}
