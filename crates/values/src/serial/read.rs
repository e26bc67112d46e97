// SPDX-License-Identifier: Apache-2.0
//! [`read`]: values in all forms that servers write.

use super::listpack::Listpack;
use super::reader::{Reader, parse_score};
use super::ziplist::Ziplist;
use super::zipmap::Zipmap;
use super::{FormVersion, Malformed, intset, stream, types};
use crate::hash::fill::HashFill;
use crate::{Digits, Entry, Limits, ListMut, NewList, NewSet, NewZset, Text};

/// What bounds the values that are read.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a> {
    /// Up to which sizes collections stay packed.
    pub limits: &'a Limits,
    /// The present time, in unix milliseconds: fields of hashes that have expired are left out.
    pub now_ms: u64,
    /// The most bytes that the value may take beyond those that it has in the form: for strings that are compressed, and for
    /// fields that items of a stream share.
    pub bytes_max: usize,
}

/// The entry of a type and a value in serial form; `None` if it is a hash all of whose fields have expired. Bytes
/// behind the value are ignored, as by Redis.
///
/// # Errors
///
/// There is no such type, the bytes are not those of a value, it is an empty collection or one with an element twice,
/// or there are too many bytes.
pub fn read(
    key: &[u8],
    value: &[u8],
    version: FormVersion,
    bounds: Bounds<'_>,
) -> Result<Option<Entry>, Malformed> {
    let (&kind, value) = value.split_first().ok_or(Malformed)?;
    let mut reader = Reader::new(value, bounds.bytes_max);
    let reader = &mut reader;
    match kind {
        types::STRING => Ok(Some(Entry::string(key, reader.string()?.bytes()))),
        types::LIST | types::LIST_ZIPLIST | types::LIST_ZIPLISTS | types::LIST_LISTPACKS => {
            list(kind, key, reader, bounds.limits).map(Some)
        }
        types::SET | types::SET_INTSET | types::SET_LISTPACK => {
            set(kind, key, reader, bounds.limits).map(Some)
        }
        types::ZSET_TEXT | types::ZSET | types::ZSET_ZIPLIST | types::ZSET_LISTPACK => {
            zset(kind, key, reader, bounds.limits).map(Some)
        }
        types::HASH
        | types::HASH_ZIPMAP
        | types::HASH_ZIPLIST
        | types::HASH_LISTPACK
        | types::HASH_EXPIRING_OR_RC
        | types::HASH_LISTPACK_EXPIRING_RC
        | types::HASH_EXPIRING
        | types::HASH_LISTPACK_EXPIRING => hash(kind, version, key, reader, bounds),
        types::STREAM | types::STREAM_COUNTERS | types::STREAM_ACTIVE => {
            stream::read(kind, key, reader, bounds.limits).map(Some)
        }
        _ => Err(Malformed),
    }
}

/// The elements of a packed collection.
#[derive(Debug)]
enum Pack<'a> {
    Listpack(Listpack<'a>),
    Ziplist(Ziplist<'a>),
    Zipmap(Zipmap<'a>),
}

impl<'a> Pack<'a> {
    fn listpack(bytes: &'a [u8]) -> Result<Self, Malformed> {
        Listpack::new(bytes).map(Pack::Listpack)
    }

    fn ziplist(bytes: &'a [u8]) -> Result<Self, Malformed> {
        Ziplist::new(bytes).map(Pack::Ziplist)
    }

    fn next(&mut self) -> Result<Option<Text<'a>>, Malformed> {
        match self {
            Pack::Listpack(pack) => pack.next(),
            Pack::Ziplist(pack) => pack.next(),
            Pack::Zipmap(pack) => pack.next(),
        }
    }

    /// How many elements there are, if that is told. It may be a wrong claim.
    fn claimed(&self) -> Option<u64> {
        match self {
            Pack::Listpack(pack) => pack.left().map(u64::from),
            Pack::Ziplist(_) | Pack::Zipmap(_) => None,
        }
    }

    /// The next element, which must be there.
    fn more(&mut self) -> Result<Text<'a>, Malformed> {
        self.next()?.ok_or(Malformed)
    }
}

