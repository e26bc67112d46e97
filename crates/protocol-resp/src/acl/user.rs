// SPDX-License-Identifier: Apache-2.0
//! [`Rights`]: what a user may do, and by which passwords it logs in.

use super::databases::Selection;
use super::rule::Error;
use super::same::is_same;
use super::selector::{Denied, Selector};
use crate::table::{CommandId, keys::Words};
use sha2::{Digest, Sha256};

/// What a user may do. It is replaced as a whole when rules change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rights {
    is_on: bool,
    /// Any password is right.
    any_password: bool,
    skips_sanitizing: bool,
    /// SHA-256 of each password, as hexadecimal digits.
    passwords: Vec<Box<str>>,
    root: Selector,
    selectors: Vec<Selector>,
}

/// Which channels a new user may use (`acl-pubsub-default`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewUser {
    /// None.
    NoChannels,
    /// All.
    AllChannels,
}

impl Rights {
    /// Those of the user `default` of a new server: all, without a password.
    pub(crate) fn all() -> Self {
        Rights {
            is_on: true,
            any_password: true,
            skips_sanitizing: false,
            passwords: Vec::new(),
            root: Selector::all(),
            selectors: Vec::new(),
        }
    }

    /// Those of a new user: none.
    pub(crate) fn none(new: NewUser) -> Self {
        Rights {
            is_on: false,
            any_password: false,
            skips_sanitizing: false,
            passwords: Vec::new(),
            root: Selector::default().with_channels(new == NewUser::AllChannels),
            selectors: Vec::new(),
        }
    }

    /// Whether the user may do everything.
    pub(crate) fn is_all(&self) -> bool {
        self.root.is_all()
    }

    /// Whether clients are this user without logging in, if it is the user `default`.
    pub(crate) fn is_open(&self) -> bool {
        self.is_on && self.any_password
    }

    /// Whether a client that gives this password is the user. The time says nothing about the passwords.
    pub(crate) fn admit(&self, password: &[u8]) -> bool {
        let digest = hash(password);
        let known = self.passwords.iter();
        let matching = known.filter(|known| is_same(digest.as_bytes(), known.as_bytes())).count();
        self.is_on && (self.any_password || matching > 0)
    }

    /// Sets the only password, none if it is empty (`requirepass`).
    pub(crate) fn set_password(&mut self, password: &[u8]) {
        self.passwords.clear();
        self.any_password = password.is_empty();
        if !self.any_password {
            self.passwords.push(hash(password));
        }
    }

    /// Applies a rule; a selector in parentheses is one.
    pub(crate) fn apply(&mut self, rule: &[u8], new: NewUser) -> Result<(), Error> {
        match rule.to_ascii_lowercase().as_slice() {
            b"on" => self.is_on = true,
            b"off" => self.is_on = false,
            b"nopass" => {
                self.any_password = true;
                self.passwords.clear();
            }
            b"resetpass" => {
                self.any_password = false;
                self.passwords.clear();
            }
            b"sanitize-payload" => self.skips_sanitizing = false,
            b"skip-sanitize-payload" => self.skips_sanitizing = true,
            b"clearselectors" => self.selectors.clear(),
            b"reset" => *self = Rights::none(new),
            _ => return self.apply_sign(rule),
        }
        Ok(())
    }

    fn apply_sign(&mut self, rule: &[u8]) -> Result<(), Error> {
        match rule.split_first() {
            Some((b'>', password)) => self.add_password(hash(password)),
            Some((b'<', password)) => return self.remove_password(&hash(password)),
            Some((b'#', digits)) => self.add_password(checked_hash(digits)?.into()),
            Some((b'!', digits)) => return self.remove_password(checked_hash(digits)?),
            Some((b'(', rest)) => {
                let rules = rest.strip_suffix(b")").ok_or(Error::Syntax)?;
                self.selectors.push(Selector::read(rules)?);
            }
            _ => return self.root.apply(rule),
        }
        Ok(())
    }

    fn add_password(&mut self, hash: Box<str>) {
        if !self.passwords.contains(&hash) {
            self.passwords.push(hash);
        }
        self.any_password = false;
    }

