// SPDX-License-Identifier: Apache-2.0
//! The tree beside a vector.

use proptest::prelude::*;

use super::*;

fn key(number: u32) -> Key {
    Key { score: f64::from(number / 3), id: Id::of(number) }
}

fn numbers<const L: usize, const F: usize>(tree: &Tree<L, F>) -> Vec<u32> {
    tree.range(0, tree.len()).map(|key| key.id.number()).collect()
}

/// Keys are in no order here: the tree does not look at them.
fn check<const L: usize, const F: usize>(tree: &Tree<L, F>) {
    tree.check_integrity(|_, _| true);
}

fn tree_of<const L: usize, const F: usize>(numbers: impl Iterator<Item = u32>) -> Tree<L, F> {
    let mut tree = Tree::new();
    numbers.for_each(|number| tree.insert_at(tree.len(), key(number)));
    check(&tree);
    tree
}

#[test]
fn keys_in_order_fill_their_leaves() {
    let full = 10_000_usize.div_ceil(LEAF);
    let mut tree = Tree::<LEAF, FAN>::new();
    (0..10_000).for_each(|number| tree.insert_at(tree.len(), key(number)));
    check(&tree);
    assert_eq!(tree.nodes.leaves, full);
    assert!(tree.nodes.inners <= full.div_ceil(FAN) + 1);

    let mut tree = Tree::<LEAF, FAN>::new();
    (0..10_000).for_each(|number| tree.insert_at(0, key(number)));
    check(&tree);
    assert_eq!(tree.nodes.leaves, full);
    assert!(tree.nodes.inners <= full.div_ceil(FAN - 1) + 1);
    assert!(numbers(&tree).into_iter().eq((0..10_000).rev()));
}

#[test]
fn keys_in_no_order_leave_two_thirds_of_the_leaves_in_use() {
    let mut tree = Tree::<LEAF, FAN>::new();
    for number in 0..20_000_u32 {
        let rank = number.wrapping_mul(2_654_435_769) as usize % (tree.len() + 1);
        tree.insert_at(rank, key(number));
    }
    check(&tree);
    assert!(tree.nodes.leaves * LEAF * 2 / 3 < 20_000 * 21 / 20, "{:?}", tree.nodes);
}

#[test]
fn a_queue_moves_on_from_leaf_to_leaf() {
    let mut tree = tree_of::<4, 4>(0..100);
    for number in 100..2_000 {
        assert_eq!(tree.remove_at(0), key(number - 100));
        tree.insert_at(tree.len(), key(number));
        check(&tree);
    }
    assert!(tree.nodes.leaves <= 100 / 4 + 2, "{:?}", tree.nodes);
}

#[test]
fn a_tree_without_its_middle_is_low() {
    let mut tree = tree_of::<4, 4>(0..4_000);
    for _ in 0..3_998 {
        tree.remove_at(1);
    }
    check(&tree);
    assert_eq!(tree.nodes, Tally { leaves: 1, inners: 0 });
}

#[test]
fn a_search_finds_the_border_wherever_it_is() {
    let tree = tree_of::<4, 4>(0..300);
    for border in 0..=300 {
        assert_eq!(tree.partition_point(|key| key.id.number() < border), border as usize);
    }
    assert_eq!(Tree::<4, 4>::new().partition_point(|_| true), 0);
}

#[test]
fn iterators_skip_and_meet() {
    let tree = tree_of::<4, 4>(0..300);
    for (start, end) in [(0, 300), (17, 260), (40, 43), (9, 9)] {
        let ids = |keys: Keys<'_, 4, 4>| keys.map(|key| key.id.number()).collect::<Vec<_>>();
        let model: Vec<u32> = (start as u32..end as u32).collect();
        for skip in [0, 1, 2, 3, 4, 5, 50, 400] {
            let (mut keys, mut expected) = (tree.range(start, end), model.iter().copied());
            assert_eq!(keys.nth(skip).map(|key| key.id.number()), expected.nth(skip));
            assert_eq!(keys.nth_back(skip).map(|key| key.id.number()), expected.nth_back(skip));
            assert_eq!(keys.next_back().map(|key| key.id.number()), expected.next_back());
            assert_eq!(keys.len(), expected.len());
            assert_eq!(ids(keys), expected.collect::<Vec<_>>());
        }
        let backwards = tree.range(start, end).rev().map(|key| key.id.number());
        assert!(backwards.eq(model.into_iter().rev()));
    }
}

