// SPDX-License-Identifier: Apache-2.0
//! The checker finds planted faults, accepts what may be, and agrees with one that tries every order.

use super::check::{Event, Verdict, check};
use super::model::{Action, Answer, End, Form, Op, Rules, Slot, State, Value, explain};
use super::text::{Piece, token};
use fastrand::Rng;

const LARGE: Rules =
    Rules { evicts: false, refuses: false, refused_set_removes: false, marks_move: false };

fn nothing() -> Vec<State> {
    vec![vec![Slot::default(); 2]]
}

/// Token `number`, which is all of a text.
fn text(number: u64) -> Vec<Piece> {
    vec![Piece::Token(token(number, 20))]
}

fn found(number: u64) -> Answer {
    Answer::Value(Value::Text(text(number)))
}

fn marked(number: u64, mark: u64) -> Answer {
    Answer::Marked(Value::Text(text(number)), mark)
}

/// An operation on the first key, called and answered at these times.
fn event(client: usize, times: (u64, u64), action: Action, answer: Answer) -> Event {
    Event { client, op: Op::On(0, action), answer, called_ns: times.0, answered_ns: times.1 }
}

fn all(guards: &[(usize, u64)], ops: Vec<Op>) -> Op {
    Op::All { form: Form::Exec, guards: guards.to_vec(), ops }
}

fn is_sound(events: &[Event], rules: Rules) -> bool {
    match check(&nothing(), events, rules) {
        Verdict::Sound(_) => true,
        Verdict::Wrong(_) => false,
        Verdict::Undecided => panic!("few operations"),
    }
}

#[track_caller]
fn assert_fault(events: &[Event], last: usize) {
    let Verdict::Wrong(violation) = check(&nothing(), events, LARGE) else {
        panic!("not found: {events:?}")
    };
    let shown = violation.to_string();
    let told = violation.events.iter().any(|event| event.called_ns == events[last].called_ns);
    assert!(told, "the fault is told of: {shown}");
    assert!(is_sound(&events[..last], LARGE), "nothing else is wrong");
}

#[test]
fn a_stale_read_is_found() {
    let events = [
        event(0, (0, 10), Action::Write(text(1)), Answer::Done),
        event(0, (20, 30), Action::Write(text(2)), Answer::Done),
        event(1, (40, 50), Action::Read, found(1)),
    ];
    assert_fault(&events, 2);
    let mut overlapping = events.clone();
    overlapping[2].called_ns = 29;
    assert!(is_sound(&overlapping, LARGE), "the second write may not have happened yet");
}

#[test]
fn reads_that_go_back_in_time_are_found_though_the_write_is_still_open() {
    let events = [
        event(0, (0, 100), Action::Write(text(1)), Answer::Done),
        event(1, (10, 20), Action::Read, found(1)),
        event(2, (30, 40), Action::Read, Answer::Missing),
    ];
    assert_fault(&events, 2);
}

#[test]
fn a_lost_update_is_found() {
    let events = [
        event(0, (0, 10), Action::Count(5), Answer::Number(5)),
        event(1, (20, 40), Action::Count(1), Answer::Number(6)),
        event(2, (20, 40), Action::Count(1), Answer::Number(6)),
    ];
    assert_fault(&events, 2);
    let appended = Answer::Value(Value::Text(vec![text(1)[0], text(3)[0]]));
    let events = [
        event(0, (0, 10), Action::Write(text(1)), Answer::Done),
        event(1, (20, 40), Action::Append(text(2)[0]), Answer::Done),
        event(2, (20, 40), Action::Append(text(3)[0]), Answer::Done),
        event(3, (50, 60), Action::Read, appended),
    ];
    assert_fault(&events, 3);
}

#[test]
fn a_torn_value_is_found() {
    let odd = Answer::Odd("torn at byte 9".to_owned());
    let events = [
        event(0, (0, 10), Action::Write(text(1)), Answer::Done),
        event(1, (20, 30), Action::Read, odd),
    ];
    assert_fault(&events, 1);
}

#[test]
fn a_double_pop_and_a_lost_element_are_found() {
    let (one, two) = (token(1, 20), token(2, 20));
    let popped = |token| Answer::Value(Value::List(vec![token]));
    let push = event(0, (0, 10), Action::Push(End::Left, vec![one, two]), Answer::Number(2));
    let twice = [
        push.clone(),
        event(1, (20, 30), Action::Pop(End::Left), popped(two)),
        event(2, (20, 30), Action::Await(End::Left), popped(two)),
    ];
    assert_fault(&twice, 2);
    let lost = [
        push,
        event(1, (20, 30), Action::Pop(End::Right), popped(one)),
        event(2, (40, 50), Action::Pop(End::Right), Answer::Missing),
    ];
    assert_fault(&lost, 2);
}

