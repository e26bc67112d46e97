// SPDX-License-Identifier: Apache-2.0
//! [`Reference`]: the server that `rds` is compared with, and what is compared less exactly with newer ones.

use crate::process;
use crate::reply::Reply;
use protocol_resp::reply::Digits;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// The versions that differ in what they say. The one whose words `rds` has is Redis 7.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reference {
    Redis7,
    Redis8,
    Valkey,
}

/// The server that `SHOEBILL_REDIS` names, or the redis-server of the system.
pub(crate) fn path() -> PathBuf {
    std::env::var_os("SHOEBILL_REDIS").map_or_else(|| process::REDIS.into(), PathBuf::from)
}

const REDIS7: &[Reference] = &[Reference::Redis7];
const REDIS8: &[Reference] = &[Reference::Redis8];
const VALKEY: &[Reference] = &[Reference::Valkey];
const NEWER: &[Reference] = &[Reference::Redis8, Reference::Valkey];

/// The servers that a flag is for, if it is for some alone.
fn servers(flag: &str) -> Option<&'static [Reference]> {
    match flag {
        "redis7" => Some(REDIS7),
        "redis8" => Some(REDIS8),
        "valkey" => Some(VALKEY),
        "redis" => Some(&[Reference::Redis7, Reference::Redis8]),
        "but-redis8" => Some(&[Reference::Redis7, Reference::Valkey]),
        "newer" => Some(NEWER),
        _ => None,
    }
}

const OTHER_WORDS: &str = "scripts measure and cut texts of errors, which are others there";

const BEFORE: &str = "a skip list finds something there, and a small set nothing";

/// Servers; kinds of words, and such words, that are not sent to these; and why.
const LEFT_OUT: &[(&[Reference], &str, &[u8], &str)] = &[
    (REDIS7, "rank", b"-9223372036854775808", "it is an error since 7.2"),
    (REDIS7, "removals", b"-9223372036854775808", "it is an error since 7.2"),
    (REDIS8, "bound", b"0x2", "it reads no hexadecimal numbers there"),
    (NEWER, "bound", b"( 1", "it takes no space there"),
    (VALKEY, "score", b"0x10", "it reads no hexadecimal numbers"),
    (VALKEY, "weight", b"0x10", "it reads no hexadecimal numbers"),
    (VALKEY, "bound", b"0x2", "it reads no hexadecimal numbers"),
    (VALKEY, "float", b"0x1p3", "it reads no hexadecimal numbers"),
    (NEWER, "skip", b"-1", BEFORE),
    (NEWER, "skip", b"-9223372036854775808", BEFORE),
    (VALKEY, "type", b"x", "SCAN of what is no type fails there"),
    (NEWER, "lifetime", b"9223372036854775807", "what is over then stays for a while"),
    (NEWER, "name", b"a\0", "it takes a NUL in a name"),
    (VALKEY, "raw", b"*1\r\n$4\r\nPINGxx", "it looks at the end of an argument"),
    (VALKEY, "call", b"redis.pcall('nosuch', T).err", OTHER_WORDS),
    (VALKEY, "call", b"redis.pcall('set', 'k').err", OTHER_WORDS),
    (VALKEY, "call", b"redis.pcall().err", OTHER_WORDS),
];

impl Reference {
    /// What the server at [`path`] is; Redis 7.0 if there is none.
    pub(crate) fn this() -> Self {
        static THIS: OnceLock<Reference> = OnceLock::new();
        *THIS.get_or_init(|| {
            let said = Command::new(path()).arg("--version").output();
            let said = said
                .map_or(String::new(), |said| String::from_utf8_lossy(&said.stdout).into_owned());
            if said.contains("Valkey") {
                Reference::Valkey
            } else if said.contains("v=8") {
                Reference::Redis8
            } else {
                Reference::Redis7
            }
        })
    }

    /// Whether a flag of a line, or of a story, says which servers it is for.
    pub(crate) fn is_flag(flag: &str) -> bool {
        servers(flag).is_some()
    }

