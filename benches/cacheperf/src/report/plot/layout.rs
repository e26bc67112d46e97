// SPDX-License-Identifier: Apache-2.0
//! Where texts stand: how much room they take, and which ticks of an axis have room.
//!
//! Nobody knows the font of the reader, so a character counts as wide as a wide digit is in any common font
//! without serifs.

use super::axis::Tick;

/// Pixels of a character.
const CHARACTER: f64 = 7.0;
/// Pixels of a line.
const LINE: f64 = 15.0;
/// Pixels between two texts side by side.
const SPACE: f64 = 8.0;
/// Pixels that a text may stand out over the right end of its axis.
pub(super) const OVERHANG: f64 = 16.0;

/// Which way an axis goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the left to the right.
    Across,
    /// From the bottom to the top.
    Up,
}

/// Pixels that a text takes in a line.
pub(crate) fn width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// Where the middle of a tick's text is, in pixels from the beginning of its axis: at its tick, unless it
/// would stand out of the picture.
pub(crate) fn place_of(tick: &Tick, direction: Direction, length: f64) -> f64 {
    let place = tick.place * length;
    match direction {
        Direction::Across => place.min(length + OVERHANG - width(&tick.text) / 2.0),
        Direction::Up => place,
    }
}

/// Whether two neighbours touch each other.
pub(crate) fn overlaps(ticks: &[Tick], direction: Direction, length: f64) -> bool {
    ticks.windows(2).any(|pair| {
        let distance =
            place_of(&pair[1], direction, length) - place_of(&pair[0], direction, length);
        distance
            < match direction {
                Direction::Across => (width(&pair[0].text) + width(&pair[1].text)) / 2.0 + SPACE,
                Direction::Up => LINE,
            }
    })
}

/// The first of the choices that has two ticks at the least and room for their texts. Where none has, the
/// first and the last tick of the finest are left.
pub(crate) fn fit(choices: Vec<Vec<Tick>>, direction: Direction, length: f64) -> Vec<Tick> {
    let mut ends = choices.first().cloned().unwrap_or_default();
    let fits = |ticks: &Vec<Tick>| ticks.len() > 1 && !overlaps(ticks, direction, length);
    choices.into_iter().find(fits).unwrap_or_else(|| {
        if ends.len() > 2 {
            ends.drain(1..ends.len() - 1);
        }
        ends
    })
}

/// Lines of texts that are as long as `widest` at the most; each text has a mark before it.
pub(crate) fn wrap(texts: &[String], widest: f64) -> Vec<Vec<usize>> {
    let mut lines: Vec<Vec<usize>> = Vec::new();
    let mut used = f64::INFINITY;
    for (number, text) in texts.iter().enumerate() {
        let wide = item_width(text);
        match lines.last_mut() {
            Some(line) if used + wide <= widest => line.push(number),
            _ => {
                lines.push(vec![number]);
                used = 0.0;
            }
        }
        used += wide;
    }
    lines
}

/// Pixels of a text of a legend with its mark and the space behind it.
pub(crate) fn item_width(text: &str) -> f64 {
    width(text) + 34.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(place: f64, text: &str) -> Tick {
        Tick { place, text: text.to_owned() }
    }

    #[test]
    fn neighbours_need_room_for_their_texts() {
        let close = [tick(0.0, "100 us"), tick(0.1, "200 us")];
        assert!(overlaps(&close, Direction::Across, 300.0));
        assert!(!overlaps(&close, Direction::Across, 600.0));
        assert!(!overlaps(&close, Direction::Up, 300.0));
        assert!(overlaps(&close, Direction::Up, 100.0));
    }

    #[test]
    fn the_last_text_stays_in_the_picture() {
        let last = tick(1.0, "1000000 s");
        let end = place_of(&last, Direction::Across, 600.0) + width(&last.text) / 2.0;
        assert_eq!(end, 600.0 + OVERHANG);
        assert_eq!(place_of(&tick(0.5, "5"), Direction::Across, 600.0), 300.0);
    }

    #[test]
    fn legends_have_as_many_lines_as_they_need() {
        let texts = ["a", "bb", "a name that is rather long", "c"].map(str::to_owned);
        assert_eq!(wrap(&texts, 150.0), [vec![0, 1], vec![2], vec![3]]);
        assert_eq!(wrap(&texts, 1_000.0), [vec![0, 1, 2, 3]]);
        assert!(wrap(&[], 100.0).is_empty());
    }
}
