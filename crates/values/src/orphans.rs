// SPDX-License-Identifier: Apache-2.0
//! Orphans: strings that have left their entries while replies hold them. Their memory is in use until the last of
//! these is sent, and no entry counts it any more.
//!
//! A reply that holds a string by reference cannot tell whether the entry still has it. The entry can, when it
//! gives the string up: it is an orphan if somebody else holds it then. So reading a string costs nothing for
//! this, and an orphan counts once, however many replies hold it.
//!
//! Each thread keeps the orphans that it made, and frees them by [`free_some`].

use bytes::Bytes;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// A string, and the memory that it keeps.
struct Orphan {
    text: Bytes,
    memory: u64,
}

thread_local! {
    static ORPHANS: RefCell<VecDeque<Orphan>> = const { RefCell::new(VecDeque::new()) };
    /// The memory of all of them.
    static MEMORY: Cell<u64> = const { Cell::new(0) };
}

/// Takes a string that leaves its entry, with so many bytes of memory: drops it if nobody else holds it.
pub(crate) fn adopt(text: Bytes, memory: usize) {
    if text.is_empty() || text.is_unique() {
        return;
    }
    let memory = memory as u64;
    // A thread that ends frees everything.
    let _ = ORPHANS.try_with(|orphans| {
        orphans.borrow_mut().push_back(Orphan { text, memory });
        MEMORY.set(MEMORY.get() + memory);
    });
}

/// Bytes of memory of the orphans of this thread.
#[inline]
pub fn bytes() -> u64 {
    MEMORY.get()
}

/// Frees those of this thread's orphans that nobody holds any more, of the next `budget` of them. Returns whether there
/// may be more to free.
#[inline]
pub fn free_some(budget: usize) -> bool {
    bytes() > 0 && look_at(budget)
}

#[cold]
fn look_at(budget: usize) -> bool {
    ORPHANS.with_borrow_mut(|orphans| {
        let mut freed = 0;
        for _ in 0..budget.min(orphans.len()) {
            let Some(orphan) = orphans.pop_front() else { break };
            if orphan.text.is_unique() {
                freed += orphan.memory;
            } else {
                orphans.push_back(orphan);
            }
        }
        MEMORY.set(MEMORY.get() - freed);
        if orphans.is_empty() {
            // A burst may have made it large.
            *orphans = VecDeque::new();
        }
        freed > 0 && !orphans.is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entry, Remains};

    const LEN: usize = 20_000;

    type Edit = fn(&mut Entry);

    fn large() -> Entry {
        Entry::string(b"key", &[b'x'; LEN])
    }

    #[test]
    fn a_string_is_an_orphan_while_somebody_holds_it_who_is_no_entry() {
        let edits: [(&str, Edit); 6] = [
            ("set", |entry| entry.set_string(&[b'y'; LEN])),
            ("set to a small one", |entry| entry.set_string(b"small")),
            ("append", |entry| entry.append(b"more")),
            ("set range", |entry| entry.set_range(3, b"more")),
            ("set a far range", |entry| entry.set_range(10 * LEN, b"more")),
            ("edit", |entry| entry.edit_text(|text| text[0] = b'y')),
        ];
        for (what, edit) in edits {
            let mut entry = large();
            let memory = entry.heap_bytes() as u64;
            edit(&mut entry);
            assert_eq!(bytes(), 0, "{what}: nobody holds it");
            let mut entry = large();
            let pins = [entry.pin(), entry.pin()];
            edit(&mut entry);
            assert!(bytes() > LEN as u64 && bytes() <= memory, "{what}: once");
            edit(&mut entry);
            drop(entry);
            assert!(!free_some(100) && bytes() > 0, "{what}: it is held");
            assert_eq!(pins[1].as_deref(), Some(&[b'x'; LEN][..]));
            drop(pins);
            free_some(100);
            assert_eq!(bytes(), 0, "{what}");
        }
    }

    #[test]
    fn a_string_whose_entry_is_freed_is_an_orphan_too() {
        let pin = {
            let entry = large();
            let pin = entry.pin();
            assert_eq!(bytes(), 0, "it has its entry");
            assert!(Remains::from(entry).free_some(1));
            pin
        };
        assert!(bytes() > LEN as u64);
        drop(pin);
        free_some(1);
        assert_eq!(bytes(), 0);
    }

    #[test]
    fn those_that_are_held_do_not_hide_others() {
        let (mut held, mut sent) = (Vec::new(), Vec::new());
        for number in 0..100 {
            let pins = if number % 10 == 0 { &mut sent } else { &mut held };
            pins.extend(large().pin());
        }
        let one = bytes() / 100;
        assert!(!free_some(100));
        drop(sent);
        assert!(free_some(30), "it has found some");
        assert_eq!(bytes(), 97 * one);
        (0..7).for_each(|_| {
            free_some(10);
        });
        assert_eq!(bytes(), 90 * one);
        drop(held);
        while free_some(10) {}
        assert_eq!(bytes(), 0);
    }
}