    /// Whether a line of the table, or a story, with this flag is for this server. Other flags are for all.
    pub(crate) fn wants(self, flag: &str) -> bool {
        servers(flag).is_none_or(|servers| servers.contains(&self))
    }

    /// Whether a word of this kind is sent to this server.
    pub(crate) fn wants_word(self, kind: &str, word: &[u8]) -> bool {
        let is_left_out = |(servers, of, text, _): &(&[Reference], &str, &[u8], &str)| {
            (*of, *text) == (kind, word) && servers.contains(&self)
        };
        !LEFT_OUT.iter().any(is_left_out)
    }

    /// Whether it answers SORT that an element is no number. Newer servers read none with a space or a NUL in it.
    pub(crate) fn reads_fewer_numbers(self, reply: &Reply) -> bool {
        const NO_NUMBER: &[u8] = b"ERR One or more scores can't be converted into double";
        self != Reference::Redis7
            && matches!(reply, Reply::Error(text) if text.starts_with(NO_NUMBER))
    }

    /// A reply without what this server writes in another way: `docs/compatibility.md` has the reasons.
    pub(crate) fn plain(self, reply: &Reply) -> Reply {
        let all = |replies: &[Reply]| replies.iter().map(|reply| self.plain(reply)).collect();
        match reply {
            Reply::Double(text) if self == Reference::Redis7 => Reply::Double(as_since(text)),
            Reply::Double(text) => Reply::Double(number(text)),
            Reply::Bulk(text) => Reply::Bulk(self.plain_text(text)),
            Reply::Error(text) => Reply::Error(self.plain_error(text)),
            Reply::Array(elements) => Reply::Array(all(self.without_default(elements))),
            Reply::Set(elements) => Reply::Set(all(self.without_default(elements))),
            Reply::Push(elements) => Reply::Push(all(elements)),
            Reply::Map(pairs) => Reply::Map(
                pairs.iter().map(|(key, value)| (self.plain(key), self.plain(value))).collect(),
            ),
            other => other.clone(),
        }
    }

    /// Numbers with a fraction or an exponent are written otherwise since Redis 7.2. Redis 8 shows a flag of users that
    /// all have.
    fn plain_text(self, text: &[u8]) -> Vec<u8> {
        const DEFAULT: &[u8] = b" sanitize-payload";
        match self {
            Reference::Redis7 => as_since(text),
            Reference::Redis8 if text.starts_with(b"user ") => {
                let found = text.windows(DEFAULT.len()).position(|part| part == DEFAULT);
                let end = found.map_or(text.len(), |at| at + DEFAULT.len());
                [&text[..found.unwrap_or(text.len())], &text[end..]].concat()
            }
            // An encoding of strings, which Valkey chooses for longer ones than Redis.
            Reference::Valkey if text == b"embstr" => b"raw".to_vec(),
            Reference::Valkey => in_words_of_neither(&number(text)),
            Reference::Redis8 => number(text),
        }
    }

    fn without_default(self, elements: &[Reply]) -> &[Reply] {
        match elements {
            [rest @ .., Reply::Bulk(last)]
                if self == Reference::Redis8 && last == b"sanitize-payload" =>
            {
                rest
            }
            _ => elements,
        }
    }

    /// Texts that are those of newer versions, or of Redis alone, and names that are cut at a NUL.
    fn plain_error(self, text: &[u8]) -> Vec<u8> {
        const CUT: &[&str] =
            &["NOGROUP No such", "ERR Unbalanced ", "NOSCRIPT", "NOAUTH HELLO must"];
        const OF_USERS: &[&str] = &["NOPERM", "ERR ACL failure in script"];
        const NO_MEMBER: &[u8] = b"ERR could not decode requested zset member";
        // Redis 7.0 asks for a word more before it looks at the first.
        const TOO_FEW: &[u8] = b"ERR wrong number of arguments for 'command|getkeys' command";
        const NO_COMMAND: &[u8] = b"ERR Invalid command specified";
        let is_valkey = self == Reference::Valkey;
        let users = if self == Reference::Redis8 { &[][..] } else { OF_USERS };
        let cut = CUT.iter().chain(users).find(|start| text.starts_with(start.as_bytes()));
        match cut {
            Some(start) => start.as_bytes().to_vec(),
            None if self == Reference::Redis7 && text == TOO_FEW => NO_COMMAND.to_vec(),
            // It names the member.
            None if is_valkey && text.starts_with(b"ERR member ") => NO_MEMBER.to_vec(),
            None if is_valkey => in_words_of_neither(&without_digest(text)),
            None => text.to_vec(),
        }
    }
}

