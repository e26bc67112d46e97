// SPDX-License-Identifier: Apache-2.0
//! Users and what they may do: [`Acl`].
//!
//! * `user.rs`: a user's passwords and rights. `selector.rs`: one set of rights. `commands.rs`: its commands;
//!   `databases.rs`: its databases.
//! * `file.rs`: users in files. `rule.rs`: why a rule is refused. `same.rs`: how secrets are compared.
//!
//! A connection holds the [`Account`] of its user, whose rights are replaced as a whole, so that new rules apply to
//! the next command of each connection. While every user may do everything nothing of this is looked at.

mod commands;
mod databases;
pub(crate) mod file;
mod rule;
mod same;
mod selector;
mod user;

use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub(crate) use self::databases::Selection;
pub(crate) use self::selector::{Denied, Selector};
pub(crate) use self::user::{NewUser, Rights, rules};

/// The user of connections that have not logged in.
pub(crate) const DEFAULT: &[u8] = b"default";

/// A user.
#[derive(Debug)]
pub(crate) struct Account {
    name: Box<[u8]>,
    rights: RwLock<Arc<Rights>>,
}

impl Account {
    fn new(name: &[u8], rights: Rights) -> Arc<Self> {
        Arc::new(Account { name: name.into(), rights: RwLock::new(Arc::new(rights)) })
    }

    /// Its name.
    pub(crate) fn name(&self) -> &[u8] {
        &self.name
    }

    /// It and its rules, as a line of a file.
    pub(crate) fn line(&self) -> Vec<u8> {
        [b"user ", self.name(), b" ", &self.rights().describe()].concat()
    }

    /// What it may do at present.
    pub(crate) fn rights(&self) -> Arc<Rights> {
        Arc::clone(&self.rights.read())
    }
}

/// Why users are not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The name has spaces or NULs.
    Name,
    /// A selector, from here on, has no end.
    Open(Vec<u8>),
    /// This rule is wrong.
    Rule(Vec<u8>, rule::Error),
}

impl Refused {
    /// What the client is told. A rule is shown as it came, up to a NUL.
    pub(crate) fn text(&self) -> Vec<u8> {
        fn shown(rule: &[u8]) -> &[u8] {
            rule.split(|&byte| byte == 0).next().unwrap_or_default()
        }
        match self {
            Refused::Name => b"ERR Usernames can't contain spaces or null characters".to_vec(),
            Refused::Open(rule) => {
                let start: &[u8] = b"ERR Unmatched parenthesis in acl selector starting at '";
                [start, shown(rule), b"'."].concat()
            }
            Refused::Rule(rule, why) => {
                let start: &[u8] = b"ERR Error in ACL SETUSER modifier '";
                [start, shown(rule), b"': ", why.to_string().as_bytes()].concat()
            }
        }
    }
}

/// The users of a server.
#[derive(Debug)]
pub(crate) struct Acl {
    default: Arc<Account>,
    /// All, by name.
    accounts: RwLock<BTreeMap<Box<[u8]>, Arc<Account>>>,
    /// Whether a user may not do everything.
    is_used: AtomicBool,
    /// Whether new users may use all channels.
    all_channels: AtomicBool,
}

impl Default for Acl {
    fn default() -> Self {
        let default = Account::new(DEFAULT, Rights::all());
        let accounts = BTreeMap::from([(DEFAULT.into(), Arc::clone(&default))]);
        Acl {
            default,
            accounts: RwLock::new(accounts),
            is_used: AtomicBool::new(false),
            all_channels: AtomicBool::new(false),
        }
    }
}