#[test]
fn a_moved_element_is_never_in_both_lists_or_in_none() {
    let one = token(1, 20);
    let list = |tokens: &[u64]| Answer::Value(Value::List(tokens.to_vec()));
    let moved = Op::Move { from: (0, End::Left), to: (1, End::Left) };
    let both = all(&[], vec![Op::On(0, Action::Range), Op::On(1, Action::Range)]);
    let history = |seen: [&[u64]; 2]| {
        let seen = Answer::All(seen.map(list).to_vec());
        [
            event(0, (0, 10), Action::Push(End::Left, vec![one]), Answer::Number(1)),
            Event { op: moved.clone(), ..event(1, (20, 50), Action::Range, list(&[one])) },
            Event { op: both.clone(), ..event(2, (25, 45), Action::Range, seen) },
        ]
    };
    assert!(is_sound(&history([&[one], &[]]), LARGE));
    assert!(is_sound(&history([&[], &[one]]), LARGE));
    assert_fault(&history([&[one], &[one]]), 2);
    assert_fault(&history([&[], &[]]), 2);
}

#[test]
fn a_cas_that_succeeds_falsely_is_found() {
    let history = |answer: Answer| {
        [
            event(0, (0, 10), Action::Write(text(1)), Answer::Done),
            event(1, (20, 30), Action::ReadMark, marked(1, 77)),
            event(0, (40, 50), Action::Write(text(2)), Answer::Done),
            event(1, (60, 70), Action::Compare(text(3), 77), answer),
        ]
    };
    assert_fault(&history(Answer::Done), 3);
    assert!(is_sound(&history(Answer::Changed), LARGE));
    let mut needless = history(Answer::Changed).to_vec();
    needless.remove(2);
    assert_fault(&needless, 2);
    assert!(is_sound(&needless, Rules { marks_move: true, ..LARGE }));
    let twice = [
        event(0, (0, 10), Action::Write(text(1)), Answer::Done),
        event(1, (20, 30), Action::ReadMark, marked(1, 77)),
        event(0, (40, 50), Action::Write(text(2)), Answer::Done),
        event(1, (60, 70), Action::ReadMark, marked(2, 77)),
    ];
    assert_fault(&twice, 3);
}

#[test]
fn a_transaction_that_overlooks_a_change_is_found() {
    let exec = |answer| Event {
        op: all(&[(0, 5)], vec![Op::On(0, Action::Write(text(3)))]),
        ..event(1, (60, 70), Action::Read, answer)
    };
    let history = |answer| {
        [
            event(1, (0, 10), Action::Watch(5), Answer::Done),
            event(0, (20, 30), Action::Write(text(2)), Answer::Done),
            exec(answer),
        ]
    };
    assert_fault(&history(Answer::All(vec![Answer::Done])), 2);
    assert!(is_sound(&history(Answer::Changed), LARGE));
    let mut unchanged = history(Answer::Changed).to_vec();
    unchanged.remove(1);
    assert_fault(&unchanged, 1);
}

#[test]
fn half_of_several_writes_is_found() {
    let write = |number| (0..2).map(|slot| Op::On(slot, Action::Write(text(number)))).collect();
    let read = (0..2).map(|slot| Op::On(slot, Action::Read)).collect();
    let done = || Answer::All(vec![Answer::Done; 2]);
    let events = [
        Event { op: all(&[], write(1)), ..event(0, (0, 10), Action::Read, done()) },
        Event { op: all(&[], write(2)), ..event(0, (20, 90), Action::Read, done()) },
        Event {
            op: all(&[], read),
            ..event(1, (30, 40), Action::Read, Answer::All(vec![found(2), found(1)]))
        },
    ];
    assert_fault(&events, 2);
}

#[test]
fn requests_of_a_pipeline_happen_in_order() {
    let events = [
        event(0, (0, 10), Action::Write(text(1)), Answer::Done),
        event(0, (0, 10), Action::Read, Answer::Missing),
    ];
    assert_fault(&events, 1);
}

#[test]
fn a_lost_key_is_found_unless_keys_may_be_evicted_and_never_comes_back() {
    let lost = [
        event(0, (0, 10), Action::Write(text(1)), Answer::Done),
        event(1, (20, 30), Action::Read, Answer::Missing),
    ];
    assert_fault(&lost, 1);
    let evicts = Rules { evicts: true, ..LARGE };
    assert!(is_sound(&lost, evicts));
    let back = [&lost[..], &[event(1, (40, 50), Action::Read, found(1))]].concat();
    assert!(!is_sound(&back, evicts));
}

#[test]
fn a_refused_write_leaves_no_trace_but_that_of_a_set() {
    let refuses = Rules { refuses: true, ..LARGE };
    let history = |action: Action, then: Answer| {
        [
            event(0, (0, 10), Action::Write(text(1)), Answer::Done),
            event(0, (20, 30), action, Answer::Refused),
            event(1, (40, 50), Action::Read, then),
        ]
    };
    for action in [Action::Write(text(2)), Action::Append(text(2)[0])] {
        assert!(is_sound(&history(action.clone(), found(1)), refuses));
        assert!(!is_sound(&history(action.clone(), found(2)), refuses));
        assert!(!is_sound(&history(action.clone(), Answer::Missing), refuses));
        assert!(!is_sound(&history(action, found(1)), LARGE), "nothing is refused");
    }
    let removes = Rules { refused_set_removes: true, ..refuses };
    assert!(is_sound(&history(Action::Write(text(2)), Answer::Missing), removes));
    assert!(!is_sound(&history(Action::Append(text(2)[0]), Answer::Missing), removes));
}

