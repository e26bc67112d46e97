// SPDX-License-Identifier: Apache-2.0
//! Keys with typed values, and the hash table that grows without a pause.
//!
//! An [`Entry`] is a key with its value: one pointer to one allocation while the value is small, and
//! a second one behind it when it is large. A [`Table`] finds entries by key; it is the index of a
//! keyspace, and inside one large hash or set it is the index of that too.
//!
//! # Files
//!
//! * What an entry is: `entry.rs`, `kind.rs` (how its value is to be read), `types.rs` (types,
//!   encodings, limits), `large.rs` (values too big to be packed), `remains.rs` (freeing those bit by
//!   bit).
//! * What its value can do: `string.rs`, and `large_string.rs` for strings that can be pinned;
//!   `hash.rs`, `list.rs`, `set.rs` and `zset.rs`, each with its large form in a folder.
//! * How small collections are packed: `pack.rs` (byte strings), `intset.rs` (integers),
//!   `scratch.rs` (putting an edit together).
//! * What it is made of: `thin.rs` (an allocation behind one pointer), `allocated.rs` (what the
//!   allocator really spends), `varint.rs` (lengths), `number.rs` and `text.rs` (integers that look
//!   like strings).
//! * Finding entries: `table.rs` and what is below it.
#![deny(unsafe_code)]

mod allocated;
mod either;
#[allow(unsafe_code)]
mod entry;
mod hash;
mod intset;
mod kind;
mod large;
mod large_string;
mod list;
mod made;
mod number;
mod pack;
mod remains;
mod sample;
mod scratch;
mod set;
mod string;
mod table;
mod text;
#[allow(unsafe_code)]
mod thin;
mod types;
mod varint;
mod zset;

pub use allocated::allocated;
pub use entry::Entry;
pub use hash::{HashMut, HashRef};
pub use list::{End, ListIter, ListMut, ListRef};
pub use made::{NewHash, NewList, NewSet, NewZset};
pub use number::{Digits, parse_i64};
pub use remains::Remains;
pub use set::{SetMut, SetRef};
pub use table::{CacheLine, Compact, Keyed, Layout, Swept, Table, Verdict, hash_of, seed_hashes};
pub use text::Text;
pub use types::{Encoding, Limits, Type};
pub use zset::{LexBound, ScoreBound, ZsetIter, ZsetMut, ZsetRef};
