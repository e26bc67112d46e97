// SPDX-License-Identifier: Apache-2.0
//! From registers to an estimate, by the method of Otmar Ertl's "New cardinality estimation algorithms for HyperLogLog
//! sketches" (arXiv:1702.01284), which needs only how many registers have which value.

use super::{REGISTERS, RUN_MAX, Registers};

/// 1 / (2 ln 2)
const ALPHA: f64 = std::f64::consts::LOG2_E / 2.0;

/// Counts that are made side by side.
const LANES: usize = 4;

/// How many registers have which value.
#[derive(Debug)]
pub(super) struct Histogram([u32; 64]);

impl Default for Histogram {
    fn default() -> Self {
        Histogram([0; 64])
    }
}

impl Histogram {
    /// Counts registers with this value, which has six bits.
    #[inline]
    pub(super) fn add(&mut self, value: u8, registers: usize) {
        if let Some(count) = self.0.get_mut(usize::from(value)) {
            *count = count.saturating_add(registers as u32);
        }
    }

    /// That of registers, most of which may be 0.
    #[expect(clippy::arithmetic_side_effects, reason = "counts registers")]
    pub(super) fn of_registers(registers: &Registers) -> Self {
        // Several, so that a count need not wait for the one before.
        let mut counts = [[0_u32; 64]; LANES];
        for eight in registers.as_chunks::<8>().0 {
            if u64::from_ne_bytes(*eight) == 0 {
                counts[0][0] += 8;
                continue;
            }
            for (lane, value) in eight.iter().enumerate() {
                counts[lane % LANES][usize::from(value % 64)] += 1;
            }
        }
        Histogram(std::array::from_fn(|value| counts.iter().map(|lane| lane[value]).sum()))
    }

    fn of(&self, value: u8) -> f64 {
        self.0.get(usize::from(value)).map_or(0.0, |count| f64::from(*count))
    }

    /// How many different elements there were, about.
    pub(super) fn estimate(&self) -> u64 {
        let registers = REGISTERS as f64;
        let mut sum = registers * tau((registers - self.of(RUN_MAX)) / registers);
        for value in (1..RUN_MAX).rev() {
            sum = (sum + self.of(value)) * 0.5;
        }
        sum += registers * sigma(self.of(0) / registers);
        (ALPHA * registers * registers / sum).round() as u64
    }
}

/// The correction for registers that are 0.
fn sigma(x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut x, mut factor, mut sum) = (x, 1.0, x);
    loop {
        x *= x;
        let before = sum;
        sum += x * factor;
        factor += factor;
        if sum == before {
            return sum;
        }
    }
}

/// The correction for registers that have the largest value.
fn tau(x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut x, mut factor, mut sum) = (x, 1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = sum;
        factor *= 0.5;
        sum -= (1.0 - x) * (1.0 - x) * factor;
        if sum == before {
            return sum / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_is_that_of_redis() {
        assert_eq!(ALPHA, 0.721_347_520_444_481_7);
    }

    #[test]
    fn registers_are_counted_as_one_by_one() {
        let mut registers = [0; REGISTERS];
        for (index, register) in
            registers.iter_mut().enumerate().filter(|(index, _)| index % 13 < 4)
        {
            *register = (index * 7 % 52) as u8;
        }
        let mut expected = Histogram::default();
        registers.iter().for_each(|value| expected.add(*value, 1));
        assert_eq!(Histogram::of_registers(&registers).0, expected.0);
    }

    #[test]
    fn nothing_is_none_and_everything_is_very_many() {
        let mut none = Histogram::default();
        none.add(0, REGISTERS);
        assert_eq!(none.estimate(), 0);
        let mut all = Histogram::default();
        all.add(RUN_MAX, REGISTERS);
        assert!(all.estimate() > 1 << 60);
    }
}