    fn remove_password(&mut self, hash: &str) -> Result<(), Error> {
        let at = self.passwords.iter().position(|known| **known == *hash);
        self.passwords.remove(at.ok_or(Error::NoPassword)?);
        Ok(())
    }

    /// Whether the user may run a command. Of several reasons against it, the one that is told.
    pub(crate) fn check<W: Words + ?Sized>(
        &self,
        id: CommandId,
        args: &W,
        selection: Selection,
    ) -> Result<(), Denied> {
        let mut denied = None;
        for selector in self.selectors() {
            match selector.check(id, args, selection) {
                Ok(()) => return Ok(()),
                Err(reason) => denied = denied.max(Some(reason)),
            }
        }
        denied.map_or(Ok(()), Err)
    }

    /// Whether any of the sets of rights has a property.
    pub(crate) fn any(&self, has: impl Fn(&Selector) -> bool) -> bool {
        self.selectors().any(has)
    }

    fn selectors(&self) -> impl Iterator<Item = &Selector> {
        std::iter::once(&self.root).chain(&self.selectors)
    }

    /// The first set of rights, which every user has.
    pub(crate) fn root(&self) -> &Selector {
        &self.root
    }

    /// The others.
    pub(crate) fn more(&self) -> &[Selector] {
        &self.selectors
    }

    /// The hashes of the passwords.
    pub(crate) fn passwords(&self) -> &[Box<str>] {
        &self.passwords
    }

    /// Words for what is neither a password nor a right.
    pub(crate) fn flags(&self) -> Vec<&'static str> {
        let mut flags = vec![if self.is_on { "on" } else { "off" }];
        flags.extend(self.any_password.then_some("nopass"));
        flags.extend(self.skips_sanitizing.then_some("skip-sanitize-payload"));
        flags
    }

    /// The rules that make a new user this one, as in a file of users.
    pub(crate) fn describe(&self) -> Vec<u8> {
        let mut text = self.flags().join(" ").into_bytes();
        for hash in &self.passwords {
            text.extend_from_slice(b" #");
            text.extend_from_slice(hash.as_bytes());
        }
        text.push(b' ');
        text.extend(self.root.describe());
        for selector in &self.selectors {
            text.extend_from_slice(b" (");
            text.extend(selector.describe());
            text.push(b')');
        }
        text
    }
}

/// SHA-256 as hexadecimal digits.
fn hash(password: &[u8]) -> Box<str> {
    Sha256::digest(password).iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
}

/// The digits of a hash, if it is one.
fn checked_hash(digits: &[u8]) -> Result<&str, Error> {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_hash = digits.len() == 64 && digits.iter().all(is_digit);
    str::from_utf8(digits).ok().filter(|_| is_hash).ok_or(Error::Hash)
}

