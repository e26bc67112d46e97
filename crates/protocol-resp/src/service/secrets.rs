// SPDX-License-Identifier: Apache-2.0
//! What is not shown to those who look at other clients' commands: passwords.

use crate::parse::Args;
use crate::table::Spec;

/// What is shown in the place of a secret.
const REDACTED: &[u8] = b"(redacted)";

/// The arguments of a command as others may see them.
pub(crate) fn shown<'a>(
    spec: &Spec,
    args: Args<'a>,
) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a> {
    let secret = secret(spec, args);
    args.iter().enumerate().map(move |(i, arg)| if secret.contains(&i) { REDACTED } else { arg })
}

/// Where the secret arguments are, if there are any.
fn secret(spec: &Spec, args: Args<'_>) -> std::ops::Range<usize> {
    let is = |i: usize, word: &[u8]| args.get(i).is_some_and(|arg| arg.eq_ignore_ascii_case(word));
    match spec.name {
        "auth" => 1..args.len(),
        "hello" => {
            let auth = (2..args.len()).find(|&i| is(i, b"auth"));
            auth.map_or(0..0, |auth| auth + 1..auth + 3)
        }
        "config|set" => {
            let password = (2..args.len()).step_by(2).find(|&i| is(i, b"requirepass"));
            password.map_or(0..0, |name| name + 1..name + 2)
        }
        _ => 0..0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{self, Cursor, Framing};
    use crate::table;
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
        assert_eq!(seen("hello 3 auth default"), "hello 3 auth (redacted)");
        assert_eq!(
            seen("config set port 1 RequirePass secret"),
            "config set port 1 RequirePass (redacted)"
        );
        assert_eq!(seen("set auth secret"), "set auth secret");
    }
}
