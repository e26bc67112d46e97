// SPDX-License-Identifier: Apache-2.0
//! The names of statistics: the server shows every name that memcached shows, so that every tool and exporter
//! finds what it looks for.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

#[path = "support/process.rs"]
mod process;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use test_support::memcached::{Memcached, Version};

/// A connection that reads statistics.
struct Asker(BufReader<TcpStream>);

impl Asker {
    fn new(address: SocketAddr) -> Self {
        Asker(BufReader::new(TcpStream::connect(address).unwrap()))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "the connection ends: {line:?}");
        line.trim_end().to_owned()
    }

    /// The reply to a request that is answered by a line.
    fn ask(&mut self, request: &str) -> String {
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        self.line()
    }

    /// Names and values of a topic, in the order they are shown.
    fn stats(&mut self, topic: &str) -> Vec<(String, String)> {
        self.0.get_mut().write_all(format!("stats {topic}\r\n").as_bytes()).unwrap();
        let mut shown = Vec::new();
        loop {
            let line = self.line();
            let Some(line) = line.strip_prefix("STAT ") else {
                assert_eq!(line, "END", "{topic}");
                return shown;
            };
            let (name, value) = line.split_once(' ').unwrap();
            shown.push((name.to_owned(), value.to_owned()));
        }
    }

    fn map(&mut self, topic: &str) -> BTreeMap<String, String> {
        self.stats(topic).into_iter().collect()
    }

    /// The names of a topic, with `N` for the number of a class or a connection.
    fn names(&mut self, topic: &str) -> BTreeSet<String> {
        let numberless = |part: &str| match part.parse::<u64>() {
            Ok(_) => "N".to_owned(),
            Err(_) => part.to_owned(),
        };
        let shape = |name: &String| name.split(':').map(numberless).collect::<Vec<_>>().join(":");
        self.stats(topic).iter().map(|(name, _)| shape(name)).collect()
    }
}

/// The topics that are compared.
const TOPICS: [&str; 5] = ["", "settings", "items", "slabs", "conns"];

/// What older versions show and the reference does not.
const OF_BEFORE: [&str; 1] = ["slab_reassign_evictions_nomem"];

#[test]
fn every_name_of_memcached_is_shown() {
    let Some(memcached) = process::memcached(&[]) else { return };
    let mut theirs = Asker::new(memcached.address);
    assert_eq!(theirs.ask("set key 0 0 5\r\nvalue\r\n"), "STORED");
    let expected = TOPICS.map(|topic| theirs.names(topic));
    for storage in process::STORAGES {
        let segcache = process::segcache(&[], &process::over(storage));
        let mut ours = Asker::new(segcache.address);
        assert_eq!(ours.ask("set key 0 0 5\r\nvalue\r\n"), "STORED");
        for (topic, expected) in TOPICS.iter().zip(&expected) {
            let shown = ours.names(topic);
            let missing: Vec<_> = expected
                .difference(&shown)
                .filter(|name| !OF_BEFORE.contains(&name.as_str()))
                .collect();
            assert!(missing.is_empty(), "stats {topic} over {storage} lacks {missing:?}");
            assert!(expected.len() > 3, "{topic}: {expected:?}");
        }
    }
}

#[test]
fn numbers_are_shown_where_memcached_shows_numbers() {
    let Some(memcached) = process::memcached(&[]) else { return };
    let segcache = process::segcache(&[], "");
    let (mut theirs, mut ours) = (Asker::new(memcached.address), Asker::new(segcache.address));
    for topic in ["", "settings"] {
        let ours = ours.map(topic);
        for (name, value) in theirs.stats(topic) {
            if value.parse::<f64>().is_ok() && !OF_BEFORE.contains(&name.as_str()) {
                assert!(ours[&name].parse::<f64>().is_ok(), "{name} is {}", ours[&name]);
            }
        }
    }
}

