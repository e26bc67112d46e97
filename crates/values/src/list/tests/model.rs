// SPDX-License-Identifier: Apache-2.0
//! Lists beside a vector, after random edits.

use proptest::prelude::*;

use super::super::size::{Caps, listpack_len};
use super::*;
use crate::Remains;

/// Texts by number: few, so that many elements are equal, and of all lengths that matter.
fn text(number: u8) -> Vec<u8> {
    match number {
        0..80 => (u32::from(number) * 37 % 400).to_string().into_bytes(),
        80..140 => {
            let integer = i64::MAX >> (u32::from(number) - 80);
            (if number.is_multiple_of(2) { integer } else { -1 - integer }).to_string().into_bytes()
        }
        140..160 => {
            let texts = ["01", "-0", "+1", " 1", "9223372036854775808", "-", "", "1.0", "1", "-1"];
            Vec::from(texts[usize::from(number) % texts.len()])
        }
        160..200 => Vec::from("some text of some length, or so, number ".repeat(2)),
        200..235 => vec![number; 150],
        235..245 => vec![number; 1500],
        245..250 => vec![number; 4090],
        _ => vec![number; 20_000],
    }
}

/// What the list should be, and what it should be called.
#[derive(Clone, Debug, Default)]
struct Model {
    texts: Vec<Vec<u8>>,
    is_quicklist: bool,
}

impl Model {
    fn is_over(&self, caps: Caps, elements: usize, bytes: usize) -> bool {
        let size: usize = self.texts.iter().map(|text| listpack_len(Code::of(text))).sum();
        caps.are_exceeded_by(crate::listpack::HEAD + size + bytes, self.texts.len() + elements)
    }

    /// So much is about to come.
    fn grow(&mut self, caps: Caps, elements: usize, bytes: usize) {
        self.is_quicklist |= self.is_over(caps, elements, bytes);
    }

