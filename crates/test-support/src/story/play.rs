// SPDX-License-Identifier: Apache-2.0
//! Playing stories against a server, and comparing its replies.

use super::Server;
use super::script::{self, Step, Story};
use super::show::show;
use protocol_resp::Version;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// For how long a story is told again and again, if it fails while the machine is late.
const RETELLING_MAX: Duration = Duration::from_secs(300);

/// How often a story in which time passes is told before it counts as failed, even if all that was seen of it was in time:
/// what a server does by itself, several times a second, may come late on a machine that is busy with other things.
const TELLINGS: usize = 3;

/// The pause before that: whoever has slept gets to run sooner.
const PAUSE: Duration = Duration::from_millis(50);

/// Plays the stories of a group against a server: all of them, or those for redis-server 7.0.
pub fn tell(server: &mut impl Server, group: &str, text: &str, version: Version, is_ours: bool) {
    let mut wrong = String::new();
    for story in script::read(text) {
        if story.ours_only && !is_ours {
            continue;
        }
        let begun = Instant::now();
        let has_passing = story.steps.iter().any(|step| step.passes_ms().is_some());
        let mut by_chance = if has_passing && server.is_timed() { TELLINGS - 1 } else { 0 };
        let found = loop {
            server.restart();
            let found = Teller { server, version, waiting: Vec::new() }.tell(&story, is_ours);
            // On a busy machine a key may expire before it is read, and a pause of clients may end before they are
            // seen to wait, which is no fault of the server.
            let is_late = server.is_late() && begun.elapsed() < RETELLING_MAX;
            if found.is_empty() || !is_late && by_chance == 0 {
                break found;
            }
            if !is_late {
                by_chance -= 1;
            }
            sleep(PAUSE);
        };
        if !found.is_empty() {
            wrong.push_str(&format!("\n# {}\n{found}", story.title));
        }
    }
    assert!(wrong.is_empty(), "{group} in {version:?}:\n{wrong}");
}

struct Teller<'s, S> {
    server: &'s mut S,
    version: Version,
    /// The clients that wait.
    waiting: Vec<String>,
}

impl<S: Server> Teller<'_, S> {
    /// Plays a story; returns the replies that differ from it.
    fn tell(&mut self, story: &Story<'_>, is_ours: bool) -> String {
        let mut wrong = String::new();
        for step in &story.steps {
            if step.ours_only && !is_ours {
                continue;
            }
            if let Some(ms) = step.passes_ms() {
                self.server.pass(Duration::from_millis(ms));
                continue;
            }
            if step.command == "@leave" {
                self.server.leave(&step.client);
                self.waiting.retain(|client| *client != step.client);
                self.server.settle(self.waiting.len());
                continue;
            }
            for time in 0..step.times {
                let (expected, answer) = self.step(step, time);
                if answer != expected && (expected != "?" || answer == "(waits)") {
                    let Step { line, command, .. } = step;
                    wrong.push_str(&format!("line {line}: {command} => {answer}\n"));
                    wrong.push_str(&format!("      instead of {expected}\n"));
                    break;
                }
            }
        }
        let mut clients: Vec<_> = story.steps.iter().map(|step| &step.client).collect();
        clients.sort_unstable();
        clients.dedup();
        for client in clients {
            while let Some(more) = self.server.receive(client, false) {
                wrong.push_str(&format!("{client}> also got {}\n", more.escape_ascii()));
            }
        }
        wrong
    }

    /// The expected reply and the actual one.
    fn step(&mut self, step: &Step, time: usize) -> (String, String) {
        let now = self.server.unix_ms();
        let mut put_in = |text: &str| {
            let is_repeated = step.times > 1;
            let text = if is_repeated { &text.replace("{}", &time.to_string()) } else { text };
            with_values(text, |word| match word.strip_prefix("id ") {
                Some(client) => Some(self.server.client_id(client).to_string()),
                None => unix_time(word, now),
            })
        };
        let (command, expected) = (put_in(&step.command), put_in(&step.expected(self.version)));
        if !command.is_empty() {
            self.server.send(&step.client, &command);
        }
        let waits = expected == "(waits)";
        let due = !waits && expected != "(nothing)";
        self.waiting.retain(|client| *client != step.client);
        if waits {
            self.waiting.push(step.client.clone());
            self.server.settle(self.waiting.len());
        }
        let answer = match self.server.receive(&step.client, due) {
            // Expected replies come from lines whose trailing spaces are cut.
            Some(reply) => show(&reply, step.order).trim_end().to_owned(),
            None if self.server.is_closed(&step.client) => "(closed)".to_owned(),
            None if expected == "(nothing)" => expected.clone(),
            None => "(waits)".to_owned(),
        };
        (expected, answer)
    }
}

/// Replaces words such as `{s+10}` by their values; words without a value stay as they are.
fn with_values(text: &str, mut value: impl FnMut(&str) -> Option<String>) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let (before, behind) = rest.split_at(start);
        result.push_str(before);
        let value = behind.find('}').and_then(|end| Some((value(&behind[1..end])?, end)));
        let (shown, len) = value.unwrap_or(("{".to_owned(), 0));
        result.push_str(&shown);
        rest = &behind[len + 1..];
    }
    result + rest
}

/// The unix time that `s+10` or `ms+10` means.
fn unix_time(text: &str, now: u64) -> Option<String> {
    let (now, offset) = match text.strip_prefix("ms") {
        Some(offset) => (now, offset),
        None => (now / 1000, text.strip_prefix('s')?),
    };
    let offset: i64 = if offset.is_empty() { 0 } else { offset.parse().ok()? };
    Some(now.checked_add_signed(offset)?.to_string())
}

#[test]
fn times_are_put_in() {
    let shown = with_values("A {ms+5} {s-1} {s} {} {x} {", |word| unix_time(word, 5000));
    assert_eq!(shown, "A 5005 4 5 {} {x} {");
}
