// SPDX-License-Identifier: Apache-2.0
//! Reads streams.

use super::super::Malformed;
use super::super::listpack::Listpack;
use super::super::reader::Reader;
use super::write::elements;
use super::{DELETED, Form, SAME_FIELDS, groups};
use crate::stream::Deleted;
use crate::{Entry, Limits, NewStream, StreamId, StreamMut, Text};

/// What a piece may take for itself, in bytes.
const PIECE_BYTES: usize = 1 << 10;

/// Reads a stream of a version of the form.
pub(in super::super) fn read(
    kind: u8,
    key: &[u8],
    reader: &mut Reader<'_>,
    limits: &Limits,
) -> Result<Entry, Malformed> {
    let form = Form::of(kind);
    let mut made = NewStream::new(key);
    let mut stream = made.edit(limits);
    for _ in 0..reader.count()? {
        let first = raw_id(reader.string()?.bytes())?;
        let bytes = reader.pack()?;
        // Fields that items of a piece share are written once there, but once for each node here.
        let before = stream.items_bytes();
        let usual = bytes.len().saturating_mul(2).saturating_add(PIECE_BYTES);
        let most = before.saturating_add(usual).saturating_add(reader.bytes_left());
        piece(&mut stream, first, &bytes, most)?;
        reader.take(stream.items_bytes().saturating_sub(before).saturating_sub(usual))?;
    }
    let items = reader.count()?;
    let last = id(reader)?;
    let greatest = stream.read().last().map(|item| item.id);
    if items != stream.read().len() as u64 || greatest.is_some_and(|greatest| greatest > last) {
        return Err(Malformed);
    }
    stream.set_last_id(last);
    if form >= Form::Counters {
        // The first item tells its id itself.
        id(reader)?;
        let (deleted, added) = (id(reader)?, reader.count()?);
        if added < items {
            return Err(Malformed);
        }
        stream.set_max_deleted_id(deleted);
        stream.set_added(added);
    }
    for _ in 0..reader.count()? {
        groups::read(&mut stream, form, reader)?;
    }
    Ok(made.into_entry())
}

/// An id, as two numbers.
pub(super) fn id(reader: &mut Reader<'_>) -> Result<StreamId, Malformed> {
    Ok(StreamId::new(reader.count()?, reader.count()?))
}

/// An id, as 16 bytes.
pub(super) fn raw_id(bytes: &[u8]) -> Result<StreamId, Malformed> {
    let (ms, seq) = bytes.split_first_chunk().ok_or(Malformed)?;
    let seq = seq.try_into().map_err(|_| Malformed)?;
    Ok(StreamId::new(u64::from_be_bytes(*ms), u64::from_be_bytes(seq)))
}

/// Adds the items of a piece, which are behind all others, as long as all items take up to `most` bytes.
fn piece(
    stream: &mut StreamMut<'_>,
    first: StreamId,
    bytes: &[u8],
    most: usize,
) -> Result<(), Malformed> {
    let mut pack = Listpack::new(bytes)?;
    let (items, deleted) = (number(&mut pack)?, number(&mut pack)?);
    let shared = texts(&mut pack)?;
    if number(&mut pack)? != 0 {
        return Err(Malformed);
    }
    let last = stream.read().last_id();
    if first <= last && last != StreamId::MIN {
        return Err(Malformed);
    }
    stream.begin_piece(first, shared.iter().map(|field| &**field));
    let (mut found, mut gone): (i64, i64) = (0, 0);
    // Counted at last, they are of no account within the piece: it stays whole under the limits that it was made with.
    let mut of_gone = Deleted::default();
    let mut left = pack.bytes_left();
    while let Some(flags) = pack.next()? {
        let flags =
            crate::parse_i64(&flags).filter(|flags| (0..=DELETED | SAME_FIELDS).contains(flags));
        let flags = flags.ok_or(Malformed)?;
        let id = StreamId::new(
            first.ms.wrapping_add_signed(number(&mut pack)?),
            first.seq.wrapping_add_signed(number(&mut pack)?),
        );
        let is_same = flags & SAME_FIELDS != 0;
        let mut own = Vec::new();
        let pairs = if is_same { shared.len() as i64 } else { number(&mut pack)? };
        let mut fields = shared.iter();
        for _ in 0..u64::try_from(pairs).map_err(|_| Malformed)? {
            let field = if is_same { *fields.next().ok_or(Malformed)? } else { more(&mut pack)? };
            own.push((field, more(&mut pack)?));
        }
        if number(&mut pack)? != elements(is_same, pairs) {
            return Err(Malformed);
        }
        let size = left.saturating_sub(pack.bytes_left());
        left = pack.bytes_left();
        if flags & DELETED != 0 {
            of_gone.add(id, size);
            gone = gone.saturating_add(1);
            continue;
        }
        if own.is_empty() || id < first || id <= stream.read().last_id() {
            return Err(Malformed);
        }
        stream.append(id, own.iter().map(|(field, value)| [&**field, &**value]));
        found = found.saturating_add(1);
        if stream.items_bytes() > most {
            return Err(Malformed);
        }
    }
    stream.end_piece(of_gone);
    if (found, gone) == (items, deleted) { Ok(()) } else { Err(Malformed) }
}

/// The next element, which must be there.
fn more<'a>(pack: &mut Listpack<'a>) -> Result<Text<'a>, Malformed> {
    pack.next()?.ok_or(Malformed)
}

/// The next element, which must be an integer.
fn number(pack: &mut Listpack<'_>) -> Result<i64, Malformed> {
    crate::parse_i64(&more(pack)?).ok_or(Malformed)
}

/// A number, and as many texts.
fn texts<'a>(pack: &mut Listpack<'a>) -> Result<Vec<Text<'a>>, Malformed> {
    let count = number(pack)?;
    let mut texts = Vec::new();
    for _ in 0..u64::try_from(count).map_err(|_| Malformed)? {
        texts.push(more(pack)?);
    }
    Ok(texts)
}
