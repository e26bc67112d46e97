// SPDX-License-Identifier: Apache-2.0
//! The seeds of `keyspace_model` and `resp_commands`: scripts of commands, and choices of a small
//! generator. `tests/seeds.rs` compares them with `corpus/`.

mod scripts;

use crate::chunks::Noise;
use scripts::SCRIPTS;
use std::collections::BTreeMap;

/// Inputs by their names.
pub type Seeds = BTreeMap<String, Vec<u8>>;

/// For each kind of limits, each ending and some numbers of shards, a run of random steps.
pub fn keyspace_model() -> Seeds {
    let mut seeds = Seeds::new();
    for (limits, limits_name) in ["tiny", "none-packed", "all-packed", "usual"].iter().enumerate() {
        for (ending, ending_name) in ["cleared", "taken", "expired", "evicted"].iter().enumerate() {
            let shards = (limits + 2 * ending) % 7;
            let name = format!("{limits_name}-{ending_name}-{}-shards", 1 << shards);
            let setup = [shards as u8, limits as u8, ending as u8];
            seeds.insert(name.clone(), [&setup[..], &noise(&name, 500)].concat());
        }
    }
    seeds
}

/// Scripts, and runs of random steps.
pub fn resp_commands() -> Seeds {
    let scripts = SCRIPTS.iter().map(|(name, text)| {
        // Four shards, no limit, `noeviction`, and some requests in each turn.
        let header = "  ";
        ((*name).to_owned(), format!("{header}{}", text.trim_start()).into_bytes())
    });
    let random = (0..12_u8).map(|number| {
        let name = format!("random-{number}");
        let setup = [number, number.wrapping_mul(37)];
        (name.clone(), [&setup[..], &noise(&name, 600)].concat())
    });
    scripts.chain(random).collect()
}

fn noise(seed: &str, len: usize) -> Vec<u8> {
    let mut noise = Noise::new(seed.as_bytes());
    (0..len).map(|_| noise.below(256) as u8).collect()
}
