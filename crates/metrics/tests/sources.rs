// SPDX-License-Identifier: Apache-2.0
//! What is kept elsewhere is copied in when all metrics are read: one text shows one moment.

use metrics::{Source, Window};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

metrics::counters! {
    /// Counted in place.
    static IN_PLACE: "in_place_total";
}

metrics::totals! {
    /// Counted elsewhere.
    static ELSEWHERE: "elsewhere_total";
}

/// What a text form shows of the two.
fn shown(form: fn(&Window) -> String) -> (String, String) {
    let text = form(&Window::default());
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.expect(name).to_owned()
    };
    (of("in_place_total"), of("elsewhere_total"))
}

fn flat(window: &Window) -> String {
    metrics::vars(window).iter().map(|(name, value)| format!("{name} {value}\n")).collect()
}

#[test]
fn every_text_is_of_one_moment() {
    let elsewhere = Arc::new(AtomicU64::new(0));
    let source = Source::new({
        let elsewhere = Arc::clone(&elsewhere);
        move || ELSEWHERE.set(elsewhere.load(Relaxed))
    });
    for round in 1..=3 {
        IN_PLACE.increment();
        elsewhere.fetch_add(1, Relaxed);
        let both = (round.to_string(), round.to_string());
        assert_eq!(shown(metrics::prometheus), both);
        assert_eq!(shown(flat), both);
        assert!(
            metrics::json(&Window::default()).contains(&format!("\"elsewhere_total\":{round}"))
        );
    }
    drop(source);
    elsewhere.fetch_add(1, Relaxed);
    assert_eq!(shown(metrics::prometheus).1, "3", "nobody copies any more");
}
