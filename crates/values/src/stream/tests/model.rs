// SPDX-License-Identifier: Apache-2.0
//! Random operations on a stream and on a plain map.

use super::super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

#[derive(Clone, Debug)]
enum Operation {
    Append { ms: u64, seq: u64, pairs: Pairs },
    Remove(usize),
    Trim { to: usize, by_id: bool, by_nodes: bool, limit: Option<usize> },
    SetLast(u64),
    Range(usize, usize),
    Copy,
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        "[a-c]{0,3}".prop_map(String::into_bytes),
        any::<i64>().prop_map(|number| number.to_string().into_bytes()),
        "[xyz]{60,200}".prop_map(String::into_bytes),
    ]
}

fn pairs() -> impl Strategy<Value = Pairs> {
    let usual = text()
        .prop_map(|value| vec![(b"field".to_vec(), value.clone()), (b"other".to_vec(), value)]);
    prop_oneof![3 => usual, 1 => proptest::collection::vec((text(), text()), 1..4)]
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        12 => (0..3_u64, 0..3_u64, pairs())
            .prop_map(|(ms, seq, pairs)| Operation::Append { ms, seq, pairs }),
        3 => any::<usize>().prop_map(Operation::Remove),
        1 => (0..60_usize, any::<bool>(), any::<bool>(), proptest::option::of(0..30_usize))
            .prop_map(|(to, by_id, by_nodes, limit)| Operation::Trim { to, by_id, by_nodes, limit }),
        1 => (0..5_u64).prop_map(Operation::SetLast),
        2 => (any::<usize>(), any::<usize>()).prop_map(|(from, to)| Operation::Range(from, to)),
        1 => Just(Operation::Copy),
    ]
}

#[derive(Default)]
struct Model {
    items: BTreeMap<StreamId, Pairs>,
    last: StreamId,
    deleted: StreamId,
    added: u64,
}

impl Model {
    /// The id of some item, or the greatest.
    fn id(&self, at: usize) -> StreamId {
        let at = at % (self.items.len() + 1);
        self.items.keys().nth(at).copied().unwrap_or(self.last)
    }

    fn agrees(&self, stream: StreamRef<'_>) {
        stream.check_integrity();
        assert_eq!(stream.len(), self.items.len());
        assert_eq!((stream.last_id(), stream.max_deleted_id()), (self.last, self.deleted));
        assert_eq!(stream.added(), self.added);
        let first = self.items.keys().next().copied();
        assert_eq!(stream.first_id(), first.unwrap_or_default());
        assert_eq!(stream.last().map(|item| item.id), self.items.keys().next_back().copied());
    }

    fn agrees_on(&self, stream: StreamRef<'_>, from: StreamId, to: StreamId) {
        let read = |item: StreamItem<'_>| {
            let pairs = item.pairs().map(|(field, value)| (field.to_vec(), value.to_vec()));
            (item.id, pairs.collect::<Pairs>())
        };
        let there = || if from <= to { Some(self.items.range(from..=to)) } else { None };
        let expected = || there().into_iter().flatten().map(|(id, pairs)| (*id, pairs.clone()));
        assert!(stream.range(from, to).map(read).eq(expected()));
        let reversed = expected().collect::<Vec<_>>().into_iter().rev();
        assert!(stream.range_rev(from, to).map(read).eq(reversed));
        assert_eq!(
            stream.get(from).map(read),
            self.items.get_key_value(&from).map(|(id, pairs)| (*id, pairs.clone()))
        );
    }

    fn apply(&mut self, stream: &mut StreamMut<'_>, operation: Operation) {
        match operation {
            Operation::Append { ms, seq, pairs } => {
                let seq = if ms == 0 { self.last.seq + seq + 1 } else { seq };
                let id = StreamId::new(self.last.ms + ms, seq);
                stream.append(id, pairs.iter().map(|(field, value)| [&field[..], &value[..]]));
                self.items.insert(id, pairs);
                self.last = id;
                self.added += 1;
            }
            Operation::Remove(at) => {
                let id = self.id(at);
                let is_there = self.items.remove(&id).is_some();
                assert_eq!(stream.remove(id), is_there);
                if is_there {
                    self.deleted = self.deleted.max(id);
                }
            }
            Operation::Trim { to, by_id, by_nodes, limit } => {
                self.trim(stream, to, by_id, by_nodes, limit);
            }
            Operation::SetLast(more) => {
                self.last.ms += more;
                stream.set_last_id(self.last);
            }
            Operation::Range(from, to) => {
                self.agrees_on(stream.read(), self.id(from), self.id(to));
            }
            Operation::Copy => {
                let copy = stream.stream.copy();
                self.agrees(StreamRef { stream: &copy });
                assert_eq!(copy.items.len, self.items.len());
            }
        }
    }

    fn trim(
        &mut self,
        stream: &mut StreamMut<'_>,
        to: usize,
        by_id: bool,
        by_nodes: bool,
        limit: Option<usize>,
    ) {
        let id = self.id(to);
        let references = References::Keep;
        let to_what = if by_id { TrimTo::Id(id) } else { TrimTo::Length(to) };
        let trim = Trim { to: to_what, by_nodes, limit, references };
        let most = if by_id {
            self.items.range(..id).count()
        } else {
            self.items.len().saturating_sub(to)
        };
        let removed = stream.trim(&trim);
        let is_exact = !by_nodes && limit.is_none();
        assert!(removed <= most && (!is_exact || removed == most), "{removed} of {most}: {trim:?}");
        assert!(limit.is_none_or(|limit| removed <= limit));
        for _ in 0..removed {
            self.items.pop_first();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_stream_does_what_a_map_does(
        operations in proptest::collection::vec(operation(), 0..400),
        stream_node_entries in prop_oneof![Just(100_usize), 0..9_usize],
        stream_node_bytes in prop_oneof![Just(4096_usize), 0..400_usize],
    ) {
        let limits = Limits { stream_node_entries, stream_node_bytes, ..Limits::default() };
        let (mut entry, mut model) = (Entry::new_stream(b"s"), Model::default());
        for operation in operations {
            let mut stream = entry.stream_mut(&limits).unwrap();
            model.apply(&mut stream, operation);
            model.agrees(entry.stream().unwrap());
        }
        model.agrees_on(entry.stream().unwrap(), StreamId::MIN, StreamId::MAX);
    }
}
