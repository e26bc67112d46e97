// SPDX-License-Identifier: Apache-2.0
//! Lists: the memory they take, their names and their two forms. `tests/model.rs`: random edits.

mod model;

use proptest::prelude::*;

use super::*;
use crate::Encoding;
use crate::large::LargeRef;
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

proptest! {
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
    let Some(LargeRef::List(large)) = entry.large() else { panic!("it is large") };
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
fn a_list_of_some_kilobytes_takes_little_more_than_its_elements() {
    for end in [End::Front, End::Back] {
        let mut entry = Entry::new_list(b"key");
        (0..500).for_each(|_| edit(&mut entry, &limits(-2)).push(end, b"abcd"));
        assert_eq!(entry.heap_bytes(), size_class(4 + 4 + 4 + 500 * 6));
        for count in 501..1_000 {
            edit(&mut entry, &limits(-2)).push(end, b"abcd");
            let most = size_class(count * 6 + count * 6 / 8) + 256;
            assert!(entry.large().is_none() || entry.heap_bytes() < most, "{count}");
        }
        assert!(entry.large().is_some());
    }
}

#[test]
fn a_list_of_many_small_elements_is_not_packed() {
    let limits = limits(-2);
    let mut entry = Entry::new_list(b"key");
    let mut list = edit(&mut entry, &limits);
    for count in 1..=512 {
        list.push_back(b"7");
        assert_eq!(list.len(), count);
    }
    assert!(list.set(5, b"8") && list.set(500, b"300") && list.len() == 512);
    assert!(entry.large().is_none(), "512 elements are packed");
    edit(&mut entry, &limits).push_front(b"7");
    assert!(entry.large().is_some(), "513 elements are not");
    assert_eq!((entry.len(), entry.encoding()), (513, Encoding::Listpack));
    let mut list = edit(&mut entry, &limits);
    (0..256).for_each(|_| _ = list.pop_front(|_| ()));
    assert_eq!(list.len(), 257);
    assert!(entry.large().is_some(), "257 elements stay as they are");
    edit(&mut entry, &limits).pop_front(|_| ());
    assert!(entry.large().is_none(), "256 elements are packed again");
    read(&entry).check_integrity();
}

#[test]
fn a_packed_list_knows_its_length_after_each_edit() {
    let limits = limits(-2);
    let mut entry = Entry::new_list(b"key");
    let mut list = edit(&mut entry, &limits);
    (0..300).for_each(|_| list.push_back(b"abcd"));
    assert!(list.insert_after(b"abcd", b"pivot") && list.insert_before(b"pivot", b"abcd"));
    assert!(list.set(-1, b"last") && list.len() == list.read().len() && list.len() == 302);
    assert!(list.pop_front(|_| ()).is_some() && list.pop_back(|_| ()).is_some());
    assert!(list.len() == list.read().len() && list.len() == 300);
    list.trim(0..290);
    assert_eq!((list.len(), list.read().len()), (290, 290));
    list.push_front(b"abcd");
    assert_eq!(list.remove(2, b"abcd"), 2);
    assert_eq!((list.len(), list.read().len()), (289, 289));
    assert!(entry.large().is_none());
}

#[test]
fn other_types_are_no_lists() {
    let mut entry = Entry::string(b"key", b"value");
    assert!(entry.list().is_none() && entry.list_mut(&limits(-2)).is_none());
}
