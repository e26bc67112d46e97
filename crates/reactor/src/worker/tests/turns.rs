// SPDX-License-Identifier: Apache-2.0
//! The CPU time of turns.

use super::*;
use crate::metrics::TURN_CPU_TIME;
use crate::worker::tests::ONE_AT_A_TIME;
use std::sync::PoisonError;

/// Has a worker serve three lines, each of which takes 3 ms of CPU time, in a turn of their own; what was
/// recorded: turns, and nanoseconds of all of them.
fn recorded(is_on: bool) -> (u64, u64) {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let before = (TURN_CPU_TIME.count(), TURN_CPU_TIME.sum());
    let cpu = CpuClock::manual();
    let work = cpu.clone();
    let mut rig = Rig::new(options(), move |line, out, context| {
        work.advance(Duration::from_millis(3));
        echo(line, out, context)
    });
    rig.worker.stopwatch = is_on.then(|| Stopwatch::new(cpu));
    let mut client = rig.connect();
    rig.settle();
    for _ in 0..3 {
        client.write_all(b"x\n").unwrap();
        assert_eq!(rig.read_all(&mut client).0, b"x\n");
    }
    (TURN_CPU_TIME.count() - before.0, TURN_CPU_TIME.sum() - before.1)
}

#[test]
fn each_turn_is_recorded_with_the_cpu_time_it_took() {
    let (turns, ns) = recorded(true);
    assert!(turns > 3, "{turns} turns, of which three had something to do");
    assert_eq!(ns, 9_000_000);
}

#[test]
fn nothing_is_recorded_unless_it_is_asked_for() {
    assert_eq!(recorded(false), (0, 0));
    assert!(!Options::default().turn_cpu_time);
}

#[test]
fn asked_for_it_is_the_cpu_time_of_the_workers_thread() {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let before = TURN_CPU_TIME.sum();
    let mut rig = Rig::new(Options { turn_cpu_time: true, ..options() }, echo);
    while TURN_CPU_TIME.sum() == before {
        rig.step();
    }
}
