// SPDX-License-Identifier: Apache-2.0
//! Generated commands, sent to redis-server and to `rds`: the replies are the same.
//!
//! Commands come out of a table, [commands.txt](commands.txt), scenes of several connections out of
//! another, [stories.txt](stories.txt). Few keys are used, so that commands work on data that earlier ones
//! left, and one in twelve commands is made invalid. Scripts run one in twelve, and convert its reply in every way
//! ([lua.rs](lua.rs)); users with random rules send others. They are sent alone, in pipelines and in transactions, on
//! three connections that take turns, and each server gets them cut into different pieces. Now and then all
//! data of both servers is compared. A difference is shrunk to the shortest sequence of steps and printed.
//!
//! * `SHOEBILL_COMMANDS`: how many commands in each version of RESP, 10,000 unless set.
//! * `SHOEBILL_SEED`: which ones, 1 unless set.
//! * `SHOEBILL_GROUPS`: which groups of the tables, `strings,keys`; all of [`GROUPS`] unless set. `streams`, `scripts` and
//!   `acl` are compared only if they are named.
//! * `SHOEBILL_RDS`: another build of the server, such as the release build, or redis-server itself.
//! * `SHOEBILL_REDIS`: another server to compare with than the redis-server of the system, of Redis 8 or Valkey.
//! * `SHOEBILL_REQUIRE_ORACLES=1`: fail where redis-server is missing, instead of passing with a message.
//!
//! The words are those of Redis 7.0. [reference.rs](reference.rs) says what is compared less exactly with newer servers,
//! and which words are not sent to them; flags of lines and stories say which servers these are for:
//!
//! ```console
//! $ SHOEBILL_REDIS=redis-8/bin/redis-server SHOEBILL_GROUPS=scripts,acl,strings,hashes,sets \
//!       cargo test -p shoebill-rds --test differential -- --nocapture
//! ```
//!
//! How replies are compared is said by command in the table; [rules.rs](rules.rs) has the rules.
//!
//! Left out:
//!
//! * Expiries in the near future, but for a story that waits for them.
//! * Ranges by member (ZRANGEBYLEX …) of a sorted set whose members have different scores: what
//!   redis-server finds then depends on the levels that its skip list has rolled.
//! * SPOP of less than everything in a transaction or a pipeline, as the rest would not be the same.
//! * SUBSCRIBE in a transaction.
//! * Keys that are used under both kinds of policies: redis-server keeps what it knows of their use in the
//!   same place, and reads it in the wrong way afterwards.
//! * Requests behind QUIT: redis-server closes the connection with them unread, upon which the system may
//!   drop replies that are on their way.
//! * OBJECT IDLETIME and FREQ of small integers, which redis-server shares between keys.
//! * SORT of keys that other commands use, as it unpacks sorted sets.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod choices;
mod client;
mod generate;
mod lua;
mod pair;
mod pattern;
#[path = "../support/process.rs"]
mod process;
mod proxy;
mod reference;
mod reply;
mod rules;
mod run;
mod shrink;
mod stage;
mod state;
mod stories;
mod tally;
mod words;

use generate::Generator;
use shrink::{Finding, Servers, Setting};

/// The groups of the tables that the server has.
const GROUPS: &[&str] = &[
    "strings",
    "large",
    "keys",
    "hashes",
    "lists",
    "sets",
    "zsets",
    "bitmaps",
    "hyperloglogs",
    "geo",
    "blocking",
    "scan",
    "transactions",
    "watching",
    "pubsub",
    "notifications",
    "expiry",
    "connection",
    "clients",
    "auth",
    "protocol",
    "server",
];

/// Steps between two comparisons of all that both servers hold.
const STEPS_PER_COMPARISON: usize = 1_000;

/// From so many commands on, each line of the table must have been answered without an error.
const COMMANDS_FOR_ALL: usize = 100_000;

/// The number in an environment variable.
fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

/// redis-server and the server under test. redis-server looks only so often in a second whose wait is over: at 10 times,
/// as it comes, a blocking command takes a tenth of a second, whatever its timeout.
fn redis_and_rds() -> Option<Servers> {
    let oracle = process::redis_of(&reference::path(), &["--hz", "500"])?;
    let ours = process::rds(&[]);
    Some(Servers { addresses: [oracle.address, ours.address], keep: Box::new((oracle, ours)) })
}

/// redis-server twice, once behind a proxy that alters what it says.
fn redis_and_altered(from: &'static [u8], to: &'static [u8]) -> Option<Servers> {
    let (oracle, behind) = (process::redis(&[])?, process::redis(&[])?);
    let altered = proxy::altering(behind.address, from, to);
    Some(Servers { addresses: [oracle.address, altered], keep: Box::new((oracle, behind)) })
}