#[test]
fn what_was_never_answered_may_have_happened_or_not() {
    let history = |answer| {
        [
            event(0, (0, u64::MAX), Action::Write(text(1)), Answer::Done),
            event(1, (20, 30), Action::Read, answer),
        ]
    };
    assert!(is_sound(&history(Answer::Missing), LARGE));
    assert!(is_sound(&history(found(1)), LARGE));
    assert!(!is_sound(&history(found(2)), LARGE));
}

/// Whether there is an order, by trying all.
fn tried(state: &State, left: &[Event], rules: Rules) -> bool {
    if left.is_empty() {
        return true;
    }
    (0..left.len()).any(|next| {
        let event = &left[next];
        let is_first = left.iter().enumerate().all(|(at, other)| {
            other.answered_ns >= event.called_ns && !(other.client == event.client && at < next)
        });
        let mut states = Vec::new();
        if is_first {
            explain(state, &event.op, &event.answer, rules, &mut states);
        }
        let rest = [&left[..next], &left[next + 1..]].concat();
        states.iter().any(|state| tried(state, &rest, rules))
    })
}

/// A history of three clients with answers that are right in some order, some of which are then
/// changed.
fn history(rng: &mut Rng) -> Vec<Event> {
    let (mut state, mut events, mut time) = (nothing().remove(0), Vec::new(), 0_u64);
    for number in 0..7 {
        let action = match rng.u8(..9) {
            0..2 => Action::Write(text(number)),
            2 => Action::Count(1),
            3 => Action::Remove,
            4 => Action::Swap(text(number)),
            5 => Action::Take,
            6 => Action::Extend(text(number)[0]),
            _ => Action::Read,
        };
        let mut answers = vec![Answer::Done, Answer::Missing, Answer::NotNumber, Answer::Number(1)];
        answers.extend(state[0].value.clone().map(Answer::Value));
        answers.extend((0..200).map(Answer::Number));
        let op = Op::On(0, action);
        let after = answers.iter().find_map(|answer| {
            let mut states = Vec::new();
            explain(&state, &op, answer, LARGE, &mut states);
            Some((answer.clone(), states.pop()?))
        });
        let (answer, after) = after.expect("each has an answer");
        state = after;
        time += 10;
        let client = rng.usize(..3);
        let begun = events.iter().rev().find(|event: &&Event| event.client == client);
        let earliest = begun.map_or(0, |event| event.answered_ns);
        let called_ns =
            rng.u64(time.saturating_sub(40)..=time).max(earliest).min(time.max(earliest));
        let answered_ns = called_ns.max(time) + rng.u64(0..30);
        events.push(Event { client, op, answer, called_ns, answered_ns });
    }
    if rng.bool() {
        let (a, b) = (rng.usize(..events.len()), rng.usize(..events.len()));
        let answer = events[a].answer.clone();
        events[a].answer = std::mem::replace(&mut events[b].answer, answer);
    }
    events
}

#[test]
fn the_search_agrees_with_one_that_tries_every_order() {
    let mut rng = Rng::with_seed(7);
    let mut verdicts = [0; 2];
    for _ in 0..3_000 {
        let events = history(&mut rng);
        for rules in [LARGE, Rules { evicts: true, ..LARGE }] {
            let sound = tried(&nothing()[0], &events, rules);
            assert_eq!(is_sound(&events, rules), sound, "{rules:?} {events:#?}");
            verdicts[usize::from(sound)] += 1;
        }
    }
    assert!(verdicts.iter().all(|count| *count > 500), "both come up: {verdicts:?}");
}

#[test]
fn what_is_told_of_a_fault_begins_when_nothing_was_open_and_leaves_out_what_is_right() {
    let mut events = Vec::new();
    for number in 0..50 {
        let start = number * 100;
        events.push(event(0, (start, start + 10), Action::Write(text(number)), Answer::Done));
        events.push(event(1, (start + 20, start + 30), Action::Read, found(number)));
    }
    events.push(event(0, (5_000, 5_080), Action::Write(text(50)), Answer::Done));
    events.push(event(1, (5_010, 5_020), Action::Read, found(50)));
    events.push(event(2, (5_030, 5_040), Action::Read, found(50)));
    events.push(event(2, (5_050, 5_060), Action::Read, found(49)));
    let Verdict::Wrong(violation) = check(&nothing(), &events, LARGE) else { panic!("not found") };
    let times: Vec<u64> = violation.events.iter().map(|event| event.called_ns).collect();
    assert_eq!(times.len(), 3, "{violation}");
    assert!(times.contains(&5_000) && times.contains(&5_050), "{violation}");
    assert_eq!(violation.before.len(), 1);
    let shown = violation.to_string();
    assert!(shown.contains("then there was 0: <3100002>"), "{shown}");
}