#[test]
fn a_tree_is_freed_leaf_by_leaf() {
    let mut tree = tree_of::<4, 4>(0..300);
    let leaves = tree.nodes.leaves;
    for left in (0..leaves).rev() {
        assert!(tree.free_leaf());
        assert_eq!(tree.nodes.leaves, left);
    }
    assert!(!tree.free_leaf());
    assert_eq!((tree.len(), tree.heap_bytes()), (0, 0));
    check(&tree);
}

#[derive(Clone, Debug)]
enum Step {
    Insert(usize, u32),
    Remove(usize),
    Replace(usize, u32),
    /// So many come at one place, in ascending or descending order.
    Run(usize, u32, bool),
    /// So many go from one place.
    Cut(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let place = any::<usize>;
    let edge = || prop_oneof![Just(0), Just(usize::MAX), any::<usize>()];
    let step = prop_oneof![
        3 => (place(), any::<u32>()).prop_map(|(at, number)| Step::Insert(at, number >> 1)),
        3 => place().prop_map(Step::Remove),
        1 => (place(), any::<u32>()).prop_map(|(at, number)| Step::Replace(at, number >> 1)),
        2 => (edge(), 0..100_u32, any::<bool>()).prop_map(|(at, n, up)| Step::Run(at, n, up)),
        1 => (edge(), 0..120_usize).prop_map(|(at, count)| Step::Cut(at, count)),
    ];
    prop::collection::vec(step, 0..60)
}

/// A place from 0 up to `last`; both are as likely as a place between them.
fn within(place: usize, last: usize) -> usize {
    if place == usize::MAX { last } else { place % (last + 1) }
}

fn apply<const L: usize, const F: usize>(tree: &mut Tree<L, F>, model: &mut Vec<u32>, step: &Step) {
    let len = model.len();
    match *step {
        Step::Insert(at, number) => {
            let at = within(at, len);
            tree.insert_at(at, key(number));
            model.insert(at, number);
        }
        Step::Remove(at) if len > 0 => {
            let at = within(at, len - 1);
            assert_eq!(tree.remove_at(at), key(model.remove(at)));
        }
        Step::Replace(at, number) if len > 0 => {
            let at = within(at, len - 1);
            tree.replace_at(at, key(number));
            model[at] = number;
        }
        Step::Run(at, count, ascending) => {
            let at = within(at, len);
            for number in 0..count {
                let at = if ascending { at + number as usize } else { at };
                tree.insert_at(at, key(number));
                model.insert(at, number);
            }
        }
        Step::Cut(at, count) if len > 0 => {
            let at = within(at, len - 1);
            for _ in 0..count.min(len - at) {
                assert_eq!(tree.remove_at(at), key(model.remove(at)));
            }
        }
        Step::Remove(_) | Step::Replace(..) | Step::Cut(..) => {}
    }
}

fn run<const L: usize, const F: usize>(steps: &[Step]) {
    let (mut tree, mut model) = (Tree::<L, F>::new(), Vec::new());
    for step in steps {
        apply(&mut tree, &mut model, step);
        check(&tree);
        assert_eq!(numbers(&tree), model);
        let backwards = tree.range(0, tree.len()).rev().map(|key| key.id.number());
        assert!(backwards.eq(model.iter().rev().copied()));
        for rank in (0..model.len()).step_by(7) {
            assert_eq!(tree.get(rank), key(model[rank]));
        }
    }
}

proptest! {
    #[test]
    fn a_tree_of_small_nodes_is_a_vector(steps in steps()) {
        run::<4, 4>(&steps);
    }

    #[test]
    fn a_tree_of_odd_nodes_is_a_vector(steps in steps()) {
        run::<7, 5>(&steps);
    }

    #[test]
    fn a_tree_is_a_vector(steps in steps()) {
        run::<LEAF, FAN>(&steps);
    }
}