/// The rules in `words`, where a selector in parentheses may be several words.
///
/// # Errors
///
/// The rule, from its parenthesis on, that is not closed.
pub(crate) fn rules<'a>(words: impl Iterator<Item = &'a [u8]>) -> Result<Vec<Vec<u8>>, Vec<u8>> {
    let mut rules: Vec<Vec<u8>> = Vec::new();
    let mut is_open = false;
    for word in words {
        match rules.last_mut().filter(|_| is_open) {
            Some(last) => {
                last.push(b' ');
                last.extend_from_slice(word);
            }
            None => rules.push(word.to_vec()),
        }
        is_open = (is_open || word.starts_with(b"(")) && !word.ends_with(b")");
    }
    match rules.pop_if(|_| is_open) {
        Some(open) => Err(open),
        None => Ok(rules),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: NewUser = NewUser::NoChannels;

    fn changed(mut rights: Rights, line: &str) -> Result<Rights, Error> {
        let words = line.split(' ').map(str::as_bytes);
        for rule in rules(words).expect(line) {
            rights.apply(&rule, NEW)?;
        }
        Ok(rights)
    }

    fn of(line: &str) -> Rights {
        changed(Rights::none(NEW), line).expect(line)
    }

    fn shown(line: &str) -> String {
        String::from_utf8(of(line).describe()).unwrap()
    }

    fn check(rights: &Rights, line: &str) -> Result<(), Denied> {
        let words: Vec<&str> = line.split(' ').collect();
        let id =
            crate::table::resolve(words[0].as_bytes(), words.get(1).map(|word| word.as_bytes()));
        rights.check(id.expect(line), &words[..], Selection { db: 0, databases: 16 })
    }

    #[test]
    fn a_user_is_described_by_the_rules_that_make_it() {
        let none = "off resetchannels -@all";
        let hash = "30c952fab122c3f9759f02a6d95c3758b246b4fee239957b2d4fee46e26170c4";
        for (rules, expected) in [
            ("off", none.to_owned()),
            (
                "on >pw ~k:* &c* +@read -mget",
                format!("on #{hash} ~k:* resetchannels &c* -@all +@read -mget"),
            ),
            (
                "on nopass +@all %R~a %W~b %RW~c %WR~d",
                "on nopass %R~a %W~b ~c ~d resetchannels \
                +@all"
                    .to_owned(),
            ),
            ("%R~a %W~a allchannels", "off ~a &* -@all".to_owned()),
            (
                "~a (+set %W~w:* ) (+get %R~r:* resetchannels)",
                "off ~a resetchannels -@all \
                (%W~w:* resetchannels -@all +set) (%R~r:* resetchannels -@all +get)"
                    .to_owned(),
            ),
            (
                "db=3,1,3 (db=2)",
                "off resetchannels db=1,3 -@all (resetchannels db=2 \
                -@all)"
                    .to_owned(),
            ),
            ("on >pw ~a +get (+set) reset", none.to_owned()),
            ("(+get) clearselectors resetdbs", "off resetchannels resetdbs -@all".to_owned()),
        ] {
            assert_eq!(shown(rules), expected, "{rules}");
            assert_eq!(shown(&expected), expected, "read back");
        }
        assert_eq!(Rights::all().describe(), b"on nopass ~* &* +@all");
    }

    #[test]
    fn wrong_rules_are_refused() {
        let hash = "#30c952fab122c3f9759f02a6d95c3758b246b4fee239957b2d4fee46e26170c4";
        for (rules, expected) in [
            ("blah", Error::Syntax),
            ("", Error::Syntax),
            ("#abc", Error::Hash),
            ("!abc", Error::Hash),
            ("<nopw", Error::NoPassword),
            (&hash.replace("#30", "!31"), Error::NoPassword),
            (&hash.to_uppercase(), Error::Hash),
            ("~a* allkeys ~b*", Error::AllKeys),
            ("allkeys %R~b", Error::AllKeys),
            ("&* &b", Error::AllChannels),
            ("%Z~a", Error::Syntax),
            ("%~a", Error::Syntax),
            ("%RR~a", Error::Syntax),
            ("%Ra", Error::Syntax),
            ("(on)", Error::Syntax),
            ("((+get))", Error::Syntax),
            ("(+get))", Error::Unknown),
            ("db=", Error::Syntax),
            ("db=1,x", Error::Syntax),
            ("db=-1", Error::Database),
            ("~a\tb", Error::Syntax),
            ("&a\0b", Error::Syntax),
        ] {
            assert_eq!(changed(Rights::none(NEW), rules).err(), Some(expected), "{rules}");
        }
        let open = rules([&b"on"[..], b"(+get", b"~a"].into_iter());
        assert_eq!(open, Err(b"(+get ~a".to_vec()));
    }

    #[test]
    fn passwords_log_in() {
        let user = of("on >one >two");
        assert!(user.admit(b"one") && user.admit(b"two") && !user.admit(b"three"));
        assert!(!of("off >one").admit(b"one") && of("on nopass").admit(b"any"));
        assert!(!of("on >one <one").admit(b"one"), "no password is right then");
        assert!(!of("on nopass resetpass").admit(b""));
        assert!(!of("on >one nopass >two").admit(b"one"));
    }

    #[test]
    fn keys_are_read_and_written_by_pattern() {
        let user = of("on +@all ~k:* %R~r:* %W~w:*");
        for allowed in [
            "get k:1",
            "set k:1 v",
            "get r:1",
            "set w:1 v",
            "copy r:1 w:1",
            "exists w:1",
            "mset k:1 v w:2 v",
            "ping",
            "set k:1 v get",
            "type r:1",
        ] {
            assert_eq!(check(&user, allowed), Ok(()), "{allowed}");
        }
        for (denied, at) in [
            ("get x", 1),
            ("get w:1", 1),
            ("set r:1 v", 1),
            ("mset k:1 v x v", 3),
            ("copy k:1 r:1", 2),
            ("set w:1 v get", 1),
        ] {
            assert_eq!(check(&user, denied), Err(Denied::Key(at)), "{denied}");
        }
    }

    #[test]
    fn channels_are_allowed_by_pattern() {
        let user = of("on +@all &c*");
        assert_eq!(check(&user, "publish c1 m"), Ok(()));
        assert_eq!(check(&user, "publish d m"), Err(Denied::Channel(1)));
        assert_eq!(check(&user, "subscribe c1 c2 d"), Err(Denied::Channel(3)));
        assert_eq!(check(&user, "psubscribe c*"), Ok(()));
        assert_eq!(
            check(&user, "psubscribe c1*"),
            Err(Denied::Channel(1)),
            "only the pattern itself"
        );
        assert_eq!(check(&user, "unsubscribe d"), Ok(()));
    }

    #[test]
    fn databases_are_allowed_by_number() {
        let user = of("on +@all ~* db=0,3");
        for allowed in [
            "get k",
            "select 3",
            "copy a b db 3",
            "move a 3",
            "swapdb 0 3",
            "dbsize",
            "ping",
            "copy a b",
            "copy a b db 0 replace db 3",
            // What does not exist is refused by the command.
            "select 16",
            "copy a b db",
            "copy a b db x",
        ] {
            assert_eq!(check(&user, allowed), Ok(()), "{allowed}");
        }
        for (denied, at) in [
            ("select 5", 1),
            ("copy a b db 7", 4),
            ("copy a b db 3 db 7", 6),
            ("copy a b db 7 replace DB 3", 4),
            ("move a 7", 2),
            ("swapdb 3 7", 2),
            ("flushall", 0),
        ] {
            assert_eq!(check(&user, denied), Err(Denied::Database(at)), "{denied}");
        }
        let other = of("on +@all ~* db=2");
        for denied in ["get k", "dbsize", "flushdb", "copy a b db 2", "move a 2", "keys *"] {
            assert_eq!(check(&other, denied), Err(Denied::Database(0)), "{denied}");
        }
        assert_eq!(check(&other, "move a 7"), Err(Denied::Database(2)), "the one that is named");
        let all = of("on +@all ~* db=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15");
        assert_eq!(check(&all, "flushall"), Ok(()));
        assert_eq!(check(&other, "info"), Ok(()));
    }

    #[test]
    fn any_selector_is_enough() {
        let user = of("on +get ~a (+set %W~b) (+publish &c)");
        for allowed in ["get a", "set b v", "publish c m"] {
            assert_eq!(check(&user, allowed), Ok(()), "{allowed}");
        }
        assert_eq!(check(&user, "get b"), Err(Denied::Key(1)));
        assert_eq!(check(&user, "set a v"), Err(Denied::Key(1)));
        assert_eq!(check(&user, "publish d m"), Err(Denied::Channel(1)));
        assert_eq!(check(&user, "del a"), Err(Denied::Command));
        let user = of("on (db=0 +@all -@read ~w*) (db=2 +@all -@write ~r*)");
        assert_eq!(check(&user, "set w v"), Ok(()));
        assert_eq!(check(&user, "get w"), Err(Denied::Command), "of another database is no key");
        assert_eq!(check(&user, "select 2"), Ok(()));
        assert_eq!(check(&user, "select 4"), Err(Denied::Command));
    }
}
