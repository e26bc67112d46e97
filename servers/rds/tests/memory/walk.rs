// SPDX-License-Identifier: Apache-2.0
//! Every command of the table, repeated with large arguments, alone and in a transaction, by clients
//! that stay connected: the memory that they hold is bounded. New commands are included automatically.

use super::flood::{Flood, request};
use super::{MIB, Rig, name};
use protocol_resp::table::syntax::{Argument, Kind};
use protocol_resp::table::{self, Flags, Spec};

const MAX: u64 = 32 * MIB;

/// Bytes that a client sends of one command.
const BYTES: u64 = MIB;

/// How often a request is sent that has no arguments. Some of them have the server work for long, and whoever looks at it
/// has to wait for all of them.
const ALIKE: usize = 5;

/// How often an argument is repeated that may be.
const TIMES: usize = 8;

/// Bytes of a key, a name or a value.
const TEXT_BYTES: usize = 8 << 10;

/// Commands that would end the server or its connections, instead of growing.
const LEFT_OUT: [&str; 2] = ["shutdown", "client|kill"];

/// The arguments of one request.
struct Maker {
    words: Vec<Vec<u8>>,
    /// The number of the next text.
    next: usize,
    /// Whether there is what may be left out.
    is_full: bool,
}

impl Maker {
    fn add(&mut self, argument: &Argument) {
        if argument.optional && !self.is_full {
            return;
        }
        for time in 0..if argument.multiple { TIMES } else { 1 } {
            if let Some(token) = argument.token
                && (time == 0 || argument.multiple_token)
            {
                self.words.push(token.into());
            }
            match argument.kind {
                Kind::PureToken => {}
                Kind::OneOf => {
                    let chosen = self.next % argument.arguments.len();
                    self.add(&argument.arguments[chosen].clone());
                }
                Kind::Block => argument.arguments.iter().for_each(|one| self.add(one)),
                Kind::Integer | Kind::UnixTime if argument.name.starts_with("num") => {
                    self.words.push(TIMES.to_string().into());
                }
                Kind::Integer | Kind::UnixTime => self.words.push(b"1".into()),
                // For ever, if it is for how long to wait.
                Kind::Double => self.words.push(b"0".into()),
                _ => {
                    self.next += 1;
                    self.words.push(name(self.next, TEXT_BYTES));
                }
            }
        }
    }
}

/// A request of a command that is like no other of it.
fn make(spec: &Spec, number: usize) -> Vec<u8> {
    let words = spec.name.split('|').map(|word| word.as_bytes().to_vec()).collect();
    let mut maker = Maker { words, next: number * 100, is_full: number % 2 == 1 };
    spec.arguments().iter().for_each(|argument| maker.add(argument));
    request(&maker.words.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn every_command_leaves_memory_within_its_limit() {
    let mut rig = Rig::start(&["--maxmemory", "32mb"]);
    let mut floods = Vec::new();
    let mut walked = 0;
    for (number, command) in table::all().enumerate() {
        let spec = command.spec();
        if LEFT_OUT.contains(&spec.name) {
            continue;
        }
        for setup in [&b""[..], b"MULTI\r\n"] {
            let mut flood = Flood::new(rig.address, setup);
            let is_alike = setup.is_empty() && spec.arguments().is_empty();
            for n in 0..if is_alike { ALIKE } else { 200 } {
                flood.send(&make(spec, number * 1000 + n));
                // What is behind a request that waits is not read, nor is the end behind that.
                let waits = spec.flags.has(Flags::BLOCKING) && setup.is_empty();
                if waits || flood.sent > BYTES {
                    break;
                }
            }
            walked += flood.sent;
            floods.push(flood);
        }
        rig.expect_resident(2 * MAX, spec.name);
    }
    assert!(walked > 4 * MAX, "{walked} bytes were sent");
    rig.wait_for("used memory is within the limit", |rig| {
        rig.number("used_memory") < MAX + MAX / 10
    });
    drop(floods);
    rig.wait_for("what clients held is free", |rig| rig.number("used_memory_clients") == 0);
}
