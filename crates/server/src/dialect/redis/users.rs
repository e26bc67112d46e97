// SPDX-License-Identifier: Apache-2.0
//! Users of a `redis.conf` or an ACL file, which are accepted if they only set a password.

use super::conf::{Directive, Error};
use super::names::ParameterTable;
use super::parameters::Parameters;

/// The only user.
const DEFAULT: &str = "default";

/// What to do about other users.
const REMEDY: &str =
    "there is one user, default, with all rights: write requirepass in place of users";

/// Translates a directive about users into `requirepass`. Returns whether it is one.
///
/// # Errors
///
/// When there is a user that is more than a password, or its file cannot be read.
pub(super) fn take<T: ParameterTable>(
    parameters: &mut Parameters<T>,
    directive: &Directive,
) -> Result<bool, Error> {
    let refused = |problem: String| directive.refused(problem);
    let password = match directive.parameter.name {
        "user" => Some(password(&directive.value).map_err(refused)?),
        "aclfile" if !directive.value.is_empty() => {
            let text = config::read(&directive.value)?;
            password_in_file(&String::from_utf8_lossy(&text)).map_err(refused)?
        }
        _ => return Ok(false),
    };
    if let Some(password) = password {
        let parameter = T::find(b"requirepass").expect("a table with users has passwords");
        parameters.set(parameter, &password).map_err(refused)?;
    }
    Ok(true)
}

/// The password that `rules`, a user's name and its rules, set for the only user; empty for
/// none. The rules must give all rights, because the user has all rights here.
///
/// # Errors
///
/// When the rules set anything else.
fn password(rules: &str) -> Result<String, String> {
    let mut words = rules.split_ascii_whitespace();
    if words.next() != Some(DEFAULT) {
        return Err(REMEDY.to_owned());
    }
    // The rights of the user without any rules.
    let (mut is_on, mut keys, mut channels, mut commands) = (true, true, true, true);
    let mut password = String::new();
    for word in words {
        match word {
            "on" => is_on = true,
            "off" => is_on = false,
            "nopass" | "resetpass" => password.clear(),
            "~*" | "allkeys" => keys = true,
            "&*" | "allchannels" => channels = true,
            "+@all" | "allcommands" => commands = true,
            "resetkeys" => keys = false,
            "resetchannels" => channels = false,
            "-@all" | "nocommands" => commands = false,
            "reset" => {
                (is_on, keys, channels, commands) = (false, false, false, false);
                password.clear();
            }
            "sanitize-payload" | "skip-sanitize-payload" => {}
            word => match word.strip_prefix('>') {
                Some(given) if password.is_empty() => given.clone_into(&mut password),
                Some(_) => return Err("there is one password".to_owned()),
                None => return Err(REMEDY.to_owned()),
            },
        }
    }
    if is_on && keys && channels && commands { Ok(password) } else { Err(REMEDY.to_owned()) }
}

/// The same for the text of an ACL file; `None` when there is no user in it.
///
/// # Errors
///
/// As for [`password`].
fn password_in_file(text: &str) -> Result<Option<String>, String> {
    let mut found = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let rules = line.strip_prefix("user ").ok_or("a line of an ACL file begins with user")?;
        found = Some(password(rules)?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_user_with_all_rights_is_a_password() {
        for (rules, expected) in [
            ("default on nopass ~* &* +@all", ""),
            ("default", ""),
            ("default on >secret ~* &* +@all", "secret"),
            ("default reset on sanitize-payload >a allkeys allchannels allcommands", "a"),
        ] {
            assert_eq!(password(rules), Ok(expected.to_owned()), "{rules}");
        }
        let file = "user default on >x ~* &* +@all\n\n";
        assert_eq!(password_in_file(file), Ok(Some("x".to_owned())));
        assert_eq!(password_in_file("\n"), Ok(None));
    }

    #[test]
    fn all_else_is_refused() {
        for rules in [
            "alice on nopass ~* +@all",
            "default off",
            "default on >a >b",
            "default on nopass ~cache:* &* +@all",
            "default on nopass ~* &* +@all -flushall",
            "default on #0123 ~* &* +@all",
            "default reset on nopass ~* +@all",
        ] {
            assert!(password(rules).is_err(), "{rules}");
        }
        assert!(password_in_file("user alice on\n").is_err());
        assert!(password_in_file("requirepass x\n").is_err());
    }
}
