// SPDX-License-Identifier: Apache-2.0
//! Loom goes through all interleavings of the threads of these models, and all values that the
//! memory order lets them see. A cell stands for the memory of an item: loom fails a model in which
//! it is written while another thread reads it, or without an order between the two.

use super::*;
use loom::cell::UnsafeCell;
use loom::thread;

const LINKED: u64 = 1;
const GONE: u64 = 0;

/// A slot and the item that it points to.
struct Model {
    epochs: Arc<Epochs>,
    slot: AtomicU64,
    item: UnsafeCell<u64>,
    /// The epoch in which the item was retired, for whoever else may use its memory; zero before.
    retired: AtomicU64,
}

impl Model {
    fn new(participants: usize) -> (Arc<Model>, Vec<Participant>) {
        let epochs = Arc::new(Epochs::new(participants));
        let handles = (0..participants)
            .map(|_| Epochs::register(&epochs).expect("there is a place"))
            .collect();
        let (slot, retired) = (AtomicU64::new(LINKED), AtomicU64::new(0));
        (Arc::new(Model { epochs, slot, item: UnsafeCell::new(1), retired }), handles)
    }

    /// Looks the item up.
    fn read(&self) {
        if self.slot.load(Ordering::Relaxed) == LINKED {
            self.item.with(|item| {
                // SAFETY: this is what the model checks; loom fails it if the access is not safe.
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

/// Runs the threads of a model: one for each participant, and this one.
fn run<const N: usize, R>(
    participants: [fn(&Model, Participant); N],
    here: impl FnOnce(&Model) -> R,
) -> (Arc<Model>, R) {
    let (model, handles) = Model::new(N);
    let threads = participants.into_iter().zip(handles).map(|(work, handle)| {
        let model = Arc::clone(&model);
        thread::spawn(move || work(&model, handle))
    });
    let threads: Vec<_> = threads.collect();
    let result = here(&model);
    for thread in threads {
        thread.join().expect("the thread ends well");
    }
    (model, result)
}

/// One turn of a reader.
fn turn(model: &Model, mut reader: Participant) {
    reader.enter();
    model.read();
    reader.quiesce();
}

/// Takes the item away, and uses its memory if that is allowed at once.
fn replace(model: &Model) -> Epoch {
    let epoch = model.unlink();
    model.reuse(epoch);
    epoch
}

#[test]
fn loom_memory_is_used_again_after_a_quiescent_state() {
    let read = |model: &Model, mut reader: Participant| {
        reader.enter();
        model.read();
        reader.quiesce();
        // It stays online: what it finds from here on is of this epoch.
        model.read();
        reader.quiesce();
    };
    loom::model(move || {
        let (model, epoch) = run([read], replace);
        model.reuse(epoch);
    });
}

#[test]
fn loom_an_offline_reader_is_not_waited_for_and_comes_back_safely() {
    let read = |model: &Model, mut reader: Participant| {
        reader.enter();
        model.read();
        reader.leave();
        reader.enter();
        model.read();
    };
    loom::model(move || {
        let (model, epoch) = run([read], replace);
        assert!(model.epochs.has_passed(epoch), "the reader was dropped");
    });
}

#[test]
fn loom_an_epoch_waits_for_both_readers() {
    // Three threads have too many orders to try them all: those with few switches find the faults.
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        run([turn, turn], replace);
    });
}

#[test]
fn loom_a_writer_that_reads_too_is_a_reader_for_the_other() {
    let write = |model: &Model, mut writer: Participant| {
        writer.enter();
        model.read();
        let epoch = model.unlink();
        assert!(!model.epochs.has_passed(epoch), "the writer itself is not quiescent yet");
        writer.quiesce();
        model.reuse(epoch);
    };
    loom::model(move || {
        run([turn, write], |_| ());
    });
}

#[test]
fn loom_whoever_asks_may_use_the_memory_again() {
    // It holds nothing itself, so it need not go online.
    let unlink = |model: &Model, _: Participant| {
        let epoch = model.unlink();
        // Relaxed: the epoch itself carries the order.
        model.retired.store(epoch.0, Ordering::Relaxed);
    };
    loom::model(move || {
        run([turn, unlink], |model| {
            let epoch = model.retired.load(Ordering::Relaxed);
            if epoch != 0 && epoch <= model.epochs.now.0.load(Ordering::Relaxed) {
                model.reuse(Epoch(epoch));
            }
        });
    });
}

#[test]
fn loom_a_place_goes_from_one_participant_to_the_next() {
    let read = |model: &Model, mut reader: Participant| {
        reader.enter();
        model.read();
        drop(reader);
        let mut next = Epochs::register(&model.epochs).expect("the place is free");
        next.enter();
        model.read();
        next.quiesce();
    };
    loom::model(move || {
        run([read], replace);
    });
}
