// SPDX-License-Identifier: Apache-2.0
//! [`Rule`]: when two replies to the same command are the same, and [`Encodings`], where they may differ.
//!
//! Whatever the rule, errors are compared exactly: those of redis-server, word for word.

use crate::reference::{self, Reference};
use crate::reply::Reply;
use std::collections::BTreeSet;
use std::ops::Range;

/// How the replies to a command are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Exactly.
    Same,
    /// The order of the elements means nothing.
    Unordered,
    /// Names and values in any order, as a flat list or a map.
    Pairs,
    /// What has been a table of Lua: sets, maps and lists of them in any order.
    AsSet,
    /// Entries of ACL LOG, without times and clients.
    AclLog,
    /// Exactly, but for a score of -0: large sorted sets of redis-server keep its sign, small ones do not.
    Scores,
    /// A time in seconds, relative to a now that is not the same for both.
    Seconds,
    /// Such a time in milliseconds.
    Milliseconds,
    /// Of the same type; what is in it is the server's own.
    Type,
    /// Some random elements: as many. Alone, they are looked up.
    Random,
    /// Random elements that are removed: as many. Both servers lose both choices.
    Popped,
    /// An iteration: all that it returns, in any order.
    Scan,
    /// Exactly, unless the order is not defined: that of texts that compare equal, or of a set that is
    /// not sorted.
    Sort,
    /// Exactly, once those keys are gone that have expired: they count until then.
    Size,
    /// Exactly, but for what these say.
    Encoding(Encodings),
    /// The same sections.
    Info,
    /// Name, arity and key positions exactly, flags as a set.
    CommandInfo,
    /// The same properties; those of the server itself may differ.
    Hello,
    /// What MONITOR shows, without when and of whom.
    Monitor,
}

/// The clocks of both servers are read this many milliseconds after each other at most.
const LAG_MS: i64 = 20_000;

/// In unix seconds, between which times the ones lie that commands name. What they say relative to now is
/// far from there.
const NAMED: Range<i64> = 3_900_000_000..4_200_000_000;

/// Pairs of what redis-server 7.0 says to OBJECT ENCODING, and what `rds` may say there.
pub(crate) type Encodings = &'static [(&'static [u8], &'static [u8])];

/// Since 7.2 a small set of other than integers is packed, too.
const OF_SETS: Encodings = &[(b"hashtable", b"listpack")];

/// Since 7.2 a small list is a listpack by itself, not a quicklist of one.
const OF_LISTS: Encodings = &[(b"quicklist", b"listpack")];

/// SORT unpacks a sorted set in redis-server. Only those with such names are sorted.
const OF_UNPACKED: Encodings = &[(b"skiplist", b"listpack")];

/// All of them, for where the type of a key is not known yet.
const OF_ANY: Encodings =
    &[(b"hashtable", b"listpack"), (b"quicklist", b"listpack"), (b"skiplist", b"listpack")];

/// The most members of a packed set, and the longest.
const PACKED_SET_MAX: (usize, usize) = (128, 64);

impl Rule {
    /// The rule of this name in the table.
    pub(crate) fn named(name: &str) -> Option<Rule> {
        Some(match name {
            "same" => Rule::Same,
            "unordered" => Rule::Unordered,
            "pairs" => Rule::Pairs,
            "scores" => Rule::Scores,
            "acl-log" => Rule::AclLog,
            "seconds" => Rule::Seconds,
            "milliseconds" => Rule::Milliseconds,
            "type" => Rule::Type,
            "random" => Rule::Random,
            "popped" => Rule::Popped,
            "scan" => Rule::Scan,
            "size" => Rule::Size,
            "sort" => Rule::Sort,
            "encoding" => Rule::Encoding(OF_ANY),
            "info" => Rule::Info,
            "command-info" => Rule::CommandInfo,
            "hello" => Rule::Hello,
            "monitor" => Rule::Monitor,
            _ => return None,
        })
    }

    /// The rule for the encoding of the value under `key`, which is of this type.
    pub(crate) fn encoding(reference: Reference, of: &[u8], key: &[u8]) -> Rule {
        // ZADD of many members makes a skip list since 7.2, even if most of them are the same.
        let is_made_large = reference != Reference::Redis7;
        Rule::Encoding(match of {
            b"set" => OF_SETS,
            b"list" => OF_LISTS,
            b"zset" if is_made_large || key.starts_with(b"ranked") => OF_UNPACKED,
            _ => &[],
        })
    }