/// Whether replies differ in nothing but the last digits of numbers.
pub(crate) fn is_close(a: &Reply, b: &Reply) -> bool {
    let all = |a: &[Reply], b: &[Reply]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_close(a, b))
    };
    match (a, b) {
        (Reply::Bulk(a), Reply::Bulk(b)) | (Reply::Double(a), Reply::Double(b)) => {
            a == b || are_close_numbers(a, b)
        }
        (Reply::Array(a), Reply::Array(b))
        | (Reply::Set(a), Reply::Set(b))
        | (Reply::Push(a), Reply::Push(b)) => all(a, b),
        (Reply::Map(a), Reply::Map(b)) => {
            let close = |(a, b): (&(Reply, Reply), &(Reply, Reply))| {
                is_close(&a.0, &b.0) && is_close(&a.1, &b.1)
            };
            a.len() == b.len() && a.iter().zip(b).all(close)
        }
        _ => a == b,
    }
}

/// Whether these are numbers with a fraction, of which 15 digits are alike, or 17 behind the point.
fn are_close_numbers(a: &[u8], b: &[u8]) -> bool {
    let parse = |text: &[u8]| {
        let is_fraction = text.contains(&b'.');
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
        number.filter(|number| is_fraction && number.is_finite())
    };
    match (parse(a), parse(b)) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-17 + 1e-14 * a.abs().max(b.abs()),
        _ => false,
    }
}

/// A number with a fraction or an exponent as it is written since Redis 7.2. Not one with zeros behind the point, or with
/// more digits than a double: no score was ever written so.
fn as_since(text: &[u8]) -> Vec<u8> {
    let digits = text.iter().filter(|byte| byte.is_ascii_digit());
    let significant = digits.skip_while(|digit| **digit == b'0').count();
    let is_fraction = text.contains(&b'.') && !text.ends_with(b"0") && significant <= 17;
    let is_such = is_fraction || text.contains(&b'e');
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    match number.filter(|number| is_such && number.is_finite()) {
        Some(number) => Digits::new(number).as_bytes().to_vec(),
        None => text.to_vec(),
    }
}

/// A number as the shortest text that means it, to 15 digits.
fn number(text: &[u8]) -> Vec<u8> {
    let is_fraction = text.iter().any(|byte| b".e".contains(byte)) || text.len() > 17;
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    match number.filter(|number| is_fraction && number.is_finite()) {
        Some(number) => format!("{number:.14e}").into_bytes(),
        None => text.to_vec(),
    }
}

/// The texts of errors of scripts without the name of either server.
fn in_words_of_neither(text: &[u8]) -> Vec<u8> {
    const NAMES: &[(&str, &str)] = &[
        ("ERR Unknown Redis command", "ERR Unknown command"),
        ("calling Redis command from", "calling command from"),
        ("ERR This Redis command", "ERR This Valkey command"),
        ("for this redis lib call", "for this call"),
        ("ERR Lua redis lib command arguments", "ERR Command arguments"),
        ("redis.acl_check_cmd", "server.acl_check_cmd"),
        ("redis.setresp", "server.setresp"),
        ("redis.log", "server.log"),
        (
            "ERR MULTI calls can not be nested",
            "ERR Command 'multi' not allowed inside a transaction",
        ),
        (
            "ERR WATCH inside MULTI is not allowed",
            "ERR Command 'watch' not allowed inside a transaction",
        ),
    ];
    let mut text = as_unknown_command(text);
    for (redis, valkey) in NAMES {
        if let Some(at) = text.windows(redis.len()).position(|part| part == redis.as_bytes()) {
            text.splice(at..at + redis.len(), valkey.bytes());
        }
    }
    text
}

