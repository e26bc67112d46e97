// SPDX-License-Identifier: Apache-2.0
//! Requests for any command of a table, made from what the table says of its arguments.

use super::words::word;
use fastrand::Rng;
use protocol_resp::table::CommandId;
use protocol_resp::table::syntax::{Argument, Kind};

/// Arguments of a request, and bytes after which it has no more of them: what half a request takes is
/// its client's, and there are several.
const ARGUMENTS_MAX: usize = 3_000;
const BYTES_MAX: usize = 1 << 20;

/// A request for a command: mostly what its syntax allows with values at their edges, sometimes not even
/// that.
pub fn request(command: CommandId, rng: &mut Rng) -> Vec<Vec<u8>> {
    let spec = command.spec();
    let mut words: Vec<Vec<u8>> =
        spec.name.split('|').map(|word| word.as_bytes().to_vec()).collect();
    let name_len = words.len();
    let sane = rng.u8(3..=10);
    let mut forge = Forge { rng, sane, words: &mut words, bytes: 0, count_at: None };
    forge.sequence(&spec.arguments());
    // Where the table says nothing of arguments, the number of them has to do.
    let full = usize::from(spec.arity.unsigned_abs());
    while words.len() < full && rng.u8(..8) > 0 {
        words.push(word(Kind::String, sane, rng));
    }
    if rng.u8(..6) == 0 {
        spoil(&mut words, name_len, rng);
    }
    words
}

/// Leaves out, repeats, exchanges or adds an argument.
fn spoil(words: &mut Vec<Vec<u8>>, name_len: usize, rng: &mut Rng) {
    if words.len() == name_len {
        words.push(word(Kind::String, 0, rng));
        return;
    }
    let at = rng.usize(name_len..words.len());
    match rng.u8(..4) {
        0 => drop(words.remove(at)),
        1 => words.insert(at, words[at].clone()),
        2 => {
            let other = rng.usize(name_len..words.len());
            words.swap(at, other);
        }
        _ => words.push(word(Kind::Integer, 0, rng)),
    }
}

struct Forge<'a> {
    rng: &'a mut Rng,
    /// How many of ten arguments make sense.
    sane: u8,
    words: &'a mut Vec<Vec<u8>>,
    /// Bytes of those that were made.
    bytes: usize,
    /// The word that says how many of the next arguments there are.
    count_at: Option<usize>,
}

impl Forge<'_> {
    fn sequence(&mut self, arguments: &[Argument]) {
        for argument in arguments {
            if !argument.optional || self.rng.bool() {
                self.argument(argument);
            }
        }
    }

    fn argument(&mut self, argument: &Argument) {
        let times = match self.rng.u16(..400) {
            _ if !argument.multiple => 1,
            0 => self.rng.usize(..ARGUMENTS_MAX),
            1..300 => self.rng.usize(1..4),
            _ => self.rng.usize(1..40),
        };
        let mut made = 0;
        for _ in 0..times {
            if self.words.len() > ARGUMENTS_MAX || self.bytes > BYTES_MAX {
                break;
            }
            if let Some(token) = argument.token
                && (made == 0 || argument.multiple_token)
            {
                self.token(token);
            }
            self.value(argument);
            made += 1;
        }
        if argument.multiple
            && let Some(at) = self.count_at.take()
            && self.rng.u8(..10) < self.sane
        {
            self.words[at] = made.to_string().into_bytes();
        }
    }

    fn token(&mut self, token: &str) {
        let token = match self.rng.u8(..10) {
            0 => token.to_lowercase(),
            1 if self.sane < 5 => format!("{token}X"),
            _ => token.to_owned(),
        };
        self.words.push(token.into_bytes());
    }

    fn value(&mut self, argument: &Argument) {
        match argument.kind {
            Kind::PureToken => {}
            Kind::OneOf => {
                let choice = self.rng.usize(..argument.arguments.len());
                self.argument(&argument.arguments[choice]);
            }
            Kind::Block => self.sequence(&argument.arguments),
            kind => {
                if matches!(argument.name.as_str(), "numkeys" | "numfields") {
                    self.count_at = Some(self.words.len());
                }
                let word = word(kind, self.sane, self.rng);
                self.bytes += word.len();
                self.words.push(word);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol_resp::table;
    use std::collections::HashSet;

    fn forged(name: &[u8], count: usize) -> Vec<String> {
        let command = table::find_full(name).unwrap();
        let mut rng = Rng::with_seed(1);
        let join = |words: Vec<Vec<u8>>| String::from_utf8_lossy(&words.join(&b' ')).into_owned();
        (0..count).map(|_| join(request(command, &mut rng))).collect()
    }

    #[test]
    fn every_command_gets_requests_that_its_arity_accepts_and_others() {
        let mut rng = Rng::with_seed(1);
        for command in table::all() {
            let spec = command.spec();
            let forged: Vec<_> = (0..200).map(|_| request(command, &mut rng)).collect();
            let words = spec.name.split('|').count();
            let name: Vec<_> = spec.name.split('|').map(|word| word.as_bytes().to_vec()).collect();
            assert!(forged.iter().all(|request| request[..words] == name), "{}", spec.name);
            let accepted = forged.iter().filter(|request| spec.accepts(request.len())).count();
            assert!(accepted > 50 && accepted < 200 || spec.arity < 0, "{}: {accepted}", spec.name);
        }
    }

    #[test]
    fn options_counts_and_extremes_come_up() {
        let set = forged(b"set", 3_000);
        for part in [" NX", " GET", " PXAT ", " 9223372036854775808", " -0", " KEEPTTL"] {
            assert!(set.iter().any(|request| request.contains(part)), "{part}");
        }
        let counted = forged(b"sintercard", 500);
        let right = counted.iter().filter(|request| {
            let mut words = request.split(' ').skip(1);
            let count = words.next().and_then(|word| word.parse::<usize>().ok());
            count == Some(words.take_while(|word| *word != "LIMIT").count())
        });
        assert!(right.count() > 100, "the number of keys is right for the most part");
        let different: HashSet<_> = forged(b"zadd", 500).into_iter().collect();
        assert!(different.len() > 400);
    }
}
