// SPDX-License-Identifier: Apache-2.0
//! [`Dropped`], and how it gets to the listener.
//!
//! The store reports an item in the middle of its work, when nobody may use it. So what it reports is kept with the
//! thread, and the listener called when the operation is over and holds nothing.

use crate::{Decode, Reason};
use std::cell::Cell;
use std::marker::PhantomData;

/// An item that has left the cache without having been asked to.
///
/// What [`Builder::on_drop`](crate::Builder::on_drop) calls its listener with.
pub struct Dropped<'a, K: ?Sized, V: ?Sized> {
    item: &'a Noted,
    types: PhantomData<fn(&K, &V)>,
}

impl<K: ?Sized, V: ?Sized> Dropped<'_, K, V> {
    /// The key.
    pub fn key(&self) -> Option<K::Owned>
    where
        K: Decode,
    {
        K::decode(&self.item.key)
    }

    /// The value.
    pub fn value(&self) -> Option<V::Owned>
    where
        V: Decode,
    {
        V::decode(&self.item.value)
    }

    /// The bytes of the key.
    pub fn key_bytes(&self) -> &[u8] {
        &self.item.key
    }

    /// The bytes of the value.
    pub fn value_bytes(&self) -> &[u8] {
        &self.item.value
    }

    /// Why it has left.
    pub fn reason(&self) -> Reason {
        self.item.reason
    }
}

impl<K: ?Sized, V: ?Sized> std::fmt::Debug for Dropped<'_, K, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dropped")
            .field("key", &self.item.key.escape_ascii().to_string())
            .field("value_len", &self.item.value.len())
            .field("reason", &self.item.reason)
            .finish()
    }
}

/// A copy of an item that the store has dropped.
pub(crate) struct Noted {
    key: Box<[u8]>,
    value: Box<[u8]>,
    reason: Reason,
}

/// Called for each item that was noted.
pub(crate) type DropListener = Box<dyn Fn(&Noted) + Send + Sync>;

/// A listener whose types are forgotten.
pub(crate) fn listener<K: ?Sized + 'static, V: ?Sized + 'static>(
    on_drop: impl Fn(Dropped<'_, K, V>) + Send + Sync + 'static,
) -> DropListener {
    Box::new(move |item| on_drop(Dropped { item, types: PhantomData }))
}

thread_local! {
    /// What the operation that this thread is in has dropped.
    static NOTED: Cell<Vec<Noted>> = const { Cell::new(Vec::new()) };
}

/// Notes an item, in the middle of an operation.
pub(crate) fn note(key: &[u8], value: &[u8], reason: Reason) {
    let noted = Noted { key: key.into(), value: value.into(), reason };
    // In the end of a thread, when its notes are gone, there is nobody left to tell.
    let _ = NOTED.try_with(|all| {
        let mut items = all.take();
        items.push(noted);
        all.set(items);
    });
}

/// Tells the listener what was noted, after an operation. It may use the cache: what that drops is told within.
pub(crate) fn tell(listener: &DropListener) {
    let items = NOTED.try_with(Cell::take).unwrap_or_default();
    items.iter().for_each(listener);
}
