// SPDX-License-Identifier: Apache-2.0
//! What passes when, told step by step on one thread.

use super::*;

fn epochs(participants_max: usize) -> Arc<Epochs> {
    Arc::new(Epochs::new(participants_max))
}

#[test]
fn without_anyone_online_every_epoch_has_passed() {
    let epochs = epochs(2);
    assert!(epochs.has_passed(epochs.retire()));
    let participant = Epochs::register(&epochs).expect("there is a place");
    assert!(!participant.is_online());
    assert!(epochs.has_passed(epochs.retire()), "it is offline until it enters");
}

#[test]
fn an_epoch_waits_for_a_quiescent_state_of_everyone_online() {
    let epochs = epochs(2);
    let [mut one, mut two] = [(); 2].map(|()| Epochs::register(&epochs).expect("there is a place"));
    one.enter();
    two.enter();
    let epoch = epochs.retire();
    assert!(!epochs.has_passed(epoch));
    one.quiesce();
    assert!(!epochs.has_passed(epoch), "the other one may still look");
    two.quiesce();
    assert!(epochs.has_passed(epoch));
    assert!(one.is_online() && two.is_online());
}

#[test]
fn entering_again_is_no_quiescent_state() {
    let epochs = epochs(1);
    let mut reader = Epochs::register(&epochs).expect("there is a place");
    reader.enter();
    let epoch = epochs.retire();
    reader.enter();
    assert!(!epochs.has_passed(epoch));
    reader.quiesce();
    assert!(epochs.has_passed(epoch));
}

#[test]
fn epochs_pass_in_order() {
    let epochs = epochs(1);
    let mut reader = Epochs::register(&epochs).expect("there is a place");
    reader.enter();
    let first = epochs.retire();
    reader.quiesce();
    let second = epochs.retire();
    assert!(first < second);
    assert!(epochs.has_passed(first) && !epochs.has_passed(second));
    reader.quiesce();
    assert!(epochs.has_passed(second));
}

#[test]
fn who_leaves_is_not_waited_for_and_who_returns_sees_what_is_new() {
    let epochs = epochs(1);
    let mut reader = Epochs::register(&epochs).expect("there is a place");
    reader.enter();
    let epoch = epochs.retire();
    reader.leave();
    assert!(!reader.is_online());
    assert!(epochs.has_passed(epoch));
    reader.quiesce();
    assert!(!reader.is_online(), "a quiescent state does not bring it back");
    reader.enter();
    assert!(epochs.has_passed(epoch), "it came after the unlinking");
    assert!(!epochs.has_passed(epochs.retire()));
}

#[test]
fn places_are_limited_and_come_back_with_drop() {
    let epochs = epochs(3);
    let mut one = Epochs::register(&epochs).expect("there is a place");
    let two = one.register_another().expect("there is a second place");
    let three = two.register_another().expect("there is a third place");
    assert!(one.register_another().is_none());
    one.enter();
    let epoch = epochs.retire();
    drop(one);
    assert!(epochs.has_passed(epoch), "a handle that is gone is not waited for");
    let again = Epochs::register(&epochs).expect("its place is free");
    assert!(!again.is_online());
    assert!(Epochs::register(&epochs).is_none());
    drop((two, three, again));
    let all: Vec<_> = (0..5).map_while(|_| Epochs::register(&epochs)).collect();
    assert_eq!(all.len(), 3);
}

#[test]
#[should_panic(expected = "an epoch of another store")]
fn an_epoch_of_another_store_is_refused() {
    let other = epochs(1);
    other.retire();
    let _ = epochs(1).has_passed(other.retire());
}

#[test]
fn places_share_no_cache_lines() {
    assert_eq!(size_of::<Padded<Place>>(), 128);
    assert_eq!(align_of::<Padded<Place>>(), 128);
}

/// Threads replace a number that others read, and poison what was unlinked as soon as they may.
#[test]
fn no_reader_meets_what_is_used_again() {
    const ROUNDS: u64 = 20_000;
    const POISON: u64 = u64::MAX;
    let epochs = epochs(3);
    let memory: Vec<AtomicU64> = (0..8).map(AtomicU64::new).collect();
    let slot = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut reader = Epochs::register(&epochs).expect("there is a place");
                for round in 0..ROUNDS {
                    reader.enter();
                    let found = slot.load(Ordering::Acquire) as usize;
                    for _ in 0..3 {
                        assert_ne!(memory[found].load(Ordering::Relaxed), POISON);
                    }
                    if round % 64 == 0 { reader.leave() } else { reader.quiesce() }
                }
            });
        }
        let mut free: Vec<u64> = (1..8).collect();
        let mut limbo = std::collections::VecDeque::new();
        for round in 0..ROUNDS {
            if let Some(&(epoch, old)) = limbo.front()
                && epochs.has_passed(epoch)
            {
                limbo.pop_front();
                memory[old as usize].store(POISON, Ordering::Relaxed);
                free.push(old);
            }
            let Some(new) = free.pop() else {
                std::thread::yield_now();
                continue;
            };
            memory[new as usize].store(round, Ordering::Relaxed);
            let old = slot.swap(new, Ordering::AcqRel);
            limbo.push_back((epochs.retire(), old));
        }
    });
}
