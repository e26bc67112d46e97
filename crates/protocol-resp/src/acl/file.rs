// SPDX-License-Identifier: Apache-2.0
//! Users as lines of text: in a file of users, and in a configuration file.

use super::selector::is_one_word;
use super::{NewUser, Rights, rules};

/// A user's name, and what it may do.
pub(crate) type Named = (Box<[u8]>, Rights);

/// The users in the text of a file.
///
/// # Errors
///
/// What is wrong, with the number of each line.
pub(crate) fn read(file: &str, text: &[u8], new: NewUser) -> Result<Vec<Named>, String> {
    let mut users: Vec<Named> = Vec::new();
    let mut problems = String::new();
    for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let is_known = |name: &[u8]| users.iter().any(|(known, _)| **known == *name);
        let user = match line.strip_prefix(b"user ") {
            Some(user) => self::user(user, new),
            None => Err("line should start with user keyword followed by the username".to_owned()),
        };
        match user {
            Ok((name, _)) if is_known(&name) => {
                let name = String::from_utf8_lossy(&name);
                problems
                    .push_str(&format!("{file}:{}: Duplicate user '{name}' found. ", number + 1));
            }
            Ok(user) => users.push(user),
            Err(problem) => problems.push_str(&format!("{file}:{}: {problem}. ", number + 1)),
        }
    }
    if problems.is_empty() { Ok(users) } else { Err(problems) }
}

/// The user that a name and rules describe. It begins without rights; the default user, too.
///
/// # Errors
///
/// What is wrong.
pub(crate) fn user(line: &[u8], new: NewUser) -> Result<Named, String> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let name = words.next().ok_or("there is no name of a user")?;
    if !is_one_word(name) {
        return Err("Usernames can't contain spaces or null characters".to_owned());
    }
    let rules = rules(words).map_err(|open| {
        format!("Unmatched parenthesis in selector definition: {}", String::from_utf8_lossy(&open))
    })?;
    let mut rights = Rights::none(new);
    for rule in rules {
        rights.apply(&rule, new).map_err(|why| why.to_string())?;
    }
    Ok((name.into(), rights))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_user_in_each_line() {
        let read = |text: &str| read("f", text.as_bytes(), NewUser::NoChannels);
        let users =
            read("user default on nopass ~* &* +@all\n\n user a on (+get ~b) >x\r\n").unwrap();
        assert_eq!(users.len(), 2);
        assert_eq!((&*users[0].0, users[0].1.is_all()), (&b"default"[..], true));
        assert!(users[1].1.admit(b"x"));
        for (wrong, problem) in [
            ("usr a on", "f:1: line should start with user keyword followed by the username. "),
            ("\nuser a blah", "f:2: Syntax error. "),
            ("user a on\nuser a on", "f:2: Duplicate user 'a' found. "),
            ("user a +foo\nuser b ~", "f:1: Unknown command or category name in ACL. "),
            ("user a (+get", "f:1: Unmatched parenthesis in selector definition: (+get. "),
        ] {
            assert_eq!(read(wrong).err().as_deref(), Some(problem), "{wrong}");
        }
    }
}
