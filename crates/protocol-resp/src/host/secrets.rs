// SPDX-License-Identifier: Apache-2.0
//! Redacts passwords from commands that are shown to other clients.

use crate::table::{Secret, Spec};
use crate::wire::parse::Args;

/// Shown in place of a secret.
const REDACTED: &[u8] = b"(redacted)";

/// The arguments of a command as others may see them.
pub(crate) fn shown<'a>(
    spec: &Spec,
    args: Args<'a>,
) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
    let (kind, secret) = (spec.secret, secret(spec, args));
    let is_secret = move |i: usize| match kind {
        Secret::Values { names, from } => {
            let is_value = i > from && !(i - from).is_multiple_of(2);
            let is = |name: &&str| args.arg(i - 1).eq_ignore_ascii_case(name.as_bytes());
            is_value && names.iter().any(is)
        }
        _ => secret.contains(&i),
    };
    args.iter().enumerate().map(move |(i, arg)| if is_secret(i) { REDACTED } else { arg })
}

/// The positions of the secret arguments, if they follow each other.
fn secret(spec: &Spec, args: Args<'_>) -> std::ops::Range<usize> {
    let is = |i: usize, word: &[u8]| args.get(i).is_some_and(|arg| arg.eq_ignore_ascii_case(word));
    match spec.secret {
        Secret::None | Secret::Values { .. } => 0..0,
        Secret::From(first) => first..args.len(),
        Secret::Behind { option, from, count, others } => {
            let mut at = from;
            while at < args.len() && !is(at, option.as_bytes()) {
                let values = others.iter().find(|(other, _)| is(at, other.as_bytes()));
                at += 1 + values.map_or(0, |(_, values)| *values);
            }
            if at < args.len() { at + 1..at + 1 + count } else { 0..0 }
        }
        Secret::OfOptions { options, from, end } => {
            let (mut first, mut behind, mut at) = (usize::MAX, 0, from);
            while at < args.len() && !is(at, end.as_bytes()) {
                let values = options.iter().find(|(option, _)| is(at, option.as_bytes()));
                at += 1;
                if let Some((_, values)) = values {
                    first = first.min(at);
                    at += values;
                    behind = at;
                }
            }
            first.min(behind)..behind
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;
    use crate::wire::parse;
    use crate::wire::parse::{Cursor, Framing};
    use protocol::Parsed;

    fn seen(line: &str) -> String {
        let input = format!("{line}\n");
        let parsed = parse::parse(&Framing::default(), &mut Cursor::default(), input.as_bytes());
        let Ok(Parsed::Request { request, .. }) = parsed else { panic!("no request: {line}") };
        let mut spans = Vec::new();
        let args = request.args(&mut spans);
        let mut id = table::find(args.arg(0)).expect(line);
        if id.is_container() {
            id = table::find_sub(id, args.arg(1)).expect(line);
        }
        let words: Vec<_> = shown(id.spec(), args).map(String::from_utf8_lossy).collect();
        words.join(" ")
    }

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(seen("auth secret"), "auth (redacted)");
        assert_eq!(seen("AUTH default secret"), "AUTH (redacted) (redacted)");
        assert_eq!(
            seen("hello 3 setname me AUTH default secret"),
            "hello 3 setname me AUTH (redacted) (redacted)"
        );
        assert_eq!(
            seen("hello 3 setname auth AUTH default secret"),
            "hello 3 setname auth AUTH (redacted) (redacted)"
        );
        assert_eq!(seen("hello 3 auth default"), "hello 3 auth (redacted)");
        assert_eq!(
            seen("config set port 1 RequirePass secret"),
            "config set port 1 RequirePass (redacted)"
        );
        assert_eq!(
            seen("config set requirepass a maxmemory 0 masterauth b timeout masteruser"),
            "config set requirepass (redacted) maxmemory 0 masterauth (redacted) timeout masteruser"
        );
        assert_eq!(seen("config set requirepass"), "config set requirepass");
        assert_eq!(seen("acl setuser ann >pw"), "acl setuser (redacted) (redacted)");
        assert_eq!(seen("acl deluser ann"), "acl deluser (redacted)");
        assert_eq!(seen("set auth secret"), "set auth secret");
        for (line, shown) in [
            ("AUTH pw", "AUTH (redacted)"),
            ("copy auth2 me keys REPLACE", "copy auth2 (redacted) (redacted) REPLACE"),
            ("AUTH keys KEYS auth a", "AUTH (redacted) KEYS auth a"),
            ("AUTH2 me", "AUTH2 (redacted)"),
            (
                "AUTH a COPY AUTH2 u p",
                "AUTH (redacted) (redacted) (redacted) (redacted) (redacted)",
            ),
            ("KEYS auth a", "KEYS auth a"),
        ] {
            assert_eq!(
                seen(&format!("migrate h 1 k 0 9 {line}")),
                format!("migrate h 1 k 0 9 {shown}")
            );
        }
    }
}
