// SPDX-License-Identifier: Apache-2.0
//! Lists beside a vector.

use proptest::prelude::*;

use super::size::{Caps, LISTPACK_HEAD, listpack_len};
use super::*;
use crate::{Encoding, Remains};
use allocator::size_class;

fn limits(list_bytes: i64) -> Limits {
    Limits { list_bytes, ..Limits::default() }
}

fn read(entry: &Entry) -> ListRef<'_> {
    entry.list().expect("it is a list")
}

fn edit<'a>(entry: &'a mut Entry, limits: &Limits) -> ListMut<'a> {
    entry.list_mut(limits).expect("it is a list")
}

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
        caps.are_exceeded_by(LISTPACK_HEAD + size + bytes, self.texts.len() + elements)
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
            let at = resolve(index, model.texts.len());
            assert_eq!(list.set(index, &text(number)), at.is_some());
            if let Some(at) = at {
                model.grow(caps, 1, text(number).len());
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

    #[test]
    fn positions_are_those_of_a_vector(
        numbers in prop::collection::vec(0..5_u8, 0..60),
        rank in prop::sample::select(vec![1, 2, 5, 30, i64::MAX, -1, -2, -5, i64::MIN]),
        maxlen in prop::option::of(0..70_usize),
        repeat in prop::sample::select(vec![1, 200]),
    ) {
        let mut entry = Entry::new_list(b"key");
        let texts: Vec<Vec<u8>> = numbers.iter().map(|number| vec![*number; repeat]).collect();
        texts.iter().for_each(|text| edit(&mut entry, &limits(-1)).push_back(text));
        let mut looked_at: Vec<usize> = (0..texts.len()).collect();
        if rank < 0 {
            looked_at.reverse();
        }
        looked_at.truncate(maxlen.unwrap_or(usize::MAX));
        let matching = looked_at.into_iter().filter(|at| numbers[*at] == 3);
        let skip = usize::try_from(rank.unsigned_abs() - 1).expect("64 bits");
        let rank = NonZeroI64::new(rank).expect("none is zero");
        let wanted = vec![3; repeat];
        let found = read(&entry).positions(&wanted, rank, maxlen);
        prop_assert!(found.eq(matching.skip(skip)));
    }
}

#[test]
fn a_list_is_called_a_listpack_up_to_its_limit_and_again_below_half_of_it() {
    let limits = limits(-2);
    let mut entry = Entry::new_list(b"key");
    // 100 bytes and three more in a listpack: 79 of them and the next text are just within 8 KiB.
    for count in 0..80 {
        assert_eq!(entry.encoding(), Encoding::Listpack, "{count}");
        edit(&mut entry, &limits).push_front(&[b'x'; 99]);
    }
    edit(&mut entry, &limits).push_front(&[b'x'; 99]);
    assert_eq!(entry.encoding(), Encoding::Quicklist);
    while entry.len() * 102 + 7 > 4096 {
        assert_eq!(entry.encoding(), Encoding::Quicklist);
        edit(&mut entry, &limits).pop_back(|_| ());
    }
    assert_eq!(entry.encoding(), Encoding::Listpack);
}

#[test]
fn what_a_command_brings_counts_together() {
    let limits = limits(3);
    let mut entry = Entry::new_list(b"key");
    let mut list = edit(&mut entry, &limits);
    list.announce(4, 4);
    list.push_back(b"a");
    assert_eq!(entry.encoding(), Encoding::Quicklist);

    let mut entry = Entry::new_list(b"key");
    let mut list = edit(&mut entry, &limits);
    list.announce(3, 3);
    (0..3).for_each(|_| list.push_back(b"a"));
    assert_eq!(entry.encoding(), Encoding::Listpack);
    edit(&mut entry, &limits).push_back(b"a");
    assert_eq!(entry.encoding(), Encoding::Quicklist);
}

#[test]
fn a_huge_element_is_alone_in_its_chunk() {
    let limits = limits(-1);
    let mut entry = Entry::new_list(b"key");
    for _ in 0..3000 {
        edit(&mut entry, &limits).push_back(b"small");
    }
    assert!(edit(&mut entry, &limits).set(1500, &[b'h'; 100_000]));
    read(&entry).check_integrity();
    edit(&mut entry, &limits).push_front(&[b'i'; 100_000]);
    let len = |index| read(&entry).get(index).map(|text| text.len());
    assert_eq!([0, 1, 1500, 1501, 1502].map(len), [100_000, 5, 5, 100_000, 5].map(Some));
    let Some(Large::List(large)) = entry.large() else { panic!("it is large") };
    let mut counts = large.chunks().iter().map(|chunk| (chunk.count(), chunk.size()));
    assert!(counts.all(|(count, size)| count == 1 || size <= 4096));
}

