// SPDX-License-Identifier: Apache-2.0
//! Writes streams.

use super::super::listpack_writer::ListpackWriter;
use super::super::write::Writer;
use super::super::{FormVersion, types};
use super::gone::Gone;
use super::{Form, SAME_FIELDS};
use crate::stream::Node;
use crate::{StreamId, StreamRef};

impl Writer<'_> {
    /// Writes a stream in the oldest form that tells when its consumers last got something.
    pub(in super::super) fn stream(mut self, stream: StreamRef<'_>) -> FormVersion {
        let mut consumers = stream.groups().flat_map(|group| group.consumers());
        let (form, kind, version) =
            if consumers.all(|consumer| consumer.active_ms() == Some(consumer.seen_ms())) {
                (Form::Counters, types::STREAM_COUNTERS, FormVersion::REDIS_7_0)
            } else {
                (Form::Active, types::STREAM_ACTIVE, FormVersion::REDIS_7_2)
            };
        self.begin(kind, stream.nodes());
        for node in stream.pieces() {
            self.count(16);
            self.raw_id(node.first);
            self.long_string(&piece(node));
        }
        self.count(stream.len() as u64);
        for id in [stream.last_id(), stream.first_id(), stream.max_deleted_id()] {
            self.id(id);
        }
        self.count(stream.added());
        self.count(stream.groups_len() as u64);
        stream.groups().for_each(|group| self.group(group, form));
        version
    }

    /// An id, as two numbers.
    pub(super) fn id(&mut self, id: StreamId) {
        self.count(id.ms);
        self.count(id.seq);
    }

    /// An id, as 16 bytes in the order of ids.
    pub(super) fn raw_id(&mut self, id: StreamId) {
        self.out.extend(id.ms.to_be_bytes());
        self.out.extend(id.seq.to_be_bytes());
    }
}

/// The listpack of a piece of a stream.
fn piece(node: &Node) -> Vec<u8> {
    let mut pack = ListpackWriter::new();
    let gone = Gone::of(node);
    pack.integer(node.live.into());
    pack.integer(node.deleted().into());
    pack.integer(node.fields().len() as i64);
    node.fields().for_each(|field| pack.text(&field));
    pack.integer(0);
    gone.write_front(&mut pack);
    for item in node.items() {
        let is_same = item.has_node_fields();
        pack.integer(if is_same { SAME_FIELDS } else { 0 });
        pack.integer(item.id.ms.wrapping_sub(node.first.ms) as i64);
        pack.integer(item.id.seq.wrapping_sub(node.first.seq) as i64);
        let pairs = item.len() as i64;
        if !is_same {
            pack.integer(pairs);
        }
        for (field, value) in item.pairs() {
            if !is_same {
                pack.text(&field);
            }
            pack.text(&value);
        }
        pack.integer(elements(is_same, pairs));
    }
    gone.write_last(&mut pack);
    pack.finish()
}

/// How many elements an item has before their number.
pub(super) fn elements(is_same: bool, pairs: i64) -> i64 {
    if is_same { pairs.saturating_add(3) } else { pairs.saturating_mul(2).saturating_add(4) }
}
