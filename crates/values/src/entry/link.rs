// SPDX-License-Identifier: Apache-2.0
//! Large values of an [`Entry`], each in a box of its own type.
//!
//! The kind in the entry's head tells the type, so a box is as large as its value, and not as the largest of all types.
//!
//! # Invariants
//!
//! * INV-LINK: if and only if the [kind](Kind::is_large) is large, the value is eight bytes that [`Box::into_raw`]
//!   returned for a box of the kind's type, which is that of the same name in [`Large`], and the entry owns that box.

use super::Entry;
use crate::hash::large::LargeHash;
use crate::kind::Kind;
use crate::large::{Large, LargeMut, LargeRef};
use crate::large_string::LargeString;
use crate::list::large::LargeList;
use crate::set::large::LargeSet;
use crate::stream::large::LargeStream;
use crate::zset::large::LargeZset;

/// Bytes of a pointer to a large value.
const LINK: usize = size_of::<*mut ()>();

const _: () = assert!(LINK == 8, "INV-LINK");

/// Large values move between threads with their entries. An entry stores its pointer as bytes, so
/// the compiler does not see this; here it checks that they may.
const _: () = {
    const fn assert_send_and_sync<T: Send + Sync>() {}
    assert_send_and_sync::<Large>();
};

/// The pointer to a large value.
enum Link {
    String(*mut LargeString),
    Hash(*mut LargeHash),
    List(*mut LargeList),
    Set(*mut LargeSet),
    Zset(*mut LargeZset),
    Stream(*mut LargeStream),
}

impl Entry {
    /// An entry whose value is large.
    pub(crate) fn with_large(key: &[u8], large: Large) -> Entry {
        let mut entry = Entry::with_bytes(key, Kind::Raw, &[0; LINK]);
        entry.attach(large);
        entry
    }

    /// Replaces the value by a large one.
    pub(crate) fn set_large(&mut self, large: Large) {
        self.set_bytes(Kind::Raw, &[0; LINK]);
        self.attach(large);
    }

    /// An entry like this one without value, under another key, with a large value.
    pub(super) fn with_large_of(&self, key: &[u8], large: Large) -> Entry {
        let mut entry = self.with_head(key, &[0; LINK]);
        entry.attach(large);
        entry
    }

    /// The value if it is large.
    #[inline]
    pub(crate) fn large(&self) -> Option<LargeRef<'_>> {
        let link = self.link()?;
        // SAFETY: INV-LINK. The box is borrowed as its owner is.
        Some(unsafe {
            match link {
                Link::String(string) => LargeRef::String(&*string),
                Link::Hash(hash) => LargeRef::Hash(&*hash),
                Link::List(list) => LargeRef::List(&*list),
                Link::Set(set) => LargeRef::Set(&*set),
                Link::Zset(zset) => LargeRef::Zset(&*zset),
                Link::Stream(stream) => LargeRef::Stream(&*stream),
            }
        })
    }

    /// The value if it is large.
    #[inline]
    pub(crate) fn large_mut(&mut self) -> Option<LargeMut<'_>> {
        let link = self.link()?;
        // SAFETY: INV-LINK. The box is borrowed as its owner is, exclusively.
        Some(unsafe {
            match link {
                Link::String(string) => LargeMut::String(&mut *string),
                Link::Hash(hash) => LargeMut::Hash(&mut *hash),
                Link::List(list) => LargeMut::List(&mut *list),
                Link::Set(set) => LargeMut::Set(&mut *set),
                Link::Zset(zset) => LargeMut::Zset(&mut *zset),
                Link::Stream(stream) => LargeMut::Stream(&mut *stream),
            }
        })
    }

    /// Removes and returns a large value. Leaves a string of eight meaningless bytes.
    pub(super) fn detach(&mut self) -> Option<Large> {
        let link = self.link()?;
        self.set_kind(Kind::Raw);
        // SAFETY: INV-LINK. The entry has just given the box up.
        Some(unsafe {
            match link {
                Link::String(string) => Large::String(Box::from_raw(string)),
                Link::Hash(hash) => Large::Hash(Box::from_raw(hash)),
                Link::List(list) => Large::List(Box::from_raw(list)),
                Link::Set(set) => Large::Set(Box::from_raw(set)),
                Link::Zset(zset) => Large::Zset(Box::from_raw(zset)),
                Link::Stream(stream) => Large::Stream(Box::from_raw(stream)),
            }
        })
    }

    /// Makes `large` the value, in place of eight bytes.
    fn attach(&mut self, large: Large) {
        assert!(self.kind().is_inside() && self.bytes().len() == LINK, "INV-LINK");
        let kind = large.kind();
        let link: *mut () = match large {
            Large::String(string) => Box::into_raw(string).cast(),
            Large::Hash(hash) => Box::into_raw(hash).cast(),
            Large::List(list) => Box::into_raw(list).cast(),
            Large::Set(set) => Box::into_raw(set).cast(),
            Large::Zset(zset) => Box::into_raw(zset).cast(),
            Large::Stream(stream) => Box::into_raw(stream).cast(),
        };
        let place: *mut [u8] = self.bytes_mut();
        // SAFETY: the slice is as long as a pointer.
        unsafe { place.cast::<*mut ()>().write_unaligned(link) };
        self.set_kind(kind);
    }

    /// The pointer to the value if it is large.
    #[inline]
    fn link(&self) -> Option<Link> {
        match self.kind() {
            Kind::Int
            | Kind::Embstr
            | Kind::Raw
            | Kind::HashPack
            | Kind::HashPackEx
            | Kind::ListPack
            | Kind::SetInts
            | Kind::SetPack
            | Kind::ZsetPack
            | Kind::Apart => None,
            Kind::LargeString => Some(Link::String(self.pointer().cast())),
            Kind::LargeHash => Some(Link::Hash(self.pointer().cast())),
            Kind::LargeList => Some(Link::List(self.pointer().cast())),
            Kind::LargeSet => Some(Link::Set(self.pointer().cast())),
            Kind::LargeZset => Some(Link::Zset(self.pointer().cast())),
            Kind::LargeStream => Some(Link::Stream(self.pointer().cast())),
        }
    }

    /// The pointer to a large value, which is there.
    #[inline]
    fn pointer(&self) -> *mut () {
        debug_assert!(self.kind().is_large());
        let place: *const [u8] = &self.block[self.value_at()..][..LINK];
        // SAFETY: INV-LINK. The slice is as long as a pointer, and a pointer was written there.
        unsafe { place.cast::<*mut ()>().read_unaligned() }
    }
}
