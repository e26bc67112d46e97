// SPDX-License-Identifier: Apache-2.0
//! [`Names`]: interns the field names that many hashes share.
//!
//! Applications store objects in hashes, so a million hashes have the same few field names. A name
//! that occurs often enough is interned here, and hashes that get such a field store its number, of
//! one or two bytes, in place of the name.
//!
//! No name is ever removed: a number in any hash stays valid, and reading it takes no lock. Therefore
//! the number of names is bounded. When it is reached, or if a name is too long or too rare, hashes
//! store the name itself.
//!
//! A small table of candidates finds the frequent names. Each place has one name's tag and a count,
//! which other names at the same place decrease (the majority vote of Boyer and Moore). So names that
//! occur only once are not interned, and hardly keep others out.
//!
//! INV-NAMES: a number that was given out is the index of a name, for ever. INV-IDS: every name has its
//! number in `ids`, at the first place free after the one of its hash.

use crate::hash_of;
use parking_lot::Mutex;
use std::ops::RangeInclusive;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU16, AtomicU32};

/// The most names that are interned: half a megabyte if all have the greatest length.
const NAMES_MAX: usize = 4096;
/// Places for their numbers, of which half stay free.
const IDS: usize = 2 * NAMES_MAX;
/// Places of candidates.
const CANDIDATES: usize = 4096;
/// How much more often than its rivals a name must occur to be interned.
const OFTEN: u32 = 32;
/// The lengths of names for which interning saves memory.
const LENGTHS: RangeInclusive<usize> = 2..=64;

/// The names that all hashes of this process share.
pub(crate) static NAMES: Names = Names::new();

/// Names by number, and numbers by name.
pub(crate) struct Names {
    names: [OnceLock<Box<[u8]>>; NAMES_MAX],
    /// One more than the number; zero where there is none.
    ids: [AtomicU16; IDS],
    /// A tag in the upper 24 bits, a count in the lower eight.
    candidates: [AtomicU32; CANDIDATES],
    /// How many names there are.
    len: Mutex<u16>,
}

impl Names {
    pub(crate) const fn new() -> Self {
        Names {
            names: [const { OnceLock::new() }; NAMES_MAX],
            ids: [const { AtomicU16::new(0) }; IDS],
            candidates: [const { AtomicU32::new(0) }; CANDIDATES],
            len: Mutex::new(0),
        }
    }

    /// The name of a number.
    ///
    /// # Panics
    ///
    /// When the number was never given out.
    #[inline]
    pub(crate) fn name(&self, id: usize) -> &[u8] {
        self.names[id].get().expect("INV-NAMES")
    }

    /// Counts an occurrence of a name. Returns its number, or `None` if it is not interned.
    pub(crate) fn note(&self, name: &[u8]) -> Option<u16> {
        if !LENGTHS.contains(&name.len()) {
            return None;
        }
        let hash = hash_of(name);
        match self.find(hash, name) {
            Ok(id) => Some(id),
            Err(_) if self.comes_often(hash) => self.keep(hash, name),
            Err(_) => None,
        }
    }

    /// The number of a name, or the place in `ids` where it belongs.
    fn find(&self, hash: u64, name: &[u8]) -> Result<u16, usize> {
        let mut place = hash as usize % IDS;
        // It ends at a free place: INV-IDS.
        while let Some(id) = self.ids[place].load(Acquire).checked_sub(1) {
            if self.name(usize::from(id)) == name {
                return Ok(id);
            }
            place = (place + 1) % IDS;
        }
        Err(place)
    }

    /// Counts a name that is not interned. Counts that are lost to races between workers do not
    /// matter.
    fn comes_often(&self, hash: u64) -> bool {
        let candidate = &self.candidates[(hash >> 16) as usize % CANDIDATES];
        let tag = (hash >> 40) as u32;
        let now = candidate.load(Relaxed);
        let (rival, count) = (now >> 8, now & 0xff);
        let next = match count {
            _ if rival == tag && now != 0 => count + 1,
            0 => 1,
            _ => count - 1,
        };
        let winner = if count == 0 { tag } else { rival };
        let is_often = winner == tag && next >= OFTEN;
        candidate.store(if is_often { 0 } else { winner << 8 | next }, Relaxed);
        is_often
    }

    /// Interns a name, if there is room.
    #[cold]
    fn keep(&self, hash: u64, name: &[u8]) -> Option<u16> {
        let mut len = self.len.lock();
        let place = match self.find(hash, name) {
            Ok(id) => return Some(id),
            Err(place) => place,
        };
        let id = *len;
        self.names.get(usize::from(id))?.set(name.into()).expect("INV-NAMES: numbers ascend");
        self.ids[place].store(id + 1, Release);
        *len += 1;
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Too large for the stack of a test.
    fn names() -> Box<Names> {
        Box::new(Names::new())
    }

    fn numbered(index: usize) -> Vec<u8> {
        format!("name {index}").into_bytes()
    }

    #[test]
    fn a_name_that_comes_often_is_kept_and_found_again() {
        let names = names();
        for _ in 1..OFTEN {
            assert_eq!(names.note(b"city"), None);
        }
        assert_eq!(names.note(b"city"), Some(0));
        assert_eq!(names.note(b"city"), Some(0));
        assert_eq!(names.name(0), b"city");
        assert_eq!(names.note(b"town"), None);
    }

    #[test]
    fn names_that_come_once_do_not_get_in_or_keep_others_out() {
        let names = names();
        for index in 0..100_000 {
            assert_eq!(names.note(&numbered(index)), None);
            if index % 100 == 0 {
                names.note(b"city");
            }
        }
        assert!(names.note(b"city").is_some(), "it came a thousand times among a hundred thousand");
    }

    #[test]
    fn short_and_long_names_stay_where_they_are() {
        let names = names();
        for name in [&b""[..], b"x", &[b'x'; 65]] {
            for _ in 0..2 * OFTEN {
                assert_eq!(names.note(name), None);
            }
        }
        for name in [&b"xy"[..], &[b'x'; 64]] {
            assert!((0..OFTEN).any(|_| names.note(name).is_some()));
        }
    }

    #[test]
    fn when_the_room_is_full_what_is_kept_stays() {
        let names = names();
        let kept = |index| (0..4 * OFTEN).find_map(|_| names.note(&numbered(index)));
        for index in 0..NAMES_MAX {
            assert_eq!(kept(index), Some(index as u16));
        }
        assert_eq!(kept(NAMES_MAX), None);
        for index in 0..NAMES_MAX {
            assert_eq!(names.note(&numbered(index)), Some(index as u16));
            assert_eq!(names.name(index), numbered(index));
        }
    }

    #[test]
    fn workers_agree_on_the_numbers() {
        let names = names();
        let work = || {
            let mut last = vec![None; 100];
            for index in (0..200 * OFTEN as usize).map(|step| step % 100) {
                let id = names.note(&numbered(index));
                assert!(last[index].is_none() || last[index] == id, "a number is for ever");
                if let Some(id) = id {
                    assert_eq!(names.name(usize::from(id)), numbered(index));
                }
                last[index] = id;
            }
            last
        };
        let found: Vec<_> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
            workers.into_iter().map(|worker| worker.join().expect("it does not panic")).collect()
        });
        for index in 0..100 {
            let ids: HashSet<_> = found.iter().filter_map(|last| last[index]).collect();
            assert!(ids.len() <= 1, "two numbers for one name");
        }
    }
}