    /// The rule for the encoding of the value under `key`, which was shown by this reply, too.
    pub(crate) fn encoding_of_value(
        reference: Reference,
        of: &[u8],
        key: &[u8],
        value: &Reply,
    ) -> Rule {
        let members = value.leaves();
        let (most, longest) = PACKED_SET_MAX;
        let is_packed =
            members.len() <= most && members.iter().all(|member| member.len() <= longest);
        if of == b"set" && !is_packed {
            return Rule::Encoding(&[]);
        }
        Rule::encoding(reference, of, key)
    }

    /// Whether `ours` is as good a reply as the `oracle`'s to the command of these `arguments`.
    pub(crate) fn agree(self, arguments: &[Vec<u8>], oracle: &Reply, ours: &Reply) -> bool {
        self.agree_with(Reference::this(), arguments, oracle, ours)
    }

    /// The same, where this is the oracle.
    fn agree_with(
        self,
        reference: Reference,
        arguments: &[Vec<u8>],
        oracle: &Reply,
        ours: &Reply,
    ) -> bool {
        if oracle == ours {
            return true;
        }
        let (oracle, ours) = (&reference.plain(oracle), &reference.plain(ours));
        if oracle == ours || (reference != Reference::Redis7 && reference::is_close(oracle, ours)) {
            return true;
        }
        let sorts = |name: &&Vec<u8>| name.to_ascii_lowercase().starts_with(b"sort");
        if arguments.first().filter(sorts).is_some() && reference.reads_fewer_numbers(oracle) {
            return true;
        }
        if oracle.is_error() || ours.is_error() || is_null(oracle) || is_null(ours) {
            return false;
        }
        match self {
            Rule::Same | Rule::Size => false,
            Rule::Unordered => sorted(oracle) == sorted(ours),
            Rule::Pairs => sorted_pairs(oracle) == sorted_pairs(ours),
            Rule::AsSet => {
                let leaves = |reply: &Reply| {
                    let mut leaves = reply.leaves();
                    leaves.sort();
                    leaves
                };
                same_type(oracle, ours) && leaves(oracle) == leaves(ours)
            }
            Rule::AclLog => denied(oracle) == denied(ours),
            Rule::Scores => equal_scores(oracle, ours),
            Rule::Seconds => near(oracle, ours, 1),
            Rule::Milliseconds => near(oracle, ours, 1000),
            Rule::Type | Rule::Scan => same_type(oracle, ours),
            Rule::Random | Rule::Popped => as_many(oracle, ours),
            Rule::Sort => sorted_alike(arguments, oracle, ours),
            Rule::Encoding(differ) => match (oracle, ours) {
                (Reply::Bulk(a), Reply::Bulk(b)) => differ.contains(&(&**a, &**b)),
                _ => false,
            },
            Rule::Info => same_type(oracle, ours) && sections(oracle) == sections(ours),
            Rule::CommandInfo => same_commands(reference, oracle, ours),
            Rule::Hello => hello(reference, oracle) == hello(reference, ours),
            Rule::Monitor => monitored(oracle).is_some_and(|line| Some(line) == monitored(ours)),
        }
    }

    /// Whether all that came of one server is as good as what came of the other. A push may come before
    /// or after a reply, and what is unordered may be so across replies, as those to UNSUBSCRIBE without
    /// arguments.
    pub(crate) fn agree_on_all(self, oracle: &[Reply], ours: &[Reply]) -> bool {
        if oracle.len() != ours.len() {
            return false;
        }
        if self == Rule::Unordered {
            let leaves = |replies: &[Reply]| {
                let mut leaves: Vec<_> = replies.iter().flat_map(Reply::leaves).collect();
                leaves.sort();
                leaves
            };
            return leaves(oracle) == leaves(ours);
        }
        let pushes_last = |replies: &[Reply]| {
            let mut replies = replies.to_vec();
            replies.sort_by_key(|reply| matches!(reply, Reply::Push(_)));
            replies
        };
        let mut pairs = pushes_last(oracle).into_iter().zip(pushes_last(ours));
        pairs.all(|(oracle, ours)| self.agree(&[], &oracle, &ours))
    }
}

