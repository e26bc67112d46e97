// SPDX-License-Identifier: Apache-2.0
//! The text forms, read back by strict readers.

#![forbid(unsafe_code)]

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use metrics::{Kind, Window};

metrics::counters! {
    /// Requests \ with a backslash,
    /// on two lines.
    static REQUESTS: "requests";
    /// Never bumped.
    static QUIET: "quiet";
}

metrics::gauges! {
    /// Below zero.
    static BELOW: "below";
}

metrics::levels! {
    /// The lowest there is.
    static LOWEST: "lowest";
}

metrics::totals! {
    /// The highest there is.
    static HIGHEST: "highest";
}

metrics::families! {
    /// By time to live.
    static BY_TTL: "by_ttl" by "ttl";
    /// Without members.
    static NONE: "none" by "ttl";
}

metrics::histograms! {
    /// Nanoseconds.
    static LATENCY: "latency";
    /// Nothing recorded.
    static EMPTY: "empty";
}

/// Bumps the metrics, once for all tests, and gives the window that has it all.
fn window() -> &'static Window {
    static WINDOW: LazyLock<Window> = LazyLock::new(|| {
        REQUESTS.add(42);
        BELOW.sub(7);
        LOWEST.set(i64::MIN);
        HIGHEST.set(u64::MAX);
        BY_TTL.set([("60", 4), ("never!", -2)]);
        NONE.set::<&str>([]);
        let mut window = Window::default();
        [0, 1, 2, 1000, 1 << 41].into_iter().for_each(|value| LATENCY.record(value));
        window.tick();
        window
    });
    &WINDOW
}

/// A family as a strict reader sees it.
#[derive(Debug, Default)]
struct Family {
    kind: String,
    help: String,
    /// Sample name, labels, value.
    samples: Vec<(String, String, String)>,
}

/// Reads Prometheus text 0.0.4 and panics at whatever its description does not allow.
fn parse(text: &str) -> BTreeMap<String, Family> {
    assert!(text.ends_with('\n'), "the last line ends as the others do");
    let mut families = BTreeMap::new();
    let mut current = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(head) = line.strip_prefix("# HELP ") {
            let (name, help) = head.split_once(' ').expect("a help text");
            let kind_line = lines.next().expect("a type after the help");
            let kind = kind_line.strip_prefix(&format!("# TYPE {name} ")).expect("its type");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{kind_line}");
            assert!(!help.replace(r"\\", "").replace(r"\n", "").contains('\\'), "{help}");
            let family = Family { kind: kind.into(), help: help.into(), samples: vec![] };
            assert!(families.insert(name.to_owned(), family).is_none(), "{name} twice");
            current = name.to_owned();
            continue;
        }
        assert!(!line.starts_with('#') && !line.is_empty(), "{line:?}");
        let (sample, value) = line.rsplit_once(' ').expect("a value");
        value.parse::<f64>().expect("a number");
        let (name, labels) = match sample.split_once('{') {
            Some((name, labels)) => (name, labels.strip_suffix('}').expect("closed labels")),
            None => (sample, ""),
        };
        let family: &mut Family = families.get_mut(&current).expect("a family before samples");
        let suffix = name.strip_prefix(current.as_str()).expect("a sample of the family");
        let allowed: &[_] =
            if family.kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
        assert!(allowed.contains(&suffix), "{line}");
        family.samples.push((name.into(), labels.into(), value.into()));
    }
    let mut seen = HashSet::new();
    for sample in families.values().flat_map(|family| &family.samples) {
        assert!(seen.insert((&sample.0, &sample.1)), "{sample:?} twice");
    }
    families
}

/// The buckets of a histogram as bound and cumulative count.
fn check_histogram(name: &str, family: &Family) -> Vec<(f64, u64)> {
    let bound = |labels: &str| {
        let bound = labels.strip_prefix("le=\"").and_then(|rest| rest.strip_suffix('"'));
        bound.expect("the label le").parse::<f64>().expect("a bound")
    };
    let of = |suffix: &str| {
        let sample = format!("{name}_{suffix}");
        family.samples.iter().filter(move |(name, ..)| *name == sample)
    };
    let buckets: Vec<(f64, u64)> = of("bucket")
        .map(|(_, labels, value)| (bound(labels), value.parse().expect("a whole number")))
        .collect();
    assert!(buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "cumulative: {buckets:?}");
    let &(infinity, all) = buckets.last().expect("a bucket");
    assert_eq!(infinity, f64::INFINITY);
    let count: Vec<_> = of("count").map(|(_, _, value)| value.clone()).collect();
    assert_eq!(count, [all.to_string()]);
    assert_eq!(of("sum").count(), 1);
    assert_eq!(family.samples.len(), buckets.len() + 2, "buckets, a sum and a count");
    buckets
}

#[test]
fn prometheus_text_passes_a_strict_reader() {
    let families = parse(&metrics::prometheus(window()));
    let sample = |name: &str| families[name].samples[0].2.as_str();

    assert_eq!(families["requests"].kind, "counter");
    assert_eq!(families["requests"].help, r"Requests \\ with a backslash, on two lines.");
    assert_eq!(sample("requests"), "42");
    assert_eq!(sample("quiet"), "0");
    assert_eq!((families["below"].kind.as_str(), sample("below")), ("gauge", "-7"));
    assert_eq!(
        (families["lowest"].kind.as_str(), sample("lowest")),
        ("gauge", i64::MIN.to_string().as_str(),)
    );
    assert_eq!(
        (families["highest"].kind.as_str(), sample("highest")),
        ("counter", u64::MAX.to_string().as_str(),)
    );
    let members = [("ttl=\"60\"", "4"), ("ttl=\"never!\"", "-2")];
    let members = members.map(|(of, value)| ("by_ttl".into(), of.into(), value.into()));
    assert_eq!(
        (families["by_ttl"].kind.as_str(), &families["by_ttl"].samples[..]),
        ("gauge", &members[..])
    );
    assert!(families["none"].samples.is_empty());
    // Every metric of the list has a family of its kind; a histogram has two more.
    let list = metrics::list();
    for metric in &list {
        assert_eq!(families[metric.name].kind, metric.kind.to_string());
    }
    let histograms = list.iter().filter(|metric| metric.kind == Kind::Histogram).count();
    assert_eq!(families.len(), list.len() + 2 * histograms);
}