/// A collection, which has elements.
fn filled(entry: Entry) -> Result<Entry, Malformed> {
    if entry.is_empty() { Err(Malformed) } else { Ok(entry) }
}

/// An element, which must not be there twice.
fn added(is_new: bool) -> Result<(), Malformed> {
    if is_new { Ok(()) } else { Err(Malformed) }
}

fn list(
    kind: u8,
    key: &[u8],
    reader: &mut Reader<'_>,
    limits: &Limits,
) -> Result<Entry, Malformed> {
    /// In front of a piece of a list that is an element by itself, and of one that is a listpack.
    const PLAIN: u64 = 1;
    const PACKED: u64 = 2;
    let mut list = NewList::new(key);
    let mut edit = list.edit(limits);
    match kind {
        types::LIST_ZIPLIST => add_all(&mut edit, Pack::ziplist(&reader.pack()?)?)?,
        types::LIST_ZIPLISTS => {
            for _ in 0..reader.count()? {
                add_all(&mut edit, Pack::ziplist(&reader.pack()?)?)?;
            }
        }
        types::LIST_LISTPACKS => {
            for _ in 0..reader.count()? {
                match reader.count()? {
                    PACKED => add_all(&mut edit, Pack::listpack(&reader.pack()?)?)?,
                    PLAIN => edit.push_back(reader.string()?.bytes()),
                    _ => return Err(Malformed),
                }
            }
        }
        _ => {
            for _ in 0..reader.count()? {
                edit.push_back(reader.string()?.bytes());
            }
        }
    }
    filled(list.into_entry())
}

fn add_all(list: &mut ListMut<'_>, mut pack: Pack<'_>) -> Result<(), Malformed> {
    while let Some(element) = pack.next()? {
        list.push_back(&element);
    }
    Ok(())
}

fn set(kind: u8, key: &[u8], reader: &mut Reader<'_>, limits: &Limits) -> Result<Entry, Malformed> {
    let mut set = NewSet::new(key);
    let mut edit = set.edit(limits);
    match kind {
        types::SET_INTSET => {
            let mut digits = Digits::new();
            // They are in order, so that none is there twice.
            intset::each(&reader.pack()?, |member| _ = edit.add(digits.format(member)))?;
        }
        types::SET_LISTPACK => {
            let bytes = reader.pack()?;
            let mut pack = Pack::listpack(&bytes)?;
            edit.expect_count(pack.claimed().unwrap_or(0));
            while let Some(member) = pack.next()? {
                added(edit.add(&member))?;
            }
        }
        _ => {
            let count = reader.count()?;
            edit.expect_count(count);
            for _ in 0..count {
                added(edit.add(reader.string()?.bytes()))?;
            }
        }
    }
    filled(set.into_entry())
}

fn zset(
    kind: u8,
    key: &[u8],
    reader: &mut Reader<'_>,
    limits: &Limits,
) -> Result<Entry, Malformed> {
    let mut set = NewZset::new(key);
    let mut edit = set.edit(limits);
    let mut add = |member: &[u8], score: f64| match edit.insert(member, score) {
        None => Ok(()),
        Some(_) => Err(Malformed),
    };
    match kind {
        types::ZSET_ZIPLIST | types::ZSET_LISTPACK => {
            let bytes = reader.pack()?;
            let is_ziplist = kind == types::ZSET_ZIPLIST;
            let mut pack =
                if is_ziplist { Pack::ziplist(&bytes)? } else { Pack::listpack(&bytes)? };
            while let Some(member) = pack.next()? {
                add(&member, parse_score(&pack.more()?)?)?;
            }
        }
        _ => {
            for _ in 0..reader.count()? {
                let member = reader.string()?;
                let is_text = kind == types::ZSET_TEXT;
                let score = if is_text { reader.score_in_text()? } else { reader.score()? };
                add(member.bytes(), score)?;
            }
        }
    }
    filled(set.into_entry())
}

