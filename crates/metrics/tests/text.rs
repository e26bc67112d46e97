// SPDX-License-Identifier: Apache-2.0
//! The text forms, read back by strict readers.

#![forbid(unsafe_code)]

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use metrics::{Distribution, Kind, Window};

metrics::counters! {
    /// Requests \ with a backslash,
    /// on two lines.
    static REQUESTS: "requests_total";
    /// Never bumped.
    static QUIET: "quiet_total";
    /// Pauses.
    static PAUSED: "paused_seconds_total" in milliseconds;
    /// By command and result.
    "by_command_total" {
        static GET_HIT: command = "get", result = "hit";
        static GET_MISS: command = "get", result = "miss";
        static SET: command = "set", result = "stored";
    }
}

metrics::gauges! {
    /// Below zero.
    static BELOW: "below";
    /// A share.
    static SHARE: "share_ratio" in permille;
}

metrics::levels! {
    /// The lowest there is.
    static LOWEST: "lowest";
}

metrics::totals! {
    /// The highest there is.
    static HIGHEST: "highest_total";
}

metrics::families! {
    /// By time to live.
    static BY_TTL: "by_ttl" by "ttl";
    /// Without members.
    static NONE: "none" by "ttl";
}

metrics::total_families! {
    /// Calls.
    static CALLS: "calls_total" by "command";
}

metrics::histogram_families! {
    /// Times of calls.
    static TIMES: "times_seconds" by "command" in nanoseconds;
}

metrics::histograms! {
    /// How long it takes.
    static LATENCY: "latency_seconds" in nanoseconds;
    /// Nothing recorded.
    static EMPTY: "empty";
    /// Keys of a request.
    "keys" {
        static KEYS_GET: command = "get";
        static KEYS_GAT: command = "gat";
    }
}

