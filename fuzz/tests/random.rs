// SPDX-License-Identifier: Apache-2.0
//! A few random inputs for the targets that work through a model, and changed seeds of others, without a fuzzer.

/// Numbers from a seed (SplitMix64).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

/// So many inputs of up to `len` bytes. `FUZZ_RUNS` asks for more, `FUZZ_SEED` for others.
fn inputs(runs: u64, len: usize, target: fn(&[u8])) {
    let number =
        |name, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (runs, first) = (number("FUZZ_RUNS", runs), number("FUZZ_SEED", 0));
    for seed in first..first + runs {
        let mut noise = Noise(seed);
        let len = noise.next() as usize % len;
        let input: Vec<u8> = (0..len).map(|_| noise.next() as u8).collect();
        println!("FUZZ_SEED={seed} FUZZ_RUNS=1");
        target(&input);
    }
}

#[test]
fn keyspace_model() {
    inputs(100, 4096, fuzz::keyspace_model);
}

#[test]
fn resp_commands() {
    inputs(100, 4096, fuzz::resp_commands);
}

/// Inputs made of the seeds of a target, with some bytes changed, dropped or doubled.
fn mutated(runs: u64, name: &str, target: fn(&[u8])) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("seeds")
        .map(|entry| entry.expect("a seed").path())
        .collect();
    paths.sort();
    let seeds: Vec<_> = paths.iter().map(|path| std::fs::read(path).expect("a seed")).collect();
    let number =
        |name, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (runs, first) = (number("FUZZ_RUNS", runs), number("FUZZ_SEED", 0));
    for seed in first..first + runs {
        let mut noise = Noise(seed);
        let mut below = |end: usize| (noise.next() % end.max(1) as u64) as usize;
        let mut input = seeds[below(seeds.len())].clone();
        for _ in 0..=below(6) {
            let (at, other) = (below(input.len()), &seeds[below(seeds.len())]);
            match below(5) {
                0 => input.insert(at, below(256) as u8),
                1 if !input.is_empty() => drop(input.remove(at)),
                2 => input.extend_from_slice(&[&[0x80], &other[..]].concat()),
                3 => input.truncate(at),
                _ if !input.is_empty() => {
                    input[at] = [0, 1, 0x80, 0xff, below(256) as u8][below(5)]
                }
                _ => {}
            }
        }
        println!("FUZZ_SEED={seed} FUZZ_RUNS=1");
        target(&input);
    }
}

#[test]
fn datagrams() {
    mutated(2_000, "datagrams", fuzz::datagrams);
}

#[test]
fn memcache_binary() {
    mutated(2_000, "memcache_binary", fuzz::memcache_binary);
}

#[test]
fn nodes_file() {
    mutated(2000, "nodes_file", fuzz::nodes_file);
}