#[test]
fn chunks_are_full_whichever_way_they_are_filled() {
    for (end, len) in [(End::Front, 10), (End::Back, 10), (End::Front, 900), (End::Back, 3000)] {
        let mut entry = Entry::new_list(b"key");
        for _ in 0..20_000 {
            edit(&mut entry, &limits(-2)).push(end, &vec![b'x'; len]);
        }
        let content = 20_000 * Code::of(&vec![b'x'; len]).len();
        assert!(entry.heap_bytes() < content + content / 8, "{end:?} {len}");
    }
}

#[test]
fn a_queue_takes_the_memory_of_what_is_in_it() {
    for end in [End::Front, End::Back] {
        let mut entry = Entry::new_list(b"key");
        for number in 0..50_000 {
            let mut list = edit(&mut entry, &limits(-2));
            list.push(end, &[b'x'; 50]);
            if number >= 1_000 {
                list.pop(end.opposite(), |_| ());
            }
        }
        read(&entry).check_integrity();
        assert_eq!(entry.len(), 1_000);
        assert!(entry.heap_bytes() < 1_000 * 52 + 4 * 8192, "{}", entry.heap_bytes());
    }
}

#[test]
fn elements_removed_here_and_there_leave_no_small_chunks() {
    let mut entry = Entry::new_list(b"key");
    for number in 0..50_000 {
        let text: &[u8] = if number % 20 == 0 { b"stays" } else { b"goes" };
        edit(&mut entry, &limits(-2)).push_back(text);
    }
    assert_eq!(edit(&mut entry, &limits(-2)).remove(0, b"goes"), 47_500);
    read(&entry).check_integrity();
    assert!(entry.heap_bytes() < 3 * 2_500 * 7, "{}", entry.heap_bytes());
}

#[test]
fn integers_are_stored_in_binary() {
    // Bytes for each element, from integers and as many others of the same length.
    for (first, digits, integer_len, text_len) in
        [(1000, "x000", 3, 6), (1_700_000_000, "x000000000", 6, 12)]
    {
        for count in [200, 50_000] {
            let (mut integers, mut texts) = (Entry::new_list(b"key"), Entry::new_list(b"key"));
            for number in 0..count {
                let integer = first + number % 1000;
                edit(&mut integers, &limits(-2)).push_back(integer.to_string().as_bytes());
                edit(&mut texts, &limits(-2)).push_back(digits.as_bytes());
            }
            assert_eq!((integers.len(), texts.len()), (count as usize, count as usize));
            let most = |len| len * count as usize + len * count as usize / 8 + 64;
            assert!(integers.heap_bytes() < most(integer_len), "{}", integers.heap_bytes());
            assert!(texts.heap_bytes() > text_len * count as usize, "{}", texts.heap_bytes());
        }
    }
}

#[test]
fn elements_that_look_like_integers_come_back_and_are_found() {
    let texts = [
        "1",
        "01",
        "-1",
        "-0",
        "0",
        "+1",
        " 1",
        "1 ",
        "",
        "-",
        "255",
        "256",
        "-32769",
        "8388608",
        "2147483648",
        "140737488355328",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "1e3",
        "१",
    ];
    for repeat in [1, 400] {
        let mut entry = Entry::new_list(b"key");
        let all: Vec<&str> = (0..repeat).flat_map(|_| texts).collect();
        all.iter().for_each(|text| edit(&mut entry, &limits(-2)).push_back(text.as_bytes()));
        assert!(read(&entry).iter().eq(&all) && read(&entry).iter().rev().eq(all.iter().rev()));
        for (index, text) in texts.iter().enumerate() {
            let first = NonZeroI64::new(1).expect("it is not 0");
            assert_eq!(read(&entry).positions(text.as_bytes(), first, None).next(), Some(index));
            assert_eq!(read(&entry).positions(text.as_bytes(), first, None).count(), repeat);
        }
        let mut list = edit(&mut entry, &limits(-2));
        assert!(list.insert_before(b"01", b"12") && list.insert_after(b"01", b"012"));
        assert!(list.set(0, b"-9") && list.set(-1, b"-09"));
        assert_eq!((list.remove(0, b"1"), list.remove(0, b"012")), (repeat - 1, 1));
        let begin: Vec<_> = list.read().range(0..3).map(|text| text.to_vec()).collect();
        assert_eq!(begin, [&b"-9"[..], b"12", b"01"]);
        assert_eq!(list.pop_back(<[u8]>::to_vec), Some(b"-09".to_vec()));
        assert_eq!(list.pop_front(<[u8]>::to_vec), Some(b"-9".to_vec()));
        read(&entry).check_integrity();
    }
}

#[test]
fn a_short_list_is_one_allocation() {
    let mut entry = Entry::new_list(b"key");
    (0..20).for_each(|_| edit(&mut entry, &limits(-2)).push_front(b"0123456789"));
    assert_eq!(entry.heap_bytes(), size_class(4 + 4 + 4 + 20 * 12));
}

#[test]
fn other_types_are_no_lists() {
    let mut entry = Entry::string(b"key", b"value");
    assert!(entry.list().is_none() && entry.list_mut(&limits(-2)).is_none());
}
