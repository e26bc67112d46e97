// SPDX-License-Identifier: Apache-2.0
//! Tables against the hash map of the standard library.

mod model;
mod scanning;
mod shape;
mod sweeping;

use std::cell::Cell;

use crate::table::{Keyed, Table, hash_of, seed_hashes};

thread_local! {
    /// How many elements were asked when they are due.
    static LOOKS: Cell<usize> = const { Cell::new(0) };
}

/// An element: a number as its key, and a due time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Element(Box<(u32, [u8; 4], Option<u64>)>);

impl Element {
    fn new(number: u32, due: Option<u64>) -> Self {
        Element(Box::new((number, number.to_be_bytes(), due)))
    }

    fn number(&self) -> u32 {
        self.0.0
    }
}

impl Keyed for Element {
    fn key(&self) -> &[u8] {
        &self.0.1
    }

    fn due(&self) -> Option<u64> {
        LOOKS.set(LOOKS.get() + 1);
        self.0.2
    }
}

/// The looks at due times in `work`.
fn looks(work: impl FnOnce()) -> usize {
    let before = LOOKS.get();
    work();
    LOOKS.get() - before
}

fn hash(number: u32) -> u64 {
    seed_hashes(0x5eed);
    hash_of(&number.to_be_bytes())
}

fn insert(table: &mut Table<Element>, number: u32, due: Option<u64>) {
    table.insert(hash(number), Element::new(number, due));
}

fn find(table: &Table<Element>, number: u32) -> Option<&Element> {
    table.find(hash(number), &number.to_be_bytes())
}

fn remove(table: &mut Table<Element>, number: u32) -> Option<Element> {
    table.remove(hash(number), &number.to_be_bytes())
}

/// A table of the numbers from 0 to before `count`, none of which is ever due.
fn filled(count: u32) -> Table<Element> {
    let mut table = Table::new();
    for number in 0..count {
        insert(&mut table, number, None);
    }
    table
}
