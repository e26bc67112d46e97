// SPDX-License-Identifier: Apache-2.0
//! Numbers as people write them: `4k`, `1m`, `100us`.

use std::time::Duration;

/// A whole number with `k`, `m` or `g` after it for powers of 1024.
pub fn count(text: &str) -> Result<u64, String> {
    scaled(text, 1024)
}

/// A whole number with `k`, `m` or `g` after it for powers of 1000: keys, requests, rates.
pub fn decimal(text: &str) -> Result<u64, String> {
    scaled(text, 1000)
}

fn scaled(text: &str, unit: u64) -> Result<u64, String> {
    let (digits, power) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 2),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 3),
        _ => (text, 0),
    };
    let number = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit.pow(power)));
    number.ok_or(format!("`{text}` is no whole number, as 64, 4k or 1m are"))
}

/// A time with its unit: `100us`, `5ms`, `10s`, `2m`; seconds without one.
pub fn duration(text: &str) -> Result<Duration, String> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let seconds_each = match &text[end..] {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("`{text}` is no time; write for example 500us, 5ms, 10s or 2m")),
    };
    let number = text[..end].parse::<f64>().ok().filter(|number| (0.0..1e9).contains(number));
    let number =
        number.ok_or(format!("`{text}` is no time; write for example 500us, 5ms or 10s"))?;
    Ok(Duration::from_secs_f64(number * seconds_each))
}

/// Nanoseconds for people: `850 ns`, `12.3 us`, `4.56 ms`, `1.20 s`.
pub fn show_ns(ns: f64) -> String {
    let (number, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "us"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    let digits = if number < 10.0 { 2 } else { usize::from(number < 100.0) };
    let digits = if unit == "ns" { 0 } else { digits };
    format!("{number:.digits$} {unit}")
}

/// A rate for people: `850`, `12.3k`, `1.20M`.
pub fn show_rate(rate: f64) -> String {
    match rate {
        rate if rate < 1e3 => format!("{rate:.0}"),
        rate if rate < 1e6 => format!("{:.1}k", rate / 1e3),
        rate => format!("{:.2}M", rate / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_read() {
        assert_eq!(count("4k"), Ok(4096));
        assert_eq!(decimal("4k"), Ok(4000));
        assert_eq!(decimal("2M"), Ok(2_000_000));
        assert_eq!(duration("1.5ms"), Ok(Duration::from_micros(1500)));
        assert_eq!(duration("10"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        for text in ["", "k", "-1", "1.5", "99999999999g"] {
            assert!(count(text).unwrap_err().contains(&format!("`{text}`")));
        }
        for text in ["", "ms", "-1s", "5parsec", "nan"] {
            assert!(duration(text).unwrap_err().contains(&format!("`{text}`")));
        }
    }

    #[test]
    fn numbers_are_shown_with_units() {
        let shown = [850.0, 1_234.0, 12_345.0, 456_000.0, 4_560_000.0, 1.2e9].map(show_ns);
        assert_eq!(shown, ["850 ns", "1.23 us", "12.3 us", "456 us", "4.56 ms", "1.20 s"]);
        assert_eq!([850.0, 12_345.0, 1.2e6].map(show_rate), ["850", "12.3k", "1.20M"]);
    }
}
