// SPDX-License-Identifier: Apache-2.0
//! The kit passes a sound engine and names the rule that a flawed one breaks.

use super::reference::{Flaw, Reference};
use super::{check, check_shared};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn a_sound_engine_passes() {
    check_shared(|limits| Reference::new(limits, Flaw::None));
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
const FLAWS: [(Flaw, &str); 24] = [
    (Flaw::ParsesNumbers, "RULE-READ"),
    (Flaw::CutsKeys, "RULE-READ"),
    (Flaw::DeletesAlways, "RULE-DELETE"),
    (Flaw::AddSeesExpired, "RULE-EXPIRY"),
    (Flaw::VersionOfNothingExists, "RULE-CONDITION"),
    (Flaw::RefusalDeletes, "RULE-REFUSED"),
    (Flaw::ExpiresLate, "RULE-EXPIRY"),
    (Flaw::CountsVersionsPerItem, "RULE-VERSION-NEW"),
    (Flaw::NumberKeepsVersion, "RULE-VERSION-NEW"),
    (Flaw::TouchMakesVersion, "RULE-VERSION-KEPT"),
    (Flaw::ExtendForgetsFlags, "RULE-UPDATE"),
    (Flaw::NumberMakesItem, "RULE-UPDATE"),
    (Flaw::ShortGenerations, "RULE-CLEAR"),
    (Flaw::LeaksCleared, "RULE-RECLAIM"),
    (Flaw::IgnoresBudget, "RULE-RECLAIM"),
    (Flaw::FreesLive, "RULE-RECLAIM"),
    (Flaw::GrowsForever, "RULE-LIMIT"),
    (Flaw::RefusesWhenFull, "RULE-EVICTION"),
    (Flaw::DropsAllWhenFull, "RULE-EVICTION"),
    (Flaw::TakesAnySize, "RULE-TOO-LARGE"),
    (Flaw::ExtendTakesAnySize, "RULE-TOO-LARGE"),
    (Flaw::PinsAnother, "RULE-PIN"),
    (Flaw::CountsNoEvictions, "RULE-STATS"),
    (Flaw::PrefetchCounts, "RULE-PREFETCH"),
];

/// What the kit says about an engine with `flaw`.
fn verdict(flaw: Flaw) -> String {
    let run = AssertUnwindSafe(|| check(|limits| Reference::new(limits, flaw)));
    match catch_unwind(run) {
        Ok(()) => "nothing".to_owned(),
        Err(panic) => match panic.downcast::<String>() {
            Ok(message) => *message,
            Err(panic) => panic.downcast_ref::<&str>().map_or("no text", |text| text).to_owned(),
        },
    }
}

#[test]
fn each_flaw_is_found_and_its_rule_named() {
    for (flaw, rule) in FLAWS {
        let verdict = verdict(flaw);
        let named = verdict.contains(&format!("{rule}:"));
        assert!(named, "{flaw:?} breaks {rule}, but the kit says {verdict}");
    }
}