/// What requests count as.
const COUNTED: [&str; 22] = [
    "cmd_get",
    "cmd_set",
    "cmd_touch",
    "cmd_meta",
    "cmd_flush",
    "get_hits",
    "get_misses",
    "get_expired",
    "delete_misses",
    "delete_hits",
    "incr_misses",
    "incr_hits",
    "decr_misses",
    "decr_hits",
    "cas_misses",
    "cas_hits",
    "cas_badval",
    "touch_hits",
    "touch_misses",
    "store_too_large",
    "curr_items",
    "total_items",
];
/// What is asked, each of both servers.
const REQUESTS: &[&str] = &[
    "set a 0 0 1\r\nx\r\n",
    "get a\r\n",
    "set a 0 0 1\r\nxyz\r\n",
    "set a 0 0 1 noreply\r\nxyz\r\n",
    "add q 0 0 1 noreply\r\nxyz\r\n",
    "cas q 0 0 1 5 noreply\r\nxyz\r\n",
    "set a 0 x 1 noreply\r\nx\r\n",
    "ms a 1\r\nxyz\r\n",
    "ms a 1 q\r\nxyz\r\n",
    "cas a 0 0 1 1\r\nxyz\r\n",
    "set a 0 0 x\r\n",
    "replace b 0 0 1\r\nx\r\n",
    "append b 0 0 1\r\nx\r\n",
    "prepend b 0 0 1\r\nx\r\n",
    "ms b 1 MR\r\nx\r\n",
    "ms b 1 C5\r\nx\r\n",
    "get b\r\n",
    "get a b a\r\n",
    "gat 0 a\r\n",
    "gat 0 b\r\n",
    "touch a 0\r\n",
    "touch b 0\r\n",
    "incr b 1\r\n",
    "set n 0 0 1\r\n5\r\n",
    "incr n 1\r\n",
    "decr n 1\r\n",
    "decr b 1\r\n",
    "cas a 0 0 1 5\r\nx\r\n",
    "cas b 0 0 1 5\r\nx\r\n",
    "append a 0 0 1\r\nx\r\n",
    "add c 0 0 1\r\nx\r\n",
    "add c 0 0 1\r\nx\r\n",
    "delete c\r\n",
    "delete c\r\n",
    "mg a v\r\n",
    "mg b v\r\n",
    "ms d 1\r\nx\r\n",
    "ms d 1 C5\r\nx\r\n",
    "md d\r\n",
    "md d\r\n",
    "ma n\r\n",
    "ma n MD\r\n",
    "ma zz\r\n",
    "ma y N0 J5\r\n",
    "me a\r\n",
    "mn\r\n",
    "set e 0 -1 1\r\nx\r\nget e\r\n",
    "mg a t\r\n",
    "mg a v T0\r\n",
    "mg zz v T30\r\n",
    "mg x v N30\r\n",
    "md a x\r\n",
    "md a I T30\r\n",
    "md a I x\r\n",
    "md zz I\r\n",
    "md a C999999999\r\n",
];

/// Of these, those that an older memcached refuses, as that of Debian 12 does.
const VALUE_REMOVED: [&str; 2] = ["md a x\r\n", "md a I x\r\n"];

/// A version that has them, that of Debian 13.
const KNOWS_X: Version = Version(1, 6, 38);

#[test]
fn a_request_counts_as_it_does_with_memcached() {
    let Some(memcached) = process::memcached(&[]) else { return };
    let version = Memcached::find().expect("it runs").version;
    let is_known = |request: &&&str| version >= KNOWS_X || !VALUE_REMOVED.contains(*request);
    let counts = |asker: &mut Asker| {
        let shown = asker.map("");
        COUNTED.map(|name| shown[name].parse::<u64>().unwrap())
    };
    for storage in process::STORAGES {
        let segcache = process::segcache(&[], &process::over(storage));
        let mut askers = [Asker::new(memcached.address), Asker::new(segcache.address)];
        let mut changes = [BTreeMap::new(), BTreeMap::new()];
        askers[0].ask("flush_all\r\n");
        askers[0].ask("delete e\r\n");
        let mut before = askers.each_mut().map(counts);
        for &request in REQUESTS.iter().filter(is_known) {
            for ((asker, before), changed) in askers.iter_mut().zip(&mut before).zip(&mut changes) {
                let mut last = asker.ask(&format!("{request}mn\r\n"));
                while last != "MN" {
                    last = asker.line();
                }
                if request == "mn\r\n" {
                    assert_eq!(asker.line(), "MN");
                }
                let after = counts(asker);
                let by = |(name, (before, after)): (&&str, (&u64, &u64))| {
                    (before != after).then(|| format!("{name} {}", *after as i64 - *before as i64))
                };
                let pairs = before.iter().zip(&after);
                let changes: Vec<_> = COUNTED.iter().zip(pairs).filter_map(by).collect();
                changed.insert(request, changes);
                *before = after;
            }
        }
        let [theirs, ours] = changes;
        for (request, expected) in &theirs {
            // An item that has expired goes at another moment, and each number is an item of its own, as is one with
            // another mark.
            let is_changed =
                ["incr", "decr", "ma", "md a I"].iter().any(|name| request.starts_with(name));
            let leave_out = |changes: &[String]| -> Vec<String> {
                let is_kept = |change: &&String| {
                    !(change.starts_with("curr_items")
                        || change.starts_with("total_items") && is_changed)
                };
                changes.iter().filter(is_kept).cloned().collect()
            };
            assert_eq!(leave_out(&ours[request]), leave_out(expected), "{storage}: {request:?}");
        }
    }
}

