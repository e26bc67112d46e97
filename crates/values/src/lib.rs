// SPDX-License-Identifier: Apache-2.0
//! Keys with typed values, and a hash table that grows without pauses.
//!
//! An [`Entry`] is a key with its value: one pointer to one allocation while the value is small, and
//! a second one behind it when it is large or when that saves memory. A [`Table`] finds entries by key; it is the index of a
//! keyspace, and also the index inside a large hash or set.
//!
//! # Files
//!
//! * Entries: `entry.rs`, `entry/apart.rs` (strings in a block of their own), `entry/link.rs` (large values), `kind.rs` (how a value is stored), `types.rs` (types, encodings, limits),
//!   `large.rs` (values too big to be packed), `remains.rs` (freeing those step by step).
//! * Operations on values: `string.rs`, and `large_string.rs` for strings that can be pinned, `orphans.rs` for pinned ones without an entry;
//!   `hash.rs`, `list.rs`, `set.rs` and `zset.rs`, each with its large form in a folder; `stream.rs`.
//! * Packed small collections: `pack.rs` (byte strings), `intset.rs` (integers), `list/pack.rs` (elements of lists),
//!   `scratch.rs` (assembling an edit).
//! * The serial form of values, that of Redis's DUMP and RDB files: `serial.rs`.
//! * Building blocks: `named.rs` (elements prefetched by name), `thin.rs` (an allocation behind one pointer), `varint.rs` (lengths), `number.rs` and
//!   `text.rs` (strings stored as integers), `quarters.rs` (sizes of chunks), `listpack.rs` (sizes as Redis counts them).
//! * Finding entries: `table.rs` and the files in `table/`.
//!
//! The memory that they report is that of the [size classes](allocator::size_class) of `allocator`, of which they ask
//! for whole blocks. A program with another allocator may use more.
#![deny(unsafe_code)]

mod either;
#[allow(unsafe_code)]
mod entry;
mod hash;
mod intset;
mod kind;
mod large;
mod large_string;
mod list;
mod listpack;
mod made;
mod named;
mod number;
pub mod orphans;
mod pack;
mod quarters;
mod remains;
mod sample;
mod scratch;
pub mod serial;
mod set;
mod stream;
mod string;
mod table;
mod text;
#[allow(unsafe_code)]
mod thin;
mod types;
mod varint;
mod zset;

pub use entry::Entry;
pub use hash::{HashMut, HashRef};
pub use list::{End, ListIter, ListMut, ListRef};
pub use made::{NewHash, NewList, NewSet, NewStream, NewZset};
pub use named::Named;
pub use number::{Digits, parse_i64};
pub use remains::Remains;
pub use set::{SetMut, SetRef};
pub use stream::{
    Claim, Claimed, ConsumerNumber, Deliveries, Idempotence, IdempotenceLimits, PendingItem,
    References, Removed, StreamConsumer, StreamGroup, StreamGroupMut, StreamId, StreamItem,
    StreamIter, StreamMut, StreamRef, StreamRevIter, Trim, TrimTo,
};
pub use table::{
    CacheLine, Compact, Keyed, Layout, Swept, TOGETHER, Table, Verdict, hash_of, seed_hashes,
};
pub use text::Text;
pub use types::{Encoding, Limits, Type};
pub use zset::{LexBound, ScoreBound, Scores, ZsetIter, ZsetMut, ZsetRef};
