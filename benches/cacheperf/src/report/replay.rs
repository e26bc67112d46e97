// SPDX-License-Identifier: Apache-2.0
//! The results of a replay as text and as a page.

use super::html::{absences, how, page, run_parts, table};
use super::text;
use crate::{Misses, Percentile, Provenance, Replayed};
use std::fmt::Write;

fn percent(ratio: Option<f64>) -> String {
    ratio.map_or("–".to_owned(), |ratio| format!("{:.2} %", 100.0 * ratio))
}

/// What was missed, of the whole trace and of the part behind the warm-up.
fn parts(found: &Replayed) -> [(String, Misses); 2] {
    let behind = format!("behind the first {}", found.warm_up_records);
    [(format!("all {} records", found.records), found.whole), (behind, found.behind_warm_up)]
}

/// What was missed, in lines.
pub fn misses(found: &Replayed) -> String {
    let mut text = String::new();
    for (number, (name, misses)) in parts(found).into_iter().enumerate() {
        let title = if number == 0 { "misses" } else { "" };
        let (keys, bytes) = (percent(misses.miss_ratio), percent(misses.byte_miss_ratio));
        // A string takes everything.
        let _ = writeln!(
            text,
            "{title:<12} {name}: {keys} of {} keys, {bytes} of the bytes",
            misses.gets
        );
    }
    let _ = writeln!(text, "{:<12} {} sets refused", "", found.outcome.set_errors);
    text
}

/// The page of a replay.
pub fn page_of(found: &Replayed, provenance: &Provenance) -> String {
    let titles = ["", "keys asked for", "missed", "miss ratio", "byte miss ratio"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    for (name, misses) in parts(found) {
        rows.push(vec![
            name,
            misses.gets.to_string(),
            misses.misses.to_string(),
            percent(misses.miss_ratio),
            percent(misses.byte_miss_ratio),
        ]);
    }
    let mut parts = run_parts(&found.outcome).to_vec();
    parts.insert(0, table(&rows));
    let mut lines = vec![found.outcome.target.clone(), found.outcome.load.clone()];
    lines.extend(absences(&found.outcome));
    lines.extend(text::doubt(&Percentile::ALL, [&found.outcome.latency]));
    parts.push(how(provenance));
    page("cacheperf replay", &lines, &parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::html::tests::counted;
    use crate::report::text::tests::{example, provenance};

    fn found() -> Replayed {
        let all = Misses {
            gets: 900_000,
            misses: 90_000,
            miss_ratio: Some(0.1),
            byte_miss_ratio: Some(0.1234),
        };
        let none = Misses { gets: 0, misses: 0, miss_ratio: None, byte_miss_ratio: None };
        Replayed {
            outcome: example(),
            records: 1_000_000,
            warm_up_records: 200_000,
            speed: Some(1.0),
            whole: all,
            behind_warm_up: none,
        }
    }

    #[test]
    fn both_miss_ratios_are_told() {
        let text = misses(&found());
        assert!(text.contains("all 1000000 records: 10.00 % of 900000 keys, 12.34 % of the bytes"));
        assert!(text.contains("behind the first 200000: – of 0 keys, – of the bytes"), "{text}");
    }

    #[test]
    fn a_page_and_a_file_have_both_and_all_of_a_run() {
        let page = page_of(&found(), &provenance());
        assert_eq!(counted(&page).0, 4, "plots");
        assert!(page.contains("<td>12.34 %</td>"));
        let json = serde_json::to_value(found()).unwrap();
        assert_eq!(json["answered"], 1_000_000);
        assert_eq!(json["whole"]["miss_ratio"], 0.1);
        assert_eq!(json["behind_warm_up"]["gets"], 0);
    }
}