/// As memcached has it: `cmd_set` counts values that have arrived, stored or not, however long they are, but none that
/// the server does not read.
#[test]
fn a_value_counts_once_it_has_arrived() {
    for storage in process::STORAGES {
        let segcache = process::segcache(&[], &process::over(storage));
        let mut asker = Asker::new(segcache.address);
        let mut sets = 0;
        let value = |len: usize| "v".repeat(len);
        let (bad, large) =
            ("CLIENT_ERROR bad data chunk", "SERVER_ERROR object too large for cache");
        let rest = "CLIENT_ERROR bad command line format";
        for (len, command, reply, counts) in [
            (9, "set k 0 0 9", "STORED", 1),
            (10, "set k 0 0 9", bad, 1),
            // The first answer is the one to the rest of it.
            (10, "set k 0 0 9 noreply", rest, 1),
            (9, "add j 0 0 9", "STORED", 1),
            (9, "add j 0 0 9", "NOT_STORED", 1),
            (200_000, "set k 0 0 200000", "STORED", 1),
            (200_001, "set k 0 0 200000", bad, 1),
            (200_001, "set k 0 0 200000 noreply", rest, 1),
            (200_000, "ms j 200000 ME", "NS", 1),
            (200_001, "ms j 200000", bad, 1),
            (2_000_000, "set k 0 0 2000000", large, 0),
            (2_000_000, "ms k 2000000", large, 0),
        ] {
            assert_eq!(asker.ask(&format!("{command}\r\n{}\r\n", value(len))), reply, "{command}");
            // What is left of a bad value is taken for a line.
            let mut last = asker.ask("mn\r\n");
            while last != "MN" {
                last = asker.line();
            }
            sets += counts;
            assert_eq!(asker.map("")["cmd_set"], sets.to_string(), "{storage}: {command}, {len}");
        }
    }
}