/// A hash that is being read.
struct Fields<'a> {
    hash: HashFill<'a>,
    now_ms: u64,
    /// Some have expired.
    has_expired: bool,
}

impl Fields<'_> {
    /// The number of fields that follow, in front of them.
    fn count(&mut self, reader: &mut Reader<'_>) -> Result<u64, Malformed> {
        let count = reader.count()?;
        self.hash.expect(count);
        Ok(count)
    }

    fn add(&mut self, field: &[u8], value: &[u8], due: Option<u64>) -> Result<(), Malformed> {
        if due.is_some_and(|due| i64::try_from(due).is_err()) {
            return Err(Malformed);
        }
        if due.is_some_and(|due| due <= self.now_ms) {
            self.has_expired = true;
            return Ok(());
        }
        added(self.hash.add(field, value, due))
    }

    fn add_packed(&mut self, mut pack: Pack<'_>) -> Result<(), Malformed> {
        self.hash.expect(pack.claimed().unwrap_or(0) / 2);
        while let Some(field) = pack.next()? {
            self.add(&field, &pack.more()?, None)?;
        }
        Ok(())
    }

    /// Fields, values and moments of a listpack; the moment 0 is never.
    fn add_packed_expiring(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let mut pack = Pack::listpack(bytes)?;
        self.hash.expect(pack.claimed().unwrap_or(0) / 3);
        while let Some(field) = pack.next()? {
            let (value, due) = (pack.more()?, pack.more()?);
            let due = crate::parse_i64(&due).and_then(|due| u64::try_from(due).ok());
            let due = due.ok_or(Malformed)?;
            self.add(&field, &value, Some(due).filter(|due| *due != 0))?;
        }
        Ok(())
    }
}

fn hash(
    kind: u8,
    version: FormVersion,
    key: &[u8],
    reader: &mut Reader<'_>,
    bounds: Bounds<'_>,
) -> Result<Option<Entry>, Malformed> {
    let mut fields = Fields {
        hash: HashFill::new(key, bounds.limits),
        now_ms: bounds.now_ms,
        has_expired: false,
    };
    match kind {
        types::HASH_ZIPMAP => {
            fields.add_packed(Pack::Zipmap(Zipmap::new(&reader.pack()?)?))?;
        }
        types::HASH_ZIPLIST => fields.add_packed(Pack::ziplist(&reader.pack()?)?)?,
        types::HASH_LISTPACK => fields.add_packed(Pack::listpack(&reader.pack()?)?)?,
        types::HASH_LISTPACK_EXPIRING => {
            // When the first field expires.
            reader.moment()?;
            fields.add_packed_expiring(&reader.pack()?)?;
        }
        types::HASH_LISTPACK_EXPIRING_RC => fields.add_packed_expiring(&reader.pack()?)?,
        types::HASH_EXPIRING_OR_RC if version.is_of_valkey() => {
            for _ in 0..fields.count(reader)? {
                let (field, value) = (reader.string()?, reader.string()?);
                let due = reader.moment_or_never()?;
                fields.add(field.bytes(), value.bytes(), due)?;
            }
        }
        types::HASH_EXPIRING_OR_RC | types::HASH_EXPIRING => {
            // Moments count from that of the first field that expires, and that one is 1; 0 is never.
            let is_relative = kind == types::HASH_EXPIRING;
            let first = if is_relative { reader.moment()?.unwrap_or(0) } else { 1 };
            for _ in 0..fields.count(reader)? {
                let due = reader.count()?;
                let (field, value) = (reader.string()?, reader.string()?);
                let due = due.checked_sub(1).map(|after| first.checked_add(after).ok_or(Malformed));
                fields.add(field.bytes(), value.bytes(), due.transpose()?)?;
            }
        }
        _ => {
            for _ in 0..fields.count(reader)? {
                let (field, value) = (reader.string()?, reader.string()?);
                fields.add(field.bytes(), value.bytes(), None)?;
            }
        }
    }
    let has_expired = fields.has_expired;
    let entry = fields.hash.into_entry();
    if entry.is_empty() && has_expired { Ok(None) } else { filled(entry).map(Some) }
}
