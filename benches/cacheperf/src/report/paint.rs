// SPDX-License-Identifier: Apache-2.0
//! Colours for a terminal. They are added to a text that says the same without them, so a pipe has the text as it
//! is.

use std::env;
use std::io::IsTerminal;

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const END: &str = "\x1b[0m";

/// Words that tell of something that went wrong, and of something that went well.
const BAD: [&str; 7] = [
    "p999 above the bound",
    "less answered than offered",
    "errors",
    "no rate was found",
    "the machine alone exceeds the bound",
    "the generator may be the bottleneck",
    "did not run",
];
const GOOD: [&str; 2] = ["held", "highest rate"];

/// Whether colours are wanted where this goes: on a terminal that has some, unless `NO_COLOR` is set to anything
/// (<https://no-color.org>).
pub(crate) fn is_wanted(stream: &impl IsTerminal) -> bool {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = env::var_os("TERM").is_none_or(|term| term == "dumb");
    stream.is_terminal() && !is_set("NO_COLOR") && !is_dumb
}

/// The text with colours: names of lines are bold, what is in doubt is yellow, what went wrong red.
pub(crate) fn paint(text: &str) -> String {
    text.split_inclusive('\n').map(line).collect()
}

fn line(line: &str) -> String {
    let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
    if let Some(count) =
        body.strip_prefix("errors ").and_then(|rest| rest.split_whitespace().next())
    {
        let colour = if count == "0" { BOLD } else { RED };
        return format!("{colour}errors{END}{}{end}", &body["errors".len()..]);
    }
    if let Some(words) = BAD.iter().find(|words| body.contains(**words)) {
        return format!("{}{end}", body.replacen(words, &format!("{RED}{words}{END}"), 1));
    }
    if let Some(words) = GOOD.iter().find(|words| body.contains(**words)) {
        return format!(
            "{}{end}",
            doubts(body).replacen(words, &format!("{GREEN}{words}{END}"), 1)
        );
    }
    // A line with a name: that takes the first twelve columns, and a space.
    let is_named = body.len() > 13 && body.is_char_boundary(12) && body.as_bytes()[12] == b' ';
    let name = body.get(..12).map(str::trim_end).filter(|name| is_named && !name.is_empty());
    match name {
        Some(name) if !name.contains("  ") => {
            format!("{BOLD}{name}{END}{}{end}", doubts(&body[name.len()..]))
        }
        _ => format!("{}{end}", doubts(body)),
    }
}

/// Marks figures with a `?` behind them.
fn doubts(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('?') {
        // The number and its unit: `1.50 ms?`.
        let words = &rest[..at];
        let unit = words.rfind(' ').unwrap_or(0);
        let begin = words[..unit].rfind(' ').map_or(0, |space| space + 1);
        out.push_str(&words[..begin]);
        out.push_str(&format!("{YELLOW}{}?{END}", &words[begin..]));
        rest = &rest[at + 1..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(painted: &str) -> String {
        [BOLD, RED, GREEN, YELLOW, END]
            .iter()
            .fold(painted.to_owned(), |text, code| text.replace(code, ""))
    }

    #[test]
    fn names_doubts_and_errors_are_seen() {
        let text = "latency      p99 130 us  p999 1.50 ms?  max 3.70 ms\nerrors       1 (0 wrong values)\n";
        let painted = paint(text);
        assert!(painted.starts_with("\x1b[1mlatency\x1b[0m      p99 130 us"), "{painted:?}");
        assert!(painted.contains("p999 \x1b[33m1.50 ms?\x1b[0m  max"), "{painted:?}");
        assert!(painted.contains("\n\x1b[31merrors\x1b[0m       1 (0"), "{painted:?}");
        assert!(paint("errors       0 (0 wrong values)\n").starts_with("\x1b[1merrors\x1b[0m"));
        let step = "  1.0k/s offered  p999   1.50 ms  held\n";
        assert!(paint(step).ends_with("\x1b[32mheld\x1b[0m\n"));
    }

    #[test]
    fn a_painted_text_says_the_same() {
        for text in [
            "",
            "\n",
            "?",
            "a ? b\n? c ?\n",
            "errors \n",
            "  1.0k/s offered  p999 1.50 ms?  p999 above the bound\n",
            "µµµµµµµµµµµµ µµ?\n",
            "no newline at its end: 5 ms?",
        ] {
            assert_eq!(plain(&paint(text)), text);
        }
    }
}