/// Asks until `is_so`, which maintenance brings about.
fn wait_until(asker: &mut Asker, what: &str, is_so: impl Fn(&dyn Fn(&str) -> u64) -> bool) {
    let deadline = Instant::now() + test_support::PATIENCE;
    loop {
        let shown = asker.map("");
        if is_so(&|name| shown[name].parse().unwrap()) {
            return;
        }
        assert!(Instant::now() < deadline, "{what}: {shown:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_became_of_items_is_counted() {
    for storage in process::STORAGES {
        let segcache = process::segcache(&["-m", "8"], &process::over(storage));
        let mut asker = Asker::new(segcache.address);
        assert_eq!(asker.ask("set k 0 0 1\r\nx\r\n"), "STORED");
        // In one turn: between two the item's memory could come back.
        assert_eq!(asker.ask("flush_all\r\nget k\r\n"), "OK");
        assert_eq!(asker.line(), "END");
        assert_eq!(asker.ask("set k 0 -1 1\r\nx\r\n"), "STORED");
        wait_until(&mut asker, "flushed", |count| count("get_flushed") == 1);
        wait_until(&mut asker, "expired", |count| {
            count("expired_unfetched") == 1 && count("reclaimed") == 1
        });

        // Twice as much as there is room for, none of it read.
        let value = "v".repeat(1000);
        let fill = |asker: &mut Asker, from: u32| {
            for number in from..from + 16_000 {
                let request = format!("set key{number} 0 0 1000\r\n{value}\r\n");
                assert_eq!(asker.ask(&request), "STORED");
            }
        };
        fill(&mut asker, 0);
        wait_until(&mut asker, "evicted", |count| {
            count("evictions") > 1000 && count("evicted_unfetched") == count("evictions")
        });
        // What is there is read, and has to go.
        for number in 0..16_000 {
            let mut line = asker.ask(&format!("get key{number}\r\n"));
            while line != "END" {
                line = asker.line();
            }
        }
        fill(&mut asker, 16_000);
        wait_until(&mut asker, "evicted after a read", |count| {
            count("evicted_unfetched") + 100 < count("evictions")
        });

        // All that was evicted belongs to a class, and so does all that is there.
        let (items, all) = (asker.map("items"), asker.map(""));
        let sum = |what: &str| -> u64 {
            let of = |(name, value): (&String, &String)| {
                name.ends_with(&format!(":{what}")).then(|| value.parse::<u64>().unwrap())
            };
            items.iter().filter_map(of).sum()
        };
        assert_eq!(sum("number").to_string(), all["curr_items"], "{storage}");
        assert_eq!(sum("evicted").to_string(), all["evictions"], "{storage}");
        assert_eq!(sum("evicted_unfetched").to_string(), all["evicted_unfetched"], "{storage}");
    }
}

#[test]
fn items_of_different_times_to_live_are_different_classes() {
    let segcache = process::segcache(&[], "");
    let mut asker = Asker::new(segcache.address);
    for exptime in ["0", "10", "1000000"] {
        let request = format!("set k{exptime} 0 {exptime} 5\r\nvalue\r\n");
        assert_eq!(asker.ask(&request), "STORED");
    }
    let (items, slabs) = (asker.map("items"), asker.map("slabs"));
    assert_eq!(slabs["active_slabs"], "3");
    assert_eq!(items["items:1:number"], "1", "those that never expire");
    let classes = items.keys().filter(|name| name.ends_with(":number"));
    for class in classes.map(|name| name.split(':').nth(1).unwrap()) {
        assert_eq!(slabs[&format!("{class}:used_chunks")], "1");
        assert_eq!(slabs[&format!("{class}:total_pages")], "1");
    }
}

#[test]
fn requests_are_counted_by_prefix_on_all_workers() {
    let segcache = process::segcache(&["-D", "_", "-t", "2"], "");
    let mut askers: Vec<Asker> = (0..4).map(|_| Asker::new(segcache.address)).collect();
    for asker in &mut askers {
        assert_eq!(asker.ask("set a_b 0 0 1\r\nx\r\n"), "STORED");
        assert_eq!(asker.ask("set b:c 0 0 1\r\nx\r\n"), "STORED");
        assert_eq!(asker.ask("mg a_b\r\n"), "HD");
        assert_eq!(asker.ask("mg a_c\r\n"), "EN");
    }
    let counts = "PREFIX a get 8 hit 4 set 4 del 0";
    assert_eq!(askers[0].ask("stats detail dump\r\n"), counts);
    assert_eq!(askers[0].line(), "END");
    let settings = askers[1].map("settings");
    assert_eq!((&*settings["stat_key_prefix"], &*settings["detail_enabled"]), ("_", "yes"));
    assert_eq!(askers[1].ask("stats detail off\r\n"), "OK");
    assert_eq!(askers[2].ask("set a_b 0 0 1\r\nx\r\n"), "STORED");
    assert_eq!(askers[3].ask("stats detail dump\r\n"), counts);
    assert_eq!(askers[3].line(), "END");
    assert_eq!(askers[3].ask("stats reset\r\n"), "RESET");
    assert_eq!(askers[0].ask("stats detail dump\r\n"), "END");
}

/// Exporters parse what they find. Those of Prometheus show the settings of the crawler only where there is one, take
/// the times of the process for seconds and microseconds, and `set` for what of `cmd_set` is no `cas`.
#[test]
fn exporters_can_parse_what_they_look_for() {
    let Some(memcached) = process::memcached(&[]) else { return };
    let mut theirs = Asker::new(memcached.address);
    for storage in process::STORAGES {
        let segcache = process::segcache(&[], &process::over(storage));
        let mut ours = Asker::new(segcache.address);
        for asker in [&mut theirs, &mut ours] {
            assert_eq!(asker.ask("set key 0 0 5\r\nvalue\r\n"), "STORED");
            assert!(["EXISTS", "STORED"].contains(&&*asker.ask("cas key 0 0 5 1\r\nvalue\r\n")));
        }
        for topic in ["items", "slabs"] {
            let (expected, shown) = (theirs.names(topic), ours.stats(topic));
            assert!(!expected.is_empty() && !shown.is_empty(), "{topic}");
            for (name, value) in shown {
                assert!(value.parse::<u64>().is_ok(), "{name} {value}");
            }
        }
        let stats = ours.map("");
        for name in ["rusage_user", "rusage_system"] {
            let (seconds, micros) = stats[name].split_once('.').unwrap();
            assert!(seconds.parse::<u64>().is_ok() && micros.len() == 6, "{}", stats[name]);
        }
        let number = |name: &str| stats[name].parse::<u64>().unwrap();
        let cas = number("cas_misses") + number("cas_hits") + number("cas_badval");
        assert_eq!((number("cmd_set"), cas), (2, 1));
        let settings = ours.map("settings");
        assert_eq!(settings["lru_crawler"], theirs.map("settings")["lru_crawler"]);
        for name in ["lru_crawler_sleep", "lru_crawler_tocrawl", "hot_lru_pct", "warm_max_factor"] {
            assert!(settings[name].parse::<f64>().is_ok(), "{name} {}", settings[name]);
        }
        assert_eq!(settings["lru_maintainer_thread"], "no");
    }
}