/// `ERR unknown subcommand 'X'. Try NAME HELP.` as Redis has it in scripts, where it is any unknown command.
fn as_unknown_command(text: &[u8]) -> Vec<u8> {
    const START: &[u8] = b"ERR unknown subcommand '";
    const END: &[u8] = b" HELP.";
    let find = |part: &[u8], from: usize| {
        let at = text.get(from..)?.windows(part.len()).position(|window| window == part)?;
        Some(from + at)
    };
    let found = find(START, 0).and_then(|at| Some((at, find(END, at)? + END.len())));
    match found {
        Some((at, end)) => {
            [&text[..at], b"ERR Unknown Redis command called from script", &text[end..]].concat()
        }
        None => text.to_vec(),
    }
}

/// `… script: DIGEST, on …` without the digest, as Valkey has it.
fn without_digest(text: &[u8]) -> Vec<u8> {
    const BEFORE: &[u8] = b" script: ";
    let found = text.windows(BEFORE.len()).position(|part| part == BEFORE);
    let Some(digest) = found.map(|at| at + BEFORE.len()) else { return text.to_vec() };
    match text.get(digest + 40..digest + 42) {
        Some(b", ") => [&text[..digest], &text[digest + 42..]].concat(),
        _ => text.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_what_they_mean() {
        let plain = |text: &str| Reference::Redis8.plain(&Reply::Double(text.into()));
        assert_eq!(plain("0.10000000000000001"), plain("0.1"));
        assert_eq!(plain("100000000000000000"), plain("1e+17"));
        assert_ne!(plain("100000000000000000"), plain("1.0001e+17"));
        assert_ne!(plain("1"), plain("1.5"));
        let exact = |text: &str| Reference::Redis7.plain(&Reply::Bulk(text.into()));
        assert_eq!(exact("0.10000000000000001"), exact("0.1"));
        assert_eq!(exact("1e+17"), exact("100000000000000000"));
        assert_eq!(exact("10997.93924970596"), exact("1.099793924970596e+4"));
        assert_ne!(exact("0.30000000000000004"), exact("0.3"));
        assert_ne!(exact("5000.29999999999999982"), exact("5000.3"));
    }

    #[test]
    fn numbers_are_close_to_15_digits() {
        let reply = |text: &str| Reply::Array(vec![Reply::Bulk(text.into())]);
        assert!(is_close(&reply("0.020783446146005247"), &reply("0.02078344614600525")));
        assert!(!is_close(&reply("0.0207834461461"), &reply("0.0207834461460")));
        assert!(!is_close(&reply("9007199254740993"), &reply("9007199254740992")));
        assert!(!is_close(&reply("1.5"), &reply("x")));
    }

    #[test]
    fn valkey_knows_an_unknown_subcommand_in_a_script() {
        let error = |text: &str| Reference::Valkey.plain(&Reply::Error(text.into()));
        let theirs = "ERR unknown subcommand 'GETT'. Try SCRIPT HELP. script: on @user_script:1.";
        let ours = "ERR Unknown Redis command called from script script: on @user_script:1.";
        assert_eq!(error(theirs), error(ours));
        assert_ne!(error("ERR unknown subcommand 'GETT'."), error(ours));
    }

    #[test]
    fn valkey_says_no_digest() {
        let digest = "beef354d82996a708aa0deac229a63225ff0dd9c";
        let error = |digest: &str| {
            Reply::Error(format!("ERR x script: {digest}on @user_script:1.").into_bytes())
        };
        let ours = error(&format!("{digest}, "));
        assert_eq!(Reference::Valkey.plain(&ours), error(""));
        assert_eq!(Reference::Redis8.plain(&ours), ours);
    }
}
