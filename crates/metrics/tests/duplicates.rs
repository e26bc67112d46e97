// SPDX-License-Identifier: Apache-2.0
//! A process that declares a name twice is told so, and prints well-formed text all the same.

#![forbid(unsafe_code)]

metrics::counters! {
    /// The one.
    static ONE: "twice";
    /// The other.
    static OTHER: "twice";
}

#[test]
fn a_name_declared_twice_is_reported_and_printed_once() {
    ONE.increment();
    OTHER.increment();
    assert_eq!(metrics::duplicates(), ["twice"], "the two and what they say");
    assert_eq!(metrics::list().iter().filter(|metric| metric.name == "twice").count(), 2);
    let window = metrics::Window::default();
    assert_eq!(metrics::prometheus(&window).matches("# TYPE twice counter\n").count(), 1);
    assert_eq!(metrics::json(&window).matches("\"twice\":1").count(), 1);
}