impl Acl {
    /// Whether there is a user that may not do everything.
    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.load(Relaxed)
    }

    /// Whether new users may use all channels (`acl-pubsub-default`).
    pub(crate) fn new_user(&self) -> NewUser {
        if self.all_channels.load(Relaxed) { NewUser::AllChannels } else { NewUser::NoChannels }
    }

    /// Sets it.
    pub(crate) fn set_new_user(&self, new: NewUser) {
        self.all_channels.store(new == NewUser::AllChannels, Relaxed);
    }

    /// The user of connections that have not logged in.
    pub(crate) fn default_account(&self) -> &Arc<Account> {
        &self.default
    }

    /// The user with this name.
    pub(crate) fn find(&self, name: &[u8]) -> Option<Arc<Account>> {
        self.accounts.read().get(name).cloned()
    }

    /// All users, by name.
    pub(crate) fn list(&self) -> Vec<Arc<Account>> {
        self.accounts.read().values().cloned().collect()
    }

    /// The user with this name and password.
    pub(crate) fn log_in(&self, name: &[u8], password: &[u8]) -> Option<Arc<Account>> {
        self.find(name).filter(|account| account.rights().admit(password))
    }

    /// Makes or changes a user by all of `rules`, or by none if one is refused.
    pub(crate) fn set_user(&self, name: &[u8], rules: &[Vec<u8>]) -> Result<Arc<Account>, Refused> {
        if !selector::is_one_word(name) {
            return Err(Refused::Name);
        }
        let mut accounts = self.accounts.write();
        let known = accounts.get(name).cloned();
        let mut rights = match &known {
            Some(account) => Rights::clone(&account.rights()),
            None => Rights::none(self.new_user()),
        };
        for rule in rules {
            let refused = |why| Refused::Rule(rule.clone(), why);
            rights.apply(rule, self.new_user()).map_err(refused)?;
        }
        let account = match known {
            Some(account) => {
                *account.rights.write() = Arc::new(rights);
                account
            }
            None => {
                let account = Account::new(name, rights);
                accounts.insert(name.into(), Arc::clone(&account));
                account
            }
        };
        self.note_use(&accounts);
        Ok(account)
    }

    /// Sets the only password of the user `default`, none if it is empty (`requirepass`).
    pub(crate) fn set_password(&self, password: &[u8]) {
        let mut rights = Rights::clone(&self.default.rights());
        rights.set_password(password);
        *self.default.rights.write() = Arc::new(rights);
    }

    /// Removes a user; returns it if there was one.
    pub(crate) fn remove(&self, name: &[u8]) -> Option<Arc<Account>> {
        let mut accounts = self.accounts.write();
        let gone = accounts.remove(name);
        self.note_use(&accounts);
        gone
    }

    /// Makes a user, or replaces what was known of it: its line in a configuration file.
    pub(crate) fn put(&self, (name, rights): file::Named) {
        let mut accounts = self.accounts.write();
        match accounts.get(&name) {
            Some(account) => *account.rights.write() = Arc::new(rights),
            None => _ = accounts.insert(name.clone(), Account::new(&name, rights)),
        }
        self.note_use(&accounts);
    }

    /// Makes these all users there are, and `default` one that may do everything if it is not among them; returns those
    /// that are gone.
    pub(crate) fn replace(&self, users: Vec<file::Named>) -> Vec<Arc<Account>> {
        let mut accounts = self.accounts.write();
        let mut before = std::mem::take(&mut *accounts);
        for (name, rights) in users {
            let account = match before.remove(&name) {
                Some(account) => {
                    *account.rights.write() = Arc::new(rights);
                    account
                }
                None => Account::new(&name, rights),
            };
            accounts.insert(name, account);
        }
        if before.remove(DEFAULT).is_some() {
            *self.default.rights.write() = Arc::new(Rights::all());
            accounts.insert(DEFAULT.into(), Arc::clone(&self.default));
        }
        self.note_use(&accounts);
        before.into_values().collect()
    }

    fn note_use(&self, accounts: &BTreeMap<Box<[u8]>, Arc<Account>>) {
        let is_used = accounts.values().any(|account| !account.rights().is_all());
        self.is_used.store(is_used, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(acl: &Acl, name: &str, line: &str) -> Result<Arc<Account>, Refused> {
        let rules = rules(line.split(' ').map(str::as_bytes)).map_err(Refused::Open)?;
        acl.set_user(name.as_bytes(), &rules)
    }

    #[test]
    fn a_user_changes_as_a_whole() {
        let acl = Acl::default();
        assert!(!acl.is_used());
        let alice = set(&acl, "alice", "on >pw +get ~a").unwrap();
        assert!(acl.is_used());
        let refused = set(&acl, "alice", "+set blah").expect_err("no rule");
        assert_eq!(refused.text(), b"ERR Error in ACL SETUSER modifier 'blah': Syntax error");
        let rule = b"bl\xffah\0x".to_vec();
        let refused = acl.set_user(b"alice", &[rule]).expect_err("no rule");
        assert_eq!(refused.text(), b"ERR Error in ACL SETUSER modifier 'bl\xffah': Syntax error");
        assert_eq!(alice.rights().root().commands(), "-@all +get", "nothing has changed");
        assert!(set(&acl, "bob", "+set blah").is_err() && acl.find(b"bob").is_none());
        assert_eq!(set(&acl, "a b", "on").err(), Some(Refused::Name));
        set(&acl, "alice", "+set").unwrap();
        assert_eq!(alice.rights().root().commands(), "-@all +get +set", "whoever holds it sees it");
        assert!(acl.log_in(b"alice", b"pw").is_some() && acl.log_in(b"alice", b"x").is_none());
        assert!(acl.remove(b"alice").is_some() && !acl.is_used());
        assert!(acl.log_in(b"alice", b"pw").is_none());
    }

    #[test]
    fn a_file_replaces_all_users() {
        let acl = Acl::default();
        set(&acl, "gone", "on").unwrap();
        let kept = set(&acl, "kept", "on").unwrap();
        set(&acl, "default", ">pw").unwrap();
        let mut rights = Rights::none(NewUser::NoChannels);
        rights.apply(b"+get", NewUser::NoChannels).unwrap();
        let gone = acl.replace(vec![(b"kept"[..].into(), rights)]);
        assert_eq!(gone.iter().map(|account| account.name()).collect::<Vec<_>>(), [b"gone"]);
        assert_eq!(kept.rights().root().commands(), "-@all +get");
        assert!(acl.default_account().rights().is_open(), "as of a new server");
    }
}
