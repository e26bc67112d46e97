// SPDX-License-Identifier: Apache-2.0
//! Loom goes through all orders in which the threads of these models can run, and all that the
//! memory order lets them see. A cell stands for the memory of an item: loom fails a model in which
//! it is written while another thread reads it, or without an order between the two.

use super::*;
use loom::cell::UnsafeCell;
use loom::thread;

const LINKED: u64 = 1;
const GONE: u64 = 0;

/// A slot and the item that it leads to.
struct Model {
    epochs: Arc<Epochs>,
    slot: AtomicU64,
    item: UnsafeCell<u64>,
}

impl Model {
    fn new(participants: usize) -> (Arc<Model>, Vec<Participant>) {
        let epochs = Arc::new(Epochs::new(participants));
        let handles = (0..participants)
            .map(|_| Epochs::register(&epochs).expect("there is a place"))
            .collect();
        let slot = AtomicU64::new(LINKED);
        (Arc::new(Model { epochs, slot, item: UnsafeCell::new(1) }), handles)
    }

    /// Looks the item up.
    fn read(&self) {
        if self.slot.load(Ordering::Relaxed) == LINKED {
            self.item.with(|item| {
                // SAFETY: that is the question; loom notices if it is not.
                assert_eq!(unsafe { *item }, 1);
            });
        }
    }

    fn unlink(&self) -> Epoch {
        self.slot.store(GONE, Ordering::Relaxed);
        self.epochs.retire()
    }

    /// Uses the memory again if that is allowed already.
    fn reuse(&self, epoch: Epoch) {
        if self.epochs.has_passed(epoch) {
            self.item.with_mut(|item| {
                // SAFETY: as for `read`.
                unsafe { *item = 2 };
            });
        }
    }
}

#[test]
fn loom_memory_is_used_again_after_a_quiescent_state() {
    loom::model(|| {
        let (model, mut handles) = Model::new(1);
        let mut reader = handles.remove(0);
        let other = Arc::clone(&model);
        let thread = thread::spawn(move || {
            reader.enter();
            other.read();
            reader.quiesce();
            // It stays online: what it finds from here on is of this epoch.
            other.read();
            reader.quiesce();
        });
        let epoch = model.unlink();
        model.reuse(epoch);
        thread.join().expect("the reader is done");
        model.reuse(epoch);
    });
}

#[test]
fn loom_an_offline_reader_is_not_waited_for_and_comes_back_safely() {
    loom::model(|| {
        let (model, mut handles) = Model::new(1);
        let mut reader = handles.remove(0);
        let other = Arc::clone(&model);
        let thread = thread::spawn(move || {
            reader.enter();
            other.read();
            reader.leave();
            reader.enter();
            other.read();
        });
        let epoch = model.unlink();
        model.reuse(epoch);
        thread.join().expect("the reader is done");
        assert!(model.epochs.has_passed(epoch), "the reader was dropped");
    });
}

#[test]
fn loom_an_epoch_waits_for_both_readers() {
    // Three threads have too many orders to try them all: those with few switches find the faults.
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let (model, handles) = Model::new(2);
        let threads: Vec<_> = handles
            .into_iter()
            .map(|mut reader| {
                let other = Arc::clone(&model);
                thread::spawn(move || {
                    reader.enter();
                    other.read();
                    reader.quiesce();
                })
            })
            .collect();
        let epoch = model.unlink();
        model.reuse(epoch);
        for thread in threads {
            thread.join().expect("the reader is done");
        }
    });
}

#[test]
fn loom_a_writer_that_reads_too_is_a_reader_for_the_other() {
    loom::model(|| {
        let (model, mut handles) = Model::new(2);
        let (mut one, mut two) = (handles.remove(0), handles.remove(0));
        let other = Arc::clone(&model);
        let thread = thread::spawn(move || {
            one.enter();
            other.read();
            one.quiesce();
        });
        two.enter();
        model.read();
        let epoch = model.unlink();
        assert!(!model.epochs.has_passed(epoch), "the writer itself is not quiescent yet");
        two.quiesce();
        model.reuse(epoch);
        thread.join().expect("the reader is done");
    });
}

#[test]
fn loom_whoever_asks_may_use_the_memory_again() {
    loom::model(|| {
        let (model, mut handles) = Model::new(1);
        let mut reader = handles.remove(0);
        let retired = Arc::new(AtomicU64::new(0));
        let (other, told) = (Arc::clone(&model), Arc::clone(&retired));
        let reading = thread::spawn(move || {
            reader.enter();
            other.read();
            reader.quiesce();
        });
        let other = Arc::clone(&model);
        let unlinking = thread::spawn(move || {
            let epoch = other.unlink();
            // Relaxed: the epoch itself carries the order.
            told.store(epoch.0, Ordering::Relaxed);
        });
        let epoch = retired.load(Ordering::Relaxed);
        if epoch != 0 && epoch <= model.epochs.now.0.load(Ordering::Relaxed) {
            model.reuse(Epoch(epoch));
        }
        reading.join().expect("the reader is done");
        unlinking.join().expect("the writer is done");
    });
}

#[test]
fn loom_a_place_goes_from_one_participant_to_the_next() {
    loom::model(|| {
        let (model, mut handles) = Model::new(1);
        let mut reader = handles.remove(0);
        let other = Arc::clone(&model);
        let thread = thread::spawn(move || {
            reader.enter();
            other.read();
            drop(reader);
            let mut next = Epochs::register(&other.epochs).expect("the place is free");
            next.enter();
            other.read();
            next.quiesce();
        });
        let epoch = model.unlink();
        model.reuse(epoch);
        thread.join().expect("the reader is done");
    });
}
