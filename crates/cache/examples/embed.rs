// SPDX-License-Identifier: Apache-2.0
//! A cache in front of something slow: `cargo run -p shoebill-cache --example embed`.

use cache::Cache;
use std::time::Duration;

fn main() -> Result<(), cache::Error> {
    let builder = Cache::builder().memory(16 << 20).ttl(Duration::from_secs(60));
    let squares: Cache<u64, u64> = builder.build()?;
    let slow = |n: u64| move || n * n;
    let sum: u64 =
        (0..1_000_000).map(|n| squares.get_or_insert_with(&(n % 1000), slow(n % 1000))).sum();
    println!("{sum}: {:?}", squares.statistics());
    Ok(())
}
