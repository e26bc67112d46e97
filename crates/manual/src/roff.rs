// SPDX-License-Identifier: Apache-2.0
//! Text in the language of man pages.

use clap_mangen::roff::{Inline, Roff, bold, roman};

/// An argument of a control line that has nothing in it.
pub(crate) const NONE: &str = "\"\"";

/// A page that was rendered in parts, with what each part begins with only at its top.
pub(crate) fn once(parts: &str) -> String {
    let begin = Roff::new().render();
    format!("{begin}{}", parts.replace(&begin, ""))
}

/// A line of Markdown: what stands in marks for code is bold.
pub(crate) fn line(markdown: &str) -> Vec<Inline> {
    let parts = markdown.split('`').enumerate().filter(|(_, part)| !part.is_empty());
    parts.map(|(number, part)| if number % 2 == 1 { bold(part) } else { roman(part) }).collect()
}

/// A term and what it means.
pub(crate) fn entry(page: &mut Roff, term: Vec<Inline>, paragraphs: &[String]) {
    page.control("TP", []).text(term);
    for (number, paragraph) in paragraphs.iter().enumerate() {
        if number > 0 {
            page.control("IP", []);
        }
        page.text(line(paragraph));
    }
}

/// The heading of a part.
pub(crate) fn heading(page: &mut Roff, title: &str) {
    page.control("SH", [title]);
}