    /// Something went.
    fn shrunk(&mut self, caps: Caps) {
        self.is_quicklist &= self.is_over(caps.half(), 0, 0);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Push(End, u8),
    /// So many at once, from this text on.
    Many(End, u8, usize),
    Pop(End, usize),
    Set(i64, u8),
    Insert(u8, End, u8),
    Remove(i64, u8),
    Trim(usize, usize),
    /// Keeps the middle but for so many at each end.
    Peel(usize, usize),
    /// Replaced by a copy.
    Copy,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let end = || prop::sample::select(vec![End::Front, End::Back]);
    let text = any::<u8>;
    let small = || prop_oneof![9 => 0..235_u8, 1 => any::<u8>()];
    let index = || -120..120_i64;
    let step = prop_oneof![
        4 => (end(), text()).prop_map(|(end, text)| Step::Push(end, text)),
        3 => (end(), small(), 0..150_usize).prop_map(|(end, text, n)| Step::Many(end, text, n)),
        4 => (end(), 1..40_usize).prop_map(|(end, count)| Step::Pop(end, count)),
        3 => (index(), small()).prop_map(|(index, text)| Step::Set(index, text)),
        3 => (text(), end(), small()).prop_map(|(pivot, end, text)| Step::Insert(pivot, end, text)),
        2 => (-5..5_i64, text()).prop_map(|(count, text)| Step::Remove(count, text)),
        1 => (0..100_usize, 0..100_usize).prop_map(|(a, b)| Step::Trim(a, b)),
        2 => (0..60_usize, 0..60_usize).prop_map(|(a, b)| Step::Peel(a, b)),
        1 => Just(Step::Copy),
    ];
    prop::collection::vec(step, 0..40)
}

fn push(model: &mut Model, end: End, text: Vec<u8>) {
    let at = if end == End::Front { 0 } else { model.texts.len() };
    model.texts.insert(at, text);
}

fn apply_edit(list: &mut ListMut<'_>, model: &mut Model, step: &Step, caps: Caps) {
    match *step {
        Step::Set(index, number) => {
            model.grow(caps, 1, text(number).len());
            let at = resolve(index, model.texts.len());
            assert_eq!(list.set(index, &text(number)), at.is_some());
            if let Some(at) = at {
                model.texts[at] = text(number);
                model.shrunk(caps);
            }
        }
        Step::Insert(pivot, side, number) => {
            let (pivot, text) = (text(pivot), text(number));
            model.grow(caps, 1, text.len());
            let at = model.texts.iter().position(|other| *other == pivot);
            let inserted = match side {
                End::Front => list.insert_before(&pivot, &text),
                End::Back => list.insert_after(&pivot, &text),
            };
            assert_eq!(inserted, at.is_some());
            if let Some(at) = at {
                model.texts.insert(at + usize::from(side == End::Back), text);
            }
        }
        Step::Remove(count, number) => {
            let text = text(number);
            let places = (0..model.texts.len()).filter(|at| model.texts[*at] == text);
            let mut places: Vec<usize> = places.collect();
            let goes = if count == 0 { places.len() } else { count.unsigned_abs() as usize };
            if count < 0 {
                places.drain(..places.len().saturating_sub(goes));
            }
            places.truncate(goes);
            assert_eq!(list.remove(count, &text), places.len());
            for at in places.iter().rev() {
                model.texts.remove(*at);
            }
            if !places.is_empty() {
                model.shrunk(caps);
            }
        }
        Step::Trim(start, end) => {
            list.trim(start..end);
            model.texts.truncate(end.max(start));
            model.texts.drain(..start.min(model.texts.len()));
            model.shrunk(caps);
        }
        _ => unreachable!("the other steps are in `apply`"),
    }
}

fn apply(entry: &mut Entry, model: &mut Model, step: &Step, limits: &Limits) {
    let mut list = edit(entry, limits);
    let caps = Caps::of(limits);
    match *step {
        Step::Push(end, number) => {
            list.push(end, &text(number));
            model.grow(caps, 1, text(number).len());
            push(model, end, text(number));
        }
        Step::Many(end, number, count) => {
            let texts: Vec<Vec<u8>> =
                (0..count).map(|more| text((usize::from(number) + more * 3) as u8 % 235)).collect();
            let bytes = texts.iter().map(Vec::len).sum();
            list.announce(count, bytes);
            model.grow(caps, count, bytes);
            for text in texts {
                list.push(end, &text);
                push(model, end, text);
            }
        }
        Step::Pop(end, count) => {
            for _ in 0..count {
                let expected = match (end, model.texts.is_empty()) {
                    (_, true) => None,
                    (End::Front, false) => Some(model.texts.remove(0)),
                    (End::Back, false) => model.texts.pop(),
                };
                assert_eq!(list.pop(end, <[u8]>::to_vec), expected);
                model.shrunk(caps);
            }
        }
        Step::Peel(front, back) => {
            let len = model.texts.len();
            apply_edit(&mut list, model, &Step::Trim(front, len.saturating_sub(back)), caps);
        }
        Step::Copy => *entry = entry.copy_to(b"copy"),
        _ => apply_edit(&mut list, model, step, caps),
    }
}

fn check(entry: &Entry, model: &Model) {
    let (list, texts) = (read(entry), &model.texts);
    assert_eq!((list.len(), entry.len()), (texts.len(), texts.len()));
    assert!(list.iter().eq(texts), "forwards");
    assert!(list.iter().rev().eq(texts.iter().rev()), "backwards");
    for index in 0..texts.len() {
        assert_eq!(list.get(index as i64).as_deref(), Some(&*texts[index]));
        assert_eq!(list.get(index as i64 - texts.len() as i64).as_deref(), Some(&*texts[index]));
    }
    assert_eq!((list.get(texts.len() as i64), list.get(-1 - texts.len() as i64)), (None, None));
    for (start, end) in [(0, 10), (3, 70), (50, 51), (20, 20), (60, 1_000)] {
        let end = end.min(texts.len());
        let model = &texts[start.min(end)..end];
        assert!(list.range(start..end).eq(model));
        assert!(list.range(start..end).rev().eq(model.iter().rev()));
        // From both ends at once.
        let (mut iter, mut model) = (list.range(start..end), model.iter());
        while let Some(front) = iter.next() {
            assert_eq!(Some(&*front), model.next().map(|text| &**text));
            assert_eq!(iter.next_back().as_deref(), model.next_back().map(|text| &**text));
            assert_eq!(iter.len(), model.len());
        }
    }
}

proptest! {
    #[test]
    fn a_list_is_a_vector(
        steps in steps(),
        list_bytes in prop::sample::select(vec![-1, -2, 1, 4, 50, 1000]),
    ) {
        let limits = limits(list_bytes);
        let (mut entry, mut model) = (Entry::new_list(b"key"), Model::default());
        for step in steps {
            apply(&mut entry, &mut model, &step, &limits);
            read(&entry).check_integrity();
            check(&entry, &model);
            let is_quicklist = entry.encoding() == Encoding::Quicklist;
            prop_assert_eq!(is_quicklist, model.is_quicklist, "{:?}", step);
        }
        let mut remains = Remains::from(entry);
        while !remains.free_some(3) {}
        prop_assert_eq!(remains.heap_bytes(), 0);
    }
}