#[test]
fn prometheus_histograms_are_cumulative_and_their_percentiles_a_family_apart() {
    let families = parse(&metrics::prometheus(window()));

    let buckets = check_histogram("latency", &families["latency"]);
    let at_most = |bound: f64| buckets.iter().find(|(le, _)| *le == bound).unwrap().1;
    // Recorded: 0, 1, 2, 1000 and a value beyond the last finite bound.
    let expected =
        [(0.0, 1), (1.0, 2), (3.0, 3), (511.0, 3), (1023.0, 4), (1_099_511_627_775.0, 4)];
    for (bound, count) in expected {
        assert_eq!(at_most(bound), count, "le={bound}");
    }
    assert_eq!(buckets.last().unwrap().1, 5);
    let sum = (1003 + (1_u64 << 41)).to_string();
    let sample = families["latency"].samples.iter().find(|sample| sample.0 == "latency_sum");
    assert_eq!(sample.unwrap().2, sum);

    let recent = &families["latency_recent"];
    assert_eq!(recent.kind, "gauge");
    let quantiles: Vec<_> = recent.samples.iter().map(|sample| sample.1.as_str()).collect();
    let expected = ["0.25", "0.5", "0.75", "0.9", "0.99", "0.999", "0.9999"]
        .map(|quantile| format!("quantile=\"{quantile}\""));
    assert_eq!(quantiles, expected);
    assert_eq!(recent.samples[1].2, "2", "the median of the last tick");

    let highest = &families["latency_max"];
    assert_eq!((highest.kind.as_str(), highest.samples.len()), ("gauge", 1));
    let value: f64 = highest.samples[0].2.parse().unwrap();
    assert!((value / (1_u64 << 41) as f64 - 1.0).abs() < 0.016, "{value}");
    assert_eq!(families["empty_max"].samples[0].2, "0");

    let buckets = check_histogram("empty", &families["empty"]);
    assert!(buckets.iter().all(|bucket| bucket.1 == 0));
    assert!(families["empty_recent"].samples.iter().all(|sample| sample.2 == "NaN"));
}

#[test]
fn json_parses_back_to_the_same_numbers() {
    let json: serde_json::Value = serde_json::from_str(&metrics::json(window())).unwrap();
    assert_eq!(json["requests"], 42);
    assert_eq!(json["below"], -7);
    assert_eq!(json["lowest"], i64::MIN);
    assert_eq!(json["highest"], u64::MAX);
    assert_eq!(json["latency_p25"], 1);
    assert_eq!(json["latency_p50"], 2);
    assert_eq!(json["latency_count"], 5);
    assert_eq!(json["latency_sum"], 1003 + (1_u64 << 41));
    let highest = json["latency_max"].as_u64().unwrap();
    assert!(highest.abs_diff(1 << 41) < 1 << 35, "{highest}");
    assert_eq!(json["empty_count"], 0);
    assert!(json["empty_max"].is_null());
    assert!(json["empty_p99"].is_null() && json.get("empty_p99").is_some());
    assert_eq!((&json["by_ttl_60"], &json["by_ttl_never_"]), (&4.into(), &(-2).into()));
    // Each histogram stands for a count, a sum, a maximum and seven percentiles, the families for two members.
    let list = metrics::list();
    let histograms = list.iter().filter(|metric| metric.kind == Kind::Histogram).count();
    assert_eq!(json.as_object().unwrap().len(), list.len() - histograms + 10 * histograms);
}

#[test]
fn stats_are_the_json_without_what_is_missing() {
    let window = window();
    let stats: BTreeMap<_, _> = metrics::stats(window).into_iter().collect();
    assert_eq!(stats["requests"], "42");
    assert_eq!(stats["below"], "-7");
    assert_eq!(stats["latency_p75"], "999", "the middle of 992 to 1007");
    assert_eq!(stats["empty_count"], "0");
    assert!(!stats.contains_key("empty_p99"));
    let json: serde_json::Value = serde_json::from_str(&metrics::json(window)).unwrap();
    let present: Vec<_> = json.as_object().unwrap().iter().filter(|(_, v)| !v.is_null()).collect();
    assert_eq!(stats.len(), present.len());
}

#[test]
fn the_list_is_sorted_described_and_free_of_duplicates() {
    let list = metrics::list();
    assert!(list.is_sorted_by_key(|metric| metric.name));
    assert!(list.iter().all(|metric| !metric.help.is_empty()));
    let latency = list.iter().find(|metric| metric.name == "latency").unwrap();
    assert_eq!((latency.kind, latency.help), (Kind::Histogram, "Nanoseconds."));
    assert_eq!(metrics::duplicates(), Vec::<String>::new());
}

#[test]
fn one_value_can_be_looked_up() {
    let _window = window();
    assert_eq!(metrics::value("below"), Some(-7));
    assert_eq!(metrics::value("highest"), Some(u64::MAX.into()));
    assert_eq!(metrics::value("empty"), Some(0));
    assert_eq!((metrics::value("by_ttl"), metrics::value("none")), (Some(2), Some(0)));
    assert_eq!(metrics::value("unheard_of"), None);
}