fn is_null(reply: &Reply) -> bool {
    matches!(reply, Reply::Null | Reply::NullBulk | Reply::NullArray)
}

fn same_type(a: &Reply, b: &Reply) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

/// With the elements in order; one level, as no unordered reply is deeper.
fn sorted(reply: &Reply) -> Reply {
    let mut reply = reply.clone();
    if let Reply::Array(elements) | Reply::Set(elements) = &mut reply {
        elements.sort();
    }
    reply
}

/// With the pairs in order: of a map, or of a list of names and values.
fn sorted_pairs(reply: &Reply) -> (bool, Vec<(Reply, Reply)>) {
    let mut pairs = match reply {
        Reply::Map(pairs) => pairs.clone(),
        _ => {
            let elements = reply.elements().unwrap_or_default();
            let value = |pair: &[Reply]| pair.get(1).cloned().unwrap_or(Reply::Null);
            elements.chunks(2).map(|pair| (pair[0].clone(), value(pair))).collect()
        }
    };
    pairs.sort();
    (matches!(reply, Reply::Map(_)), pairs)
}

/// The same in all, but for a zero of which the oracle shows the sign.
fn equal_scores(oracle: &Reply, ours: &Reply) -> bool {
    match (oracle, ours) {
        (Reply::Bulk(a), Reply::Bulk(b)) | (Reply::Double(a), Reply::Double(b)) => {
            a == b || (&**a == b"-0" && &**b == b"0")
        }
        (Reply::Array(a), Reply::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal_scores(a, b))
        }
        _ => oracle == ours,
    }
}

/// Two times that differ by `lag` at most; -1 and -2 are no times, and times that a client has named
/// (the years from 2090 to 2100, `per_second` to a second) differ by nothing.
fn near(a: &Reply, b: &Reply, per_second: i64) -> bool {
    let (&Reply::Integer(a), &Reply::Integer(b)) = (a, b) else { return false };
    let is_named = |time| (NAMED.start * per_second..NAMED.end * per_second).contains(&time);
    let lag = LAG_MS * per_second / 1000;
    a >= 0 && b >= 0 && a.abs_diff(b) <= lag as u64 && !is_named(a)
}

fn as_many(a: &Reply, b: &Reply) -> bool {
    let len = |reply: &Reply| reply.elements().map(<[Reply]>::len);
    same_type(a, b) && len(a) == len(b) && a.leaves().len() == b.leaves().len()
}

/// Whether two replies to SORT differ only where its order is not defined.
fn sorted_alike(arguments: &[Vec<u8>], oracle: &Reply, ours: &Reply) -> bool {
    let find =
        |word: &[u8]| arguments.iter().position(|argument| argument.eq_ignore_ascii_case(word));
    let by = find(b"BY").and_then(|at| arguments.get(at + 1));
    let is_sorted = by.is_none_or(|by| by.contains(&b'*'));
    // The comparison of texts ends at a NUL.
    let has_nul = oracle.leaves().iter().any(|leaf| leaf.contains(&0));
    let is_defined = is_sorted && (find(b"ALPHA").is_none() || (by.is_none() && !has_nul));
    if is_defined {
        return false;
    }
    // A part of them may be any of them, and what GET finds for those may be nothing.
    let is_part = find(b"LIMIT").is_some();
    let len = |reply: &Reply| reply.elements().map(<[Reply]>::len);
    sorted(oracle) == sorted(ours) || (is_part && len(oracle) == len(ours))
}

/// The headings of INFO that only some of the servers have.
const OWN_SECTIONS: &[&[u8]] =
    &[b"# TLS", b"# Threads", b"# Keysizes", b"# Cluster Info", b"# Scripting Engines"];

/// The headings of INFO that all servers have.
fn sections(reply: &Reply) -> Vec<Vec<u8>> {
    let text = reply.text().unwrap_or_default();
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let headings = lines.filter(|line| line.starts_with(b"#") && !OWN_SECTIONS.contains(line));
    headings.map(<[u8]>::to_vec).collect()
}

