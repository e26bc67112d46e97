// SPDX-License-Identifier: Apache-2.0
//! [`Users`]: who may log in, and with which password.
//!
//! A comparison takes the same time whether the user exists or not, and however much of the password is right: what is
//! given is compared as a whole with each entry, whose encodings all have the same length.

mod file;

pub use file::UserFile;

use std::fmt;
use subtle::{Choice, ConstantTimeEq};

/// The longest user and password together with the `:` between them, in bytes. memcached cuts longer lines off, and
/// nobody can log in by them.
pub const ENTRY_MAX: usize = 255;

/// The most users. Each login is compared with all of them.
pub const USERS_MAX: usize = 1024;

/// The length of an entry as it is compared: two bytes for lengths and the text.
const ENCODED_LEN: usize = ENTRY_MAX + 2;

/// Users with their passwords.
///
/// ```
/// use protocol_memcache::Users;
///
/// let users = Users::parse(b"ada:sesame\nbob:p:q\n").expect("two users");
/// assert!(users.admit(b"ada", b"sesame") && users.admit(b"bob", b"p:q"));
/// assert!(!users.admit(b"ada", b"p:q") && !users.admit(b"eve", b"sesame"));
/// ```
pub struct Users(Vec<Entry>);

/// A user and a password: their lengths, their bytes, and zeros.
type Entry = [u8; ENCODED_LEN];

/// What is wrong with a file of users.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UsersError {
    /// No password is told from the user: write `user:password`.
    #[error("line {line}: there is no ':' between a user and a password")]
    NoColon {
        /// The number of the line.
        line: usize,
    },
    /// Shorten the password.
    #[error("line {line}: user and password are longer than {ENTRY_MAX} bytes")]
    TooLong {
        /// The number of the line.
        line: usize,
    },
    /// Remove some users.
    #[error("line {line}: there are more than {USERS_MAX} users")]
    TooMany {
        /// The number of the line.
        line: usize,
    },
    /// Nobody could log in: add a user, or leave the file out.
    #[error("there is no user")]
    Nobody,
}

impl Users {
    /// Reads lines of `user:password`. The first `:` ends the user; an empty line is an error, as in memcached.
    ///
    /// # Errors
    ///
    /// When a line is no user, or nobody could log in.
    pub fn parse(text: &[u8]) -> Result<Self, UsersError> {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        if text.is_empty() {
            return Err(UsersError::Nobody);
        }
        let mut entries = Vec::new();
        for (at, entry) in text.split(|&byte| byte == b'\n').enumerate() {
            let line = at.saturating_add(1);
            if entries.len() == USERS_MAX {
                return Err(UsersError::TooMany { line });
            }
            let entry = entry.strip_suffix(b"\r").unwrap_or(entry);
            let colon = memchr::memchr(b':', entry).ok_or(UsersError::NoColon { line })?;
            let (user, password) = (&entry[..colon], &entry[colon..][1..]);
            entries.push(encode(user, password).ok_or(UsersError::TooLong { line })?);
        }
        Ok(Users(entries))
    }

    /// Whether this user has this password. The time depends on the lengths given and on the number of users alone.
    #[must_use]
    pub fn admit(&self, user: &[u8], password: &[u8]) -> bool {
        let Some(given) = encode(user, password) else { return false };
        let found =
            self.0.iter().fold(Choice::from(0), |found, entry| found | entry[..].ct_eq(&given[..]));
        found.into()
    }
}

/// The form in which entries are compared; `None` if it is too long to be one.
fn encode(user: &[u8], password: &[u8]) -> Option<Entry> {
    let mut entry = [0; ENCODED_LEN];
    if user.len().saturating_add(password.len()) >= ENTRY_MAX {
        return None;
    }
    let (lengths, text) = entry.split_at_mut(2);
    lengths.copy_from_slice(&[user.len() as u8, password.len() as u8]);
    let (of_user, rest) = text.split_at_mut(user.len());
    of_user.copy_from_slice(user);
    rest[..password.len()].copy_from_slice(password);
    Some(entry)
}

/// Without names and passwords, which have no place in a log.
impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Users({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_user_and_a_password() {
        let file = b"user:password\r\n:only\nnobody:\nb:p:q\nc: d \n\xff:\xfe\na b:c\nuser:second";
        let users = Users::parse(file).unwrap();
        for (user, password) in [
            (&b"user"[..], &b"password"[..]),
            (b"", b"only"),
            (b"nobody", b""),
            (b"b", b"p:q"),
            (b"c", b" d "),
            (b"\xff", b"\xfe"),
            (b"a b", b"c"),
            (b"user", b"second"),
        ] {
            assert!(users.admit(user, password), "{} is admitted", user.escape_ascii());
        }
        for (user, password) in [
            (&b"user"[..], &b"password\r"[..]),
            (b"user", b"passwor"),
            (b"user", b"passwordx"),
            (b"user", b"password\0"),
            (b"userp", b"assword"),
            (b"b:p", b"q"),
            (b"", b""),
            (b"USER", b"password"),
            (b"c", b"d"),
        ] {
            assert!(!users.admit(user, password), "{} is refused", user.escape_ascii());
        }
    }

    #[test]
    fn what_is_no_user_is_refused_with_its_line() {
        let refused = |text: &[u8]| Users::parse(text).unwrap_err();
        assert_eq!(refused(b""), UsersError::Nobody);
        assert_eq!(refused(b"\n"), UsersError::Nobody);
        assert_eq!(refused(b"u:p\n\nv:q\n"), UsersError::NoColon { line: 2 });
        assert_eq!(refused(b"u:p\nvq\n"), UsersError::NoColon { line: 2 });
        assert_eq!(refused(b"u:p\n\n"), UsersError::NoColon { line: 2 });
        let all = b"u:p\n".repeat(USERS_MAX);
        assert!(Users::parse(&all).is_ok());
        let more = [&all[..], b"u:p"].concat();
        assert_eq!(refused(&more), UsersError::TooMany { line: USERS_MAX + 1 });
    }

    #[test]
    fn the_longest_entry_is_memcacheds() {
        let entry = |len: usize| [&b"u:"[..], &b"p".repeat(len - 2)].concat();
        let users = Users::parse(&entry(ENTRY_MAX)).unwrap();
        assert!(users.admit(b"u", &b"p".repeat(ENTRY_MAX - 2)));
        assert!(!users.admit(b"u", &b"p".repeat(ENTRY_MAX - 1)));
        assert!(!users.admit(&b"u".repeat(1 << 20), b"p"));
        let error = Users::parse(&entry(ENTRY_MAX + 1)).unwrap_err();
        assert_eq!(error, UsersError::TooLong { line: 1 });
        assert_eq!(error.to_string(), "line 1: user and password are longer than 255 bytes");
    }

    #[test]
    fn nothing_of_them_is_shown() {
        let users = Users::parse(b"ada:sesame").unwrap();
        assert_eq!(format!("{users:?}"), "Users(1)");
    }
}
