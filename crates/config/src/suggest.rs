// SPDX-License-Identifier: Apache-2.0
//! "Did you mean": the known name closest to a misspelt one.

use crate::source::quoted;

/// A longer name is not compared: it is no slip of the finger.
const NAME_CHARS: usize = 64;
/// The longest list of names shown.
const LISTED_NAMES: usize = 16;

/// The known name that `given` is most likely a misspelling of.
///
/// Names that differ only in case or in `-` and `_` are the same for this purpose. Otherwise one in
/// three characters may differ: a wrong, missing or extra one, or two neighbours swapped.
///
/// ```
/// assert_eq!(config::closest("maxmemry", &["maxmemory", "maxclients"]), Some("maxmemory"));
/// assert_eq!(config::closest("flavour", &["maxmemory"]), None);
/// ```
#[must_use]
pub fn closest<'n>(given: &str, known: &[&'n str]) -> Option<&'n str> {
    if given.chars().count() > NAME_CHARS {
        return None;
    }
    let given = fold(given);
    let allowed = (given.chars().count() / 3).max(1);
    known
        .iter()
        .map(|name| (strsim::osa_distance(&given, &fold(name)), *name))
        .filter(|(distance, name)| *distance <= allowed && *distance < name.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Ends a message with the closest known name, or else with all known names.
pub(crate) fn advice(given: &str, known: &[&str]) -> String {
    if let Some(name) = closest(given, known) {
        return format!("; did you mean \"{name}\"?");
    }
    if known.is_empty() {
        return String::new();
    }
    // Other spellings of a name would only take the place of names: that in small letters stands for all.
    let mut known = known.to_vec();
    known.sort_by_key(|name| name.contains(char::is_uppercase));
    let mut names: Vec<&str> = Vec::new();
    for name in known {
        if !names.iter().any(|listed| bare(listed) == bare(name)) {
            names.push(name);
        }
    }
    names.sort_unstable();
    let shown: Vec<String> =
        names.iter().take(LISTED_NAMES).map(|name| quoted(name, NAME_CHARS)).collect();
    let rest = if names.len() > LISTED_NAMES { ", …" } else { "" };
    format!("; known here: {}{rest}", shown.join(", "))
}

/// The letters and digits of a name.
fn bare(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

fn fold(name: &str) -> String {
    name.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_of_the_finger() {
        let known = ["port", "threads", "max_connections", "tcp_nodelay", "a"];
        for (given, expected) in [
            ("prot", Some("port")),
            ("ports", Some("port")),
            ("thread", Some("threads")),
            ("max-connections", Some("max_connections")),
            ("MaxConnections", Some("max_connections")),
            ("TCP_NODELAY", Some("tcp_nodelay")),
            ("b", None),
            ("memory", None),
            ("", None),
        ] {
            assert_eq!(closest(given, &known), expected, "{given}");
        }
    }

    #[test]
    fn very_long_names_are_not_compared() {
        assert_eq!(closest(&"p".repeat(1 << 20), &["port"]), None);
    }

    #[test]
    fn lists_the_known_names_when_none_is_close() {
        assert_eq!(advice("zzz", &["b", "a"]), "; known here: \"a\", \"b\"");
        assert_eq!(advice("zzz", &[]), "");
        assert_eq!(advice("zzz", &["B", "AC", "b", "a-c"]), "; known here: \"a-c\", \"b\"");
        let many: Vec<String> = (0..99).map(|n| format!("key{n:02}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(advice("zzz", &many).ends_with("\"key15\", …"));
    }
}
