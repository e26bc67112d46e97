// SPDX-License-Identifier: Apache-2.0
//! Times of day as text, without allocating: `2026-01-02T03:04:05.678Z`.

use std::time::{SystemTime, UNIX_EPOCH};

/// The bytes of a formatted time.
pub(crate) const LEN: usize = 24;

/// 9999-12-31T23:59:59.999Z, the last time that four digits of year can show.
const LAST_MS: u64 = 253_402_300_799_999;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The time by the system clock, in milliseconds since 1970.
pub(crate) fn unix_ms_now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Formats milliseconds since 1970 as UTC by RFC 3339. Times after the year 9999 show its end.
pub(crate) fn format(unix_ms: u64) -> [u8; LEN] {
    let unix_ms = unix_ms.min(LAST_MS);
    let (year, month, day) = date(unix_ms / DAY_MS);
    let ms = unix_ms % DAY_MS;
    let mut text = *b"0000-00-00T00:00:00.000Z";
    digits(&mut text[0..4], year);
    digits(&mut text[5..7], month);
    digits(&mut text[8..10], day);
    digits(&mut text[11..13], ms / 3_600_000);
    digits(&mut text[14..16], ms / 60_000 % 60);
    digits(&mut text[17..19], ms / 1000 % 60);
    digits(&mut text[20..23], ms % 1000);
    text
}

/// Fills `place` with the last digits of `value`.
fn digits(place: &mut [u8], mut value: u64) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

/// Year, month and day of a day counted from 1970-01-01 in the Gregorian calendar.
///
/// Years are reckoned from March so that a leap day is the last of its year, and in eras of 400
/// years, which all have the same number of days.
fn date(days: u64) -> (u64, u64, u64) {
    const DAYS_FROM_YEAR_0: u64 = 719_468;
    const ERA: u64 = 146_097;
    let days = days + DAYS_FROM_YEAR_0;
    let of_era = days % ERA;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = days / ERA * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(unix_ms: u64) -> String {
        String::from_utf8(format(unix_ms).to_vec()).unwrap()
    }

    #[test]
    fn known_times() {
        assert_eq!(text(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(text(951_827_696_789), "2000-02-29T12:34:56.789Z");
        assert_eq!(text(1_767_323_045_678), "2026-01-02T03:04:05.678Z");
        assert_eq!(text(4_107_542_399_999), "2100-02-28T23:59:59.999Z");
        assert_eq!(text(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
        assert_eq!(text(LAST_MS), "9999-12-31T23:59:59.999Z");
        assert_eq!(text(u64::MAX), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn every_day_agrees_with_counting() {
        let mut days = 0;
        for year in 1970..2500 {
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let february = if leap { 29 } else { 28 };
            let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            for (month, length) in (1..).zip(lengths) {
                for day in 1..=length {
                    assert_eq!(date(days), (year, month, day));
                    days += 1;
                }
            }
        }
    }
}