/// Whether both say the same of each command, of what clients rely on.
fn same_commands(reference: Reference, a: &Reply, b: &Reply) -> bool {
    let (a, b) = (a.elements().unwrap_or_default(), b.elements().unwrap_or_default());
    let same = |(a, b): (&Reply, &Reply)| a == b || same_command(reference, a, b).is_some();
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// Name, arity, flags, and the positions of keys.
fn same_command(reference: Reference, a: &Reply, b: &Reply) -> Option<()> {
    let (a, b) = (a.elements()?.get(..6)?, b.elements()?.get(..6)?);
    let flags = |fields: &[Reply]| {
        let mut flags: BTreeSet<_> = fields[2].leaves().into_iter().collect();
        // Scripts may run what waits since 7.2.
        if reference == Reference::Redis7 && flags.contains(&b"blocking"[..]) {
            flags.remove(&b"noscript"[..]);
        }
        flags
    };
    (a[..2] == b[..2] && flags(a) == flags(b) && a[3..] == b[3..]).then_some(())
}

/// How much of a name our ACL LOG shows.
const LOGGED_MAX: usize = 128;

/// What ACL LOG says was denied, of each entry.
fn denied(reply: &Reply) -> Option<Vec<Vec<Vec<u8>>>> {
    let said = |entry: &Reply| {
        let leaves = entry.leaves();
        let words = ["count", "reason", "context", "object", "username"];
        words
            .iter()
            .map(|word| {
                let at = leaves.iter().position(|leaf| leaf == word.as_bytes());
                let mut said = at.and_then(|at| leaves.get(at + 1)).cloned().unwrap_or_default();
                said.truncate(LOGGED_MAX);
                said
            })
            .collect()
    };
    Some(reply.elements()?.iter().map(said).collect())
}

/// The properties of HELLO, without what is the server's own.
fn hello(reference: Reference, reply: &Reply) -> Vec<Vec<u8>> {
    let mut leaves = reply.leaves();
    // Modules come last.
    leaves.truncate(leaves.iter().position(|leaf| leaf == b"modules").unwrap_or(leaves.len()));
    let own: &[&[u8]] = match reference {
        Reference::Valkey => &[b"server", b"version", b"id"],
        Reference::Redis7 | Reference::Redis8 => &[b"version", b"id"],
    };
    for own in own {
        if let Some(at) = leaves.iter().position(|leaf| leaf == own) {
            leaves.drain(at + 1..(at + 2).min(leaves.len()));
        }
    }
    leaves
}

/// The database and the command, of a line of MONITOR.
fn monitored(reply: &Reply) -> Option<(String, String)> {
    let line = String::from_utf8(reply.text()?).ok()?;
    let (_, rest) = line.split_once(" [")?;
    let (origin, command) = rest.split_once("] ")?;
    let (database, _) = origin.split_once(' ')?;
    Some((database.to_owned(), command.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Reply {
        Reply::Bulk(text.into())
    }

    fn array(texts: &[&str]) -> Reply {
        Reply::Array(texts.iter().copied().map(bulk).collect())
    }

    fn agree(rule: &str, oracle: &Reply, ours: &Reply) -> bool {
        let rule = Rule::named(rule).expect("the rule has a name");
        rule.agree_with(Reference::Redis7, &[], oracle, ours)
    }

    #[test]
    fn errors_and_nulls_are_exact_whatever_the_rule() {
        let error = |text: &str| Reply::Error(text.into());
        for rule in ["same", "type", "random", "unordered", "scores", "seconds", "sort", "info"] {
            assert!(agree(rule, &error("ERR a"), &error("ERR a")));
            assert!(!agree(rule, &error("ERR a"), &error("ERR b")), "{rule}");
            assert!(!agree(rule, &Reply::NullBulk, &Reply::Null), "{rule}");
            assert!(!agree(rule, &Reply::NullArray, &array(&[])), "{rule}");
        }
    }

    #[test]
    fn order_means_nothing_only_where_it_is_said() {
        let (a, b) = (array(&["x", "y"]), array(&["y", "x"]));
        assert!(agree("unordered", &a, &b) && !agree("same", &a, &b));
        assert!(!agree("unordered", &a, &array(&["x", "y", "y"])));
        let set = |reply: &Reply| Reply::Set(reply.elements().unwrap().to_vec());
        assert!(agree("unordered", &set(&a), &set(&b)) && !agree("unordered", &a, &set(&b)));

        let (a, b) = (array(&["f", "1", "g", "2"]), array(&["g", "2", "f", "1"]));
        assert!(agree("pairs", &a, &b) && !agree("pairs", &a, &array(&["f", "2", "g", "1"])));
        let map = Reply::Map(vec![(bulk("f"), bulk("1")), (bulk("g"), bulk("2"))]);
        assert!(!agree("pairs", &a, &map));
    }

    #[test]
    fn a_score_of_minus_zero_may_lose_its_sign() {
        assert!(agree("scores", &array(&["m", "-0"]), &array(&["m", "0"])));
        assert!(!agree("scores", &bulk("1.5"), &bulk("1.50")));
        let double = |text: &str| Reply::Double(text.into());
        assert!(agree("scores", &double("-0"), &double("0")));
        assert!(!agree("scores", &double("-0"), &bulk("0")));
    }

    #[test]
    fn times_are_near_and_never_are_when_there_is_none() {
        let time = Reply::Integer;
        assert!(agree("seconds", &time(1_000), &time(1_001)));
        assert!(!agree("seconds", &time(1_000), &time(1_100)));
        assert!(!agree("milliseconds", &time(1_000), &time(100_000)));
        assert!(!agree("seconds", &time(4_000_000_000), &time(4_000_000_001)));
        assert!(!agree("milliseconds", &time(4_000_000_000_500), &time(4_000_000_000_501)));
        assert!(!agree("seconds", &time(-1), &time(-2)) && !agree("seconds", &time(0), &time(-1)));
    }

    #[test]
    fn random_replies_have_as_many_elements() {
        assert!(agree("random", &bulk("a"), &bulk("b")));
        assert!(!agree("random", &array(&["a"]), &array(&["b", "c"])));
        assert!(!agree("random", &bulk("a"), &array(&["a"])));
    }

    #[test]
    fn encodings_differ_by_type() {
        let agree = |of: &[u8], key: &[u8], oracle, ours| {
            let rule = Rule::encoding(Reference::Redis7, of, key);
            rule.agree_with(Reference::Redis7, &[], &bulk(oracle), &bulk(ours))
        };
        assert!(agree(b"set", b"k", "hashtable", "listpack"));
        assert!(!agree(b"set", b"k", "listpack", "hashtable"));
        assert!(!agree(b"hash", b"k", "hashtable", "listpack"));
        assert!(agree(b"list", b"k", "quicklist", "listpack"));
        assert!(agree(b"zset", b"ranked0", "skiplist", "listpack"));
        assert!(!agree(b"zset", b"k", "skiplist", "listpack"));
        assert!(!agree(b"string", b"k", "embstr", "raw"));

        let of_set = |member: &str, times| {
            let value = Reply::Set(vec![bulk(member); times]);
            Rule::encoding_of_value(Reference::Redis7, b"set", b"k", &value)
        };
        assert_eq!(of_set("m", 128), Rule::Encoding(OF_SETS));
        assert_eq!(of_set("m", 129), Rule::Encoding(&[]));
        assert_eq!(of_set(&"m".repeat(65), 1), Rule::Encoding(&[]));
    }

    #[test]
    fn sort_is_exact_where_its_order_is_defined() {
        let (a, b) = (array(&["x", "y"]), array(&["y", "x"]));
        let agree = |command: &str| {
            let arguments: Vec<_> = command.split(' ').map(|word| word.into()).collect();
            Rule::Sort.agree_with(Reference::Redis7, &arguments, &a, &b)
        };
        assert!(!agree("SORT k") && !agree("SORT k ALPHA") && !agree("SORT k BY w*"));
        assert!(agree("SORT k BY nosort") && agree("SORT k ALPHA BY w*"));
    }

    #[test]
    fn monitor_shows_the_command_and_its_database() {
        let line = |text: &str| Reply::Simple(text.into());
        let shown = line("1700000000.123456 [0 127.0.0.1:5000] \"GET\" \"a\"");
        assert!(agree("monitor", &shown, &line("9.1 [0 unix:/s] \"GET\" \"a\"")));
        assert!(!agree("monitor", &shown, &line("9.1 [1 127.0.0.1:1] \"GET\" \"a\"")));
        assert!(!agree("monitor", &line("OK"), &line("KO")));
    }
}