/// What became of a comparison.
#[derive(Debug)]
enum Verdict {
    /// There was nothing to compare with.
    NoOracle,
    Same,
    Different(Finding),
}

/// Commands of these groups, compared.
#[derive(Debug, Clone, Copy)]
struct Comparison<'a> {
    setting: Setting,
    groups: &'a [&'a str],
}

impl Comparison<'_> {
    fn generator(&self) -> Generator {
        let lines = generate::table(include_str!("commands.txt"), self.groups);
        let scripts = stories::scripts(include_str!("stories.txt"), self.groups);
        let is_any = !lines.is_empty() || !scripts.is_empty();
        assert!(is_any, "nothing of {:?} is for this server", self.groups);
        let mut generator = Generator::new(self.setting.seed, lines, scripts);
        if generator.has_no_lines() {
            // Stories that want some, as those of users do, send these.
            generator.lend(generate::table(include_str!("commands.txt"), GROUPS));
        }
        generator
    }

    /// Compares `count` commands.
    fn run(self, count: usize) -> Verdict {
        let Some((_servers, mut run)) = self.setting.run() else { return Verdict::NoOracle };
        let mut generator = self.generator();
        let mut steps = 0;
        while run.tally.commands() < count {
            let step = generator.step();
            steps += 1;
            let mut outcome = run.step(&step);
            let is_over = run.tally.commands() >= count;
            if outcome.is_ok() && (steps % STEPS_PER_COMPARISON == 0 || is_over) {
                outcome = run.compare_state();
            }
            if let Err(difference) = outcome {
                // The same again: keeping all of them would take a gigabyte.
                let mut generator = self.generator();
                let steps = (0..steps).map(|_| generator.step()).collect();
                return Verdict::Different(Finding { steps, difference });
            }
        }
        let (done, protocol) = (run.tally.commands(), self.setting.protocol);
        println!("{done} commands in RESP{protocol} are answered alike:\n{}", run.tally);
        let missed: Vec<_> = generator.expected().difference(&run.answered).copied().collect();
        let all = done < COMMANDS_FOR_ALL || missed.is_empty();
        assert!(all, "only errors came of these lines of the table: {missed:#?}");
        Verdict::Same
    }
}

fn replies_are_those_of_redis(protocol: u8) {
    let seed = variable("SHOEBILL_SEED").unwrap_or(1);
    let count = variable("SHOEBILL_COMMANDS").unwrap_or(10_000) as usize;
    let groups = std::env::var("SHOEBILL_GROUPS");
    let groups: Vec<&str> =
        groups.as_ref().map_or(GROUPS.to_vec(), |groups| groups.split(',').collect());
    let setting = Setting { start: redis_and_rds, protocol, seed };
    if let Verdict::Different(found) = (Comparison { setting, groups: &groups }).run(count) {
        eprintln!(
            "\nSHOEBILL_SEED={seed} SHOEBILL_COMMANDS={count}: the replies in RESP{protocol} differ \
             after {} steps\n{}\nshrinking …",
            found.steps.len(),
            found.difference
        );
        panic!("redis and rds differ in RESP{protocol} after\n{}", setting.shrink(found));
    }
}

#[test]
fn replies_are_those_of_redis_in_resp2() {
    replies_are_those_of_redis(2);
}

#[test]
fn replies_are_those_of_redis_in_resp3() {
    replies_are_those_of_redis(3);
}

/// An alteration is found, and few steps are left to show it.
fn is_found(start: fn() -> Option<Servers>, protocol: u8) {
    let setting = Setting { start, protocol, seed: 1 };
    let groups = &["strings", "keys", "hashes", "lists", "sets", "zsets"];
    match (Comparison { setting, groups }).run(20_000) {
        Verdict::NoOracle => {}
        Verdict::Same => panic!("the alteration was not found"),
        Verdict::Different(found) => {
            let steps = setting.shrink(found).steps;
            assert!(steps.len() <= 4, "{} steps are left", steps.len());
        }
    }
}

#[test]
fn an_altered_number_is_found() {
    is_found(|| redis_and_altered(b":3\r\n", b":4\r\n"), 2);
}

#[test]
fn an_altered_error_is_found() {
    is_found(|| redis_and_altered(b"-WRONGTYPE Op", b"-WRONGTYPE op"), 2);
}

#[test]
fn an_altered_type_is_found() {
    is_found(|| redis_and_altered(b"_\r\n", b"+\r\n"), 3);
}