/// Bumps the metrics, once for all tests, and gives the window that has it all.
fn window() -> &'static Window {
    static WINDOW: LazyLock<Window> = LazyLock::new(|| {
        REQUESTS.add(42);
        PAUSED.add(1_250);
        GET_HIT.add(3);
        GET_MISS.add(4);
        SET.add(5);
        BELOW.sub(7);
        SHARE.add(940);
        LOWEST.set(i64::MIN);
        HIGHEST.set(u64::MAX);
        BY_TTL.set([("60", 4), ("never!", -2)]);
        NONE.set::<&str>([]);
        CALLS.set([("get", 8), ("config|get", 1)]);
        let below = |bound: u64| [100, 5_000].into_iter().filter(|&time| time < bound).count();
        TIMES.set([("get", Distribution::new(2, 5_100, |bound| below(bound) as u64))]);
        KEYS_GAT.record(5);
        let mut window = Window::default();
        [0, 1, 2, 1000, 1 << 41].into_iter().for_each(|value| LATENCY.record(value));
        KEYS_GET.record(2);
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
            assert!(["counter", "gauge", "histogram", "summary"].contains(&kind), "{kind_line}");
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

/// The buckets of the histogram with these labels as bound and cumulative count.
fn check_histogram(name: &str, family: &Family, labels: &str) -> Vec<(f64, u64)> {
    let own = |all: &str| all.strip_prefix(labels).is_some_and(|rest| !rest.contains("command="));
    let bound = |labels: &str| {
        let (_, bound) = labels.rsplit_once("le=\"").expect("the label le");
        bound.strip_suffix('"').expect("a closed value").parse::<f64>().expect("a bound")
    };
    let of = |suffix: &str| {
        let sample = format!("{name}_{suffix}");
        let samples = family.samples.iter();
        samples.filter(move |(name, labels, _)| *name == sample && own(labels))
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
    buckets
}

fn samples(family: &Family) -> Vec<(&str, &str)> {
    family.samples.iter().map(|(_, labels, value)| (labels.as_str(), value.as_str())).collect()
}

#[test]
fn prometheus_text_passes_a_strict_reader() {
    let families = parse(&metrics::prometheus(window()));
    let of = |name: &str| (families[name].kind.as_str(), samples(&families[name]));

    assert_eq!(of("requests_total"), ("counter", vec![("", "42")]));
    assert_eq!(families["requests_total"].help, r"Requests \\ with a backslash, on two lines.");
    assert_eq!(of("quiet_total"), ("counter", vec![("", "0")]));
    assert_eq!(of("paused_seconds_total"), ("counter", vec![("", "1.25")]));
    let members = [
        ("command=\"get\",result=\"hit\"", "3"),
        ("command=\"get\",result=\"miss\"", "4"),
        ("command=\"set\",result=\"stored\"", "5"),
    ];
    assert_eq!(of("by_command_total"), ("counter", members.to_vec()));
    assert_eq!(of("below"), ("gauge", vec![("", "-7")]));
    assert_eq!(of("share_ratio"), ("gauge", vec![("", "0.94")]));
    assert_eq!(of("lowest"), ("gauge", vec![("", i64::MIN.to_string().as_str())]));
    assert_eq!(of("highest_total"), ("counter", vec![("", u64::MAX.to_string().as_str())]));
    assert_eq!(of("by_ttl"), ("gauge", vec![("ttl=\"60\"", "4"), ("ttl=\"never!\"", "-2")]));
    assert_eq!(of("none"), ("gauge", vec![]));
    let calls = vec![("command=\"get\"", "8"), ("command=\"config|get\"", "1")];
    assert_eq!(of("calls_total"), ("counter", calls));
    // Every metric of the list has a family of its kind; a histogram that is counted here has two more.
    let list = metrics::list();
    for metric in &list {
        assert_eq!(families[metric.name].kind, metric.kind.to_string());
    }
    let histograms = ["latency_seconds", "empty", "keys"].len();
    assert_eq!(families.len(), list.len() + 2 * histograms);
}

#[test]
fn histograms_are_cumulative_and_their_percentiles_a_summary_apart() {
    let families = parse(&metrics::prometheus(window()));

    let buckets = check_histogram("latency_seconds", &families["latency_seconds"], "");
    let at_most = |bound: f64| buckets.iter().find(|(le, _)| *le == bound).unwrap().1;
    // Recorded: 0, 1, 2, 1000 ns and a value beyond the last finite bound.
    let expected = [(127e-9, 3), (511e-9, 3), (1023e-9, 4), (17.179_869_183, 4)];
    for (bound, count) in expected {
        assert_eq!(at_most(bound), count, "le={bound}");
    }
    assert_eq!(buckets.last().unwrap().1, 5);
    let named = |name: &str| families["latency_seconds"].samples.iter().find(|s| s.0 == name);
    assert_eq!(named("latency_seconds_sum").unwrap().2, "2199.023256555");

    let recent = &families["latency_recent_seconds"];
    assert_eq!(recent.kind, "summary");
    let quantiles: Vec<_> = recent.samples.iter().map(|sample| sample.1.as_str()).collect();
    let expected = ["0.25", "0.5", "0.75", "0.9", "0.99", "0.999", "0.9999"]
        .map(|quantile| format!("quantile=\"{quantile}\""));
    assert_eq!(quantiles, expected);
    assert_eq!(recent.samples[1].2, "0.000000002", "the median of the last tick");

    let highest = &families["latency_max_seconds"];
    assert_eq!((highest.kind.as_str(), highest.samples.len()), ("gauge", 1));
    let value: f64 = highest.samples[0].2.parse().unwrap();
    assert!((value * 1e9 / (1_u64 << 41) as f64 - 1.0).abs() < 0.016, "{value}");
    assert_eq!(families["empty_max"].samples[0].2, "0");

    let buckets = check_histogram("empty", &families["empty"], "");
    assert!(buckets.iter().all(|bucket| bucket.1 == 0));
    assert!(families["empty_recent"].samples.iter().all(|sample| sample.2 == "NaN"));

    for (labels, below_four) in [("command=\"get\"", 1), ("command=\"gat\"", 0)] {
        let buckets = check_histogram("keys", &families["keys"], labels);
        assert!(buckets.contains(&(3.0, below_four)), "{labels}: {buckets:?}");
    }
    assert!(samples(&families["keys_recent"]).contains(&("command=\"get\",quantile=\"0.5\"", "2")));
    assert_eq!(
        samples(&families["keys_max"]),
        [("command=\"gat\"", "5"), ("command=\"get\"", "2")]
    );

    let times = check_histogram("times_seconds", &families["times_seconds"], "command=\"get\"");
    assert_eq!(times[0], (127e-9, 1));
    assert!(!families.contains_key("times_recent_seconds"));
}

/// OpenMetrics has other heads, floats as bounds and an end; everything else is as it is in the other form.
#[test]
fn openmetrics_differs_in_its_form_alone() {
    let text = metrics::openmetrics(window());
    for head in [
        "# TYPE requests counter\n# HELP requests Requests \\\\ with",
        "# TYPE paused_seconds counter\n# UNIT paused_seconds seconds\n# HELP paused_seconds Pauses.\n\
         paused_seconds_total 1.25\n",
        "# TYPE share_ratio gauge\n# UNIT share_ratio ratio\n",
        "# TYPE latency_recent_seconds summary\n",
    ] {
        assert!(text.contains(head), "{head}");
    }
    assert!(text.contains("\nkeys_bucket{command=\"get\",le=\"3.0\"} 1\n"));
    assert!(text.ends_with("\n# EOF\n"));
    let lines = |text: &str| -> Vec<String> {
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        samples.map(|line| line.replace(".0\"}", "\"}")).collect()
    };
    assert_eq!(lines(&text), lines(&metrics::prometheus(window())));
}

#[test]
fn json_parses_back_to_the_same_numbers() {
    let json: serde_json::Value = serde_json::from_str(&metrics::json(window())).unwrap();
    assert_eq!(json["requests_total"], 42);
    assert_eq!(json["below"], -7);
    assert_eq!(json["lowest"], i64::MIN);
    assert_eq!(json["highest_total"], u64::MAX);
    assert_eq!(json["paused_seconds_total"], 1.25);
    assert_eq!(json["by_command_total{command=\"get\",result=\"miss\"}"], 4);
    assert_eq!(json["by_ttl{ttl=\"60\"}"], 4);
    assert_eq!(json["latency_recent_seconds{quantile=\"0.25\"}"], 1e-9);
    assert_eq!(json["latency_seconds_count"], 5);
    assert_eq!(json["times_seconds_sum{command=\"get\"}"], 5.1e-6);
    let highest = json["latency_max_seconds"].as_f64().unwrap();
    assert!((highest - 2199.0).abs() < 36.0, "{highest}");
    assert_eq!(json["empty_count"], 0);
    let none = json.get("empty_recent{quantile=\"0.99\"}");
    assert!(none.is_some_and(serde_json::Value::is_null));
    // The samples of the text but for buckets.
    let text = metrics::prometheus(window());
    let samples = text.lines().filter(|line| !line.starts_with('#') && !line.contains("_bucket{"));
    assert_eq!(json.as_object().unwrap().len(), samples.count());
}

#[test]
fn vars_are_the_json_without_what_is_missing() {
    let window = window();
    let vars: BTreeMap<_, _> = metrics::vars(window).into_iter().collect();
    assert_eq!(vars["requests_total"], "42");
    assert_eq!(vars["latency_recent_seconds{quantile=\"0.75\"}"], "0.000000999", "of 992 to 1007");
    assert_eq!(vars["empty_count"], "0");
    assert!(!vars.contains_key("empty_recent{quantile=\"0.99\"}"));
    let json: serde_json::Value = serde_json::from_str(&metrics::json(window)).unwrap();
    let present: Vec<_> = json.as_object().unwrap().iter().filter(|(_, v)| !v.is_null()).collect();
    assert_eq!(vars.len(), present.len());
}

#[test]
fn the_list_is_sorted_described_and_free_of_duplicates() {
    let list = metrics::list();
    assert!(list.is_sorted_by_key(|metric| metric.name));
    assert!(list.iter().all(|metric| !metric.help.is_empty()));
    let of = |name: &str| list.iter().find(|metric| metric.name == name).unwrap();
    let latency = of("latency_seconds");
    assert_eq!((latency.kind, latency.help), (Kind::Histogram, "How long it takes."));
    assert_eq!(of("by_command_total").labels, ["command", "result"]);
    assert_eq!(list.iter().filter(|metric| metric.name == "by_command_total").count(), 1);
    assert_eq!(of("times_seconds").labels, ["command"]);
    assert_eq!(metrics::duplicates(), Vec::<String>::new());
}

#[test]
fn one_value_can_be_looked_up() {
    let _window = window();
    assert_eq!(metrics::value("below"), Some(-7));
    assert_eq!(metrics::value("belo"), None, "the beginning of a name is none");
    assert_eq!(metrics::value("below "), None);
    assert_eq!(metrics::value("highest_total"), Some(u64::MAX.into()));
    assert_eq!(metrics::value("empty"), Some(0));
    assert_eq!((metrics::value("by_ttl"), metrics::value("none")), (Some(2), Some(0)));
    assert_eq!(metrics::value("by_ttl{ttl=\"60\"}"), Some(4));
    assert_eq!(metrics::value("by_command_total"), Some(12));
    assert_eq!(metrics::value("by_command_total{command=\"set\",result=\"stored\"}"), Some(5));
    assert_eq!(metrics::value("by_command_total{command=\"set\"}"), None, "all labels, or none");
    assert_eq!(metrics::value("paused_seconds_total"), Some(1_250), "as it is counted");
    assert_eq!(metrics::value("unheard_of"), None);
}
